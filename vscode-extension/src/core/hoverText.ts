// What a hover says about a function and a line: Markdown, without an editor.
import { basename } from 'node:path';
import { effectSentence, formatCount, formatCountOf, formatCpus, formatShare, formatTime, functionVerdict, isNothing, shareSentence, type Margin } from './format';
import { shortName } from './functionNames';
import type { LockWait } from './lockWaits';
import { escapeMarkdown } from './markdown';
import { gainWords } from './rankings';
import { functionShare, functionShareWithCallees, lineShare, type FunctionWeight, type LineWeight, type Weights } from './weights';

/** A hover that has to be scrolled is not read. */
const mostLocks = 2;

export interface HoverSubject {
  /** The line the pointer is on, when it has weight of its own. */
  readonly line: LineWeight | undefined;
  readonly weight: FunctionWeight | undefined;
  /** Where the line, or else the function, is by now; undefined: where it was recorded. */
  readonly lineNow?: number | undefined;
}

export interface HoverOptions {
  readonly cpus: number;
  /** The CPU counts of the table, ascending; `cpus` is one of them. */
  readonly columns: readonly number[];
  /** An image of how the shares go with the CPU count, as the address of a Markdown image; empty: none. */
  readonly chart: string;
  /** The address that leads to a function; empty: none. */
  readonly linkTo: (weight: FunctionWeight) => string;
  /** The address that shows the subject in the timeline; empty: none. */
  readonly timeline: string;
  /** The address that opens the what-if panel on it; empty: none. */
  readonly whatIf: string;
  /** What is taken on the line that the pointer is on, and what the function waits for. */
  readonly locks: { readonly ofLine: readonly LockWait[]; readonly ofFunction: readonly LockWait[] };
  /** The address that opens the what-if panel on a lock; empty: none. */
  readonly freed: (lock: string) => string;
  /** Whose part of the numbers is shown, in words; empty: that of all threads. */
  readonly threads: string;
  /** The scheduler that the numbers are of; empty: the usual one. */
  readonly scheduler: string;
}

/** The hover's text; undefined when there is nothing to say. */
export function hoverMarkdown(weights: Weights, subject: HoverSubject, options: HoverOptions): string | undefined {
  const { line, weight } = subject;
  const totalNs = weights.totalNs(options.cpus);
  if (totalNs === undefined || (line === undefined && weight === undefined)) {
    return undefined;
  }
  // Margins are those of all threads.
  const margin = (ns: number | undefined, samples: bigint): Margin | undefined => (weights.threads === undefined ? { ns: ns ?? 0, samples } : undefined);
  const parts: string[] = [];
  if (line !== undefined) {
    const name = weight?.name ?? line.functions.join(', ');
    const criticalNs = line.criticalNs.get(options.cpus) ?? 0;
    const moved = subject.lineNow === undefined || subject.lineNow === line.line ? '' : `, ${line.line} when it was recorded`;
    parts.push(
      heading(`Line ${subject.lineNow ?? line.line}`, `${name === '' ? '' : `in ${linked(shortName(name), weight, options)}`}${moved}`, options) +
        verdict(
          shareSentence(criticalNs, totalNs, options.cpus, margin(line.marginNs.get(options.cpus), line.samples)),
          effectSentence(totalNs > 0 ? criticalNs / totalNs : 0),
        ),
    );
  } else if (weight !== undefined) {
    const place = weight.file === '' ? '' : `${basename(weight.file)}:${subject.lineNow ?? weight.firstLine}`;
    const { criticalSelfNs = 0, criticalTotalNs = 0, marginNs = 0 } = weight.at.get(options.cpus) ?? {};
    const { share, effect } = functionVerdict({ criticalSelfNs, criticalTotalNs }, totalNs, options.cpus, margin(marginNs, weight.samples));
    parts.push(heading(linked(shortName(weight.name), weight, options), escapeMarkdown(place), options) + verdict(share, effect));
  }
  parts.push(...options.locks.ofLine.slice(0, mostLocks).map((lock) => lockSentence(lock, options)), table(weights, subject, options));
  const facts =
    weight !== undefined
      ? functionFacts(weight, line !== undefined, options)
      : quiet(`${formatTime(line?.selfNs ?? 0)} of CPU time`);
  parts.push(options.chart === '' ? facts : `${options.chart}  \n${facts}`);
  if (options.threads !== '') {
    parts.push(`*The part of ${escapeMarkdown(options.threads)} alone.*`);
  }
  return parts.join('\n\n');
}

