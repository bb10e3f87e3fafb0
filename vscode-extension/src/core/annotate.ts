// What stands at the ends of a file's lines at one CPU count: the decisions, without an editor.
//
// Lines count from 1, as in recordings.
import { formatCountOf, formatCpus, formatEffect, formatShare } from './format';
import { heatStep } from './palette';
import { functionShare, functionShareWithCallees, lineShare, type Weights } from './weights';

export type InlineText = 'none' | 'percent' | 'percentAndEffect';

export interface AnnotationOptions {
  readonly inline: InlineText;
  /** In percent of the critical path. */
  readonly threshold: number;
  /** Strongest lines of a file that are annotated at all. More is a wall of numbers. */
  readonly maxLines: number;
}

export interface LineAnnotation {
  readonly line: number;
  /** Of the critical path; 0 for a remark that is no share. */
  readonly share: number;
  readonly step: number;
  /** Empty where only the bar is shown. */
  readonly text: string;
}

export interface FunctionHeat {
  readonly firstLine: number;
  readonly lastLine: number;
  readonly step: number;
}

/** A function that used at least this share of the CPU time is expected to matter; the file says so when it does not. */
const expectedToMatter = 0.05;

export function annotateLines(weights: Weights, file: string, cpus: number, options: AnnotationOptions): LineAnnotation[] {
  const threshold = options.threshold / 100;
  const some = weights.threads;
  const shares = [...weights.linesOf(file).values()]
    .map((line) => ({ line: line.line, share: lineShare(weights, line, cpus) }))
    .filter(({ share }) => Math.abs(share) >= threshold && formatShare(share) !== '0.0%')
    .sort((a, b) => Math.abs(b.share) - Math.abs(a.share) || a.line - b.line)
    .slice(0, options.maxLines);
  const annotations = shares.map(({ line, share }, rank): LineAnnotation => {
    let text = options.inline === 'none' ? '' : formatShare(share);
    // What the numbers mean is said once a file, where it matters most.
    if (options.inline === 'percentAndEffect' && rank === 0 && share > 0) {
      // Of some threads it says in place of that whose number it is.
      const meaning = some === undefined ? `10% faster → ${formatEffect(share)} overall` : `in ${formatCountOf(some.length, 'thread')} alone`;
      // Two spaces in a row are one, unless one of them does not break.
      text += `\u00a0 · ${meaning}`;
    }
    return { line, share, step: heatStep(share), text };
  });
  if (options.inline !== 'none') {
    const taken = new Set(annotations.map((annotation) => annotation.line));
    for (const line of idleFunctionLines(weights, file, cpus, threshold)) {
      if (!taken.has(line)) {
        taken.add(line);
        annotations.push({ line, share: 0, step: 0, text: `not on the critical path at ${formatCpus(cpus)}${some === undefined ? '' : ` in ${formatCountOf(some.length, 'thread')}`}` });
      }
    }
  }
  return annotations.sort((a, b) => a.line - b.line);
}

/** How hot each function of a file is, coolest first, so that what is drawn last is the hottest. */
export function functionHeat(weights: Weights, file: string, cpus: number, threshold: number): FunctionHeat[] {
  return weights
    .functionsOf(file)
    .map((weight) => ({ weight, share: functionShare(weights, weight, cpus) }))
    .filter(({ weight, share }) => weight.firstLine > 0 && Math.abs(share) >= threshold / 100)
    .sort((a, b) => Math.abs(a.share) - Math.abs(b.share))
    .map(({ weight, share }) => ({ firstLine: weight.firstLine, lastLine: weight.lastLine, step: heatStep(share) }));
}

/**
 * The line of the bracket that closes a function whose code ends at `lastLine`: it has code of its own only where something is left
 * to be done there. `textAt` gives a line's text, and undefined behind the last one; without such a bracket it is `lastLine`.
 */
export function closingLine(textAt: (line: number) => string | undefined, firstLine: number, lastLine: number): number {
  const indentation = (text: string): number => text.length - text.trimStart().length;
  const outermost = indentation(textAt(firstLine) ?? '');
  if (firstLine === lastLine) {
    return lastLine;
  }
  for (let line = lastLine; ; line++) {
    const text = textAt(line);
    const closes = text !== undefined && /^\s*\}/.test(text);
    if (text === undefined || (line > lastLine && !closes && text.trim() !== '')) {
      return lastLine;
    }
    if (closes && indentation(text) <= outermost) {
      return indentation(text) === outermost ? line : lastLine;
    }
  }
}

/** First lines of functions that used much CPU time and hold nothing back, nor does what they call. */
function idleFunctionLines(weights: Weights, file: string, cpus: number, threshold: number): number[] {
  let cpuTimeNs = 0;
  for (const weight of weights.allFunctions()) {
    cpuTimeNs += weight.selfNs;
  }
  const isIdle = (share: number): boolean => Math.abs(share) < Math.max(threshold, 0.001);
  return weights
    .functionsOf(file)
    .filter(
      (weight) =>
        weight.firstLine > 0 &&
        weight.selfNs >= expectedToMatter * cpuTimeNs &&
        isIdle(functionShare(weights, weight, cpus)) &&
        isIdle(functionShareWithCallees(weights, weight, cpus)),
    )
    .map((weight) => weight.firstLine);
}