/** What is said at a line that stands where these lines stood when it was recorded; undefined where they had no part in anything. */
export function editedMarkdown(weights: Weights, lines: readonly LineWeight[], cpus: number): string | undefined {
  const shares = lines.map((line) => ({ line: line.line, share: lineShare(weights, line, cpus) })).filter(({ share }) => !isNothing(share));
  const [first, last] = [shares[0], shares.at(-1)];
  if (first === undefined || last === undefined) {
    return undefined;
  }
  const what = first === last ? `line ${first.line}` : `lines ${first.line} to ${last.line}`;
  const share = shares.reduce((sum, one) => sum + one.share, 0);
  return `**Edited since it was recorded.** Before that, ${what} had ${formatShare(share)} of the critical path at ${formatCpus(cpus)}.`;
}

/** Both are Markdown. */
function heading(title: string, place: string, { timeline, whatIf }: HoverOptions): string {
  const leads = [timeline === '' ? '' : `[Show in timeline](${timeline})`, whatIf === '' ? '' : `[What if it were faster?](${whatIf})`];
  const lead = leads.filter((link) => link !== '').map((link) => `&nbsp;&nbsp;${link}`).join('');
  return `**${title}**${place === '' ? '' : `&nbsp;&nbsp;${quiet(place)}`}${lead}  \n`;
}

function linked(name: string, weight: FunctionWeight | undefined, options: HoverOptions): string {
  const address = weight === undefined ? '' : options.linkTo(weight);
  return address === '' ? escapeMarkdown(name) : `[${escapeMarkdown(name)}](${address})`;
}

function verdict(share: string, effect: string): string {
  return `${share}  \n**${effect}**`;
}

function table(weights: Weights, subject: HoverSubject, options: HoverOptions): string {
  const columns = options.columns.filter((count) => weights.has(count));
  const mark = (text: string, count: number): string => (count === options.cpus ? `**${hot(text)}**` : text);
  // An em space in each cell keeps columns apart: the editor's tables have none.
  const row = (title: string, cell: (count: number) => string): string =>
    `| ${quiet(title)} | ${columns.map((count) => `&emsp;${mark(cell(count), count)}`).join(' | ')} |`;
  const { line, weight } = subject;
  const rows = [row('CPUs', (count) => (count === options.cpus ? String(count) : quiet(String(count)))), `|:--|${columns.map(() => '--:').join('|')}|`];
  if (line !== undefined) {
    rows.push(row('this line', (count) => formatShare(lineShare(weights, line, count))));
  }
  if (weight !== undefined) {
    const title = line === undefined ? 'in itself' : escapeMarkdown(shortName(weight.name));
    rows.push(row(title, (count) => formatShare(functionShare(weights, weight, count))));
    if (line === undefined && columns.some((count) => !isNothing(functionShareWithCallees(weights, weight, count) - functionShare(weights, weight, count)))) {
      rows.push(row('with callees', (count) => formatShare(functionShareWithCallees(weights, weight, count))));
    }
  }
  rows.push(row(options.scheduler === '' ? 'program' : `program (${options.scheduler})`, (count) => formatTime(weights.totalNs(count) ?? 0)));
  return rows.join('\n');
}

/** What a line takes: how long it waits, and what that costs the program. */
function lockSentence({ name, waitNs, calls, gain }: LockWait, { freed }: HoverOptions): string {
  const address = freed(name);
  const title = address === '' ? escapeMarkdown(name) : `[${escapeMarkdown(name)}](${address})`;
  const times = formatCountOf(calls, 'call');
  if (waitNs <= 0) {
    return `Takes ${title} in ${times}, and never waits for it.`;
  }
  const saved = gain === undefined || isNothing(gain) ? '' : `; if nobody did, the program would take **${gainWords(gain)}**`;
  return `Waits ${formatTime(waitNs)} for ${title} in ${times}${saved}.`;
}

function functionFacts(weight: FunctionWeight, named: boolean, { cpus, locks }: HoverOptions): string {
  const facts: string[] = [];
  if (weight.calls !== undefined) {
    const calls = formatCountOf(weight.calls, 'call');
    const critical = weight.at.get(cpus)?.criticalCalls;
    facts.push(critical === undefined ? calls : `${calls}, ${formatCount(critical)} on the path`);
  }
  facts.push(`self ${formatTime(weight.selfNs)}`);
  facts.push(`with callees ${formatTime(weight.selfAndDescendantsNs)}`);
  const waits = locks.ofFunction.slice(0, mostLocks).map(({ name, waitNs }) => `waits ${formatTime(waitNs)} for ${escapeMarkdown(name)}`);
  const text = waits.length === 0 ? `${facts.join(' · ')} of CPU time` : [...facts, ...waits].join(' · ');
  return quiet(named ? `${escapeMarkdown(shortName(weight.name))}: ${text}` : text);
}

/** The only two kinds of HTML in a hover, and the editor allows no others that matter. */
function quiet(text: string): string {
  return `<span style="color:var(--vscode-descriptionForeground);">${text}</span>`;
}

function hot(text: string): string {
  return `<span style="color:var(--vscode-longpole-heat8);">${text}</span>`;
}
