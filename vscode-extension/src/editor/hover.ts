// Hovers on lines and functions that the recording knows.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { shareChart, type ChartColours } from '../core/chart';
import { isCalled, isCode } from '../core/codePlaces';
import { shortName } from '../core/functionNames';
import { editedMarkdown, hoverMarkdown, type HoverOptions, type HoverSubject } from '../core/hoverText';
import { otherScheduler } from '../core/machineSettings';
import { lockMarkdown, locksNamed, mayNameMember } from '../core/lockHover';
import { waitsOfFunction, waitsOfLine } from '../core/lockWaits';
import { escapeMarkdown } from '../core/markdown';
import type { GetObjectsResponse, Place } from '../protocol/longpole/v1/analyses';
import { functionShare, type FunctionWeight, type LineWeight, type Weights } from '../core/weights';
import type { Analyses } from './analyses';
import { commandLink } from './commandLink';
import type { Documents, DocumentState } from './documents';
import type { Session } from './session';

const locksPatienceMs = 500;
export class Hovers implements vscode.HoverProvider {
  constructor(
    private readonly session: Session,
    private readonly documents: Documents,
    private readonly analyses: Analyses,
  ) {}

  async provideHover(document: vscode.TextDocument, position: vscode.Position): Promise<vscode.Hover | undefined> {
    const weights = this.session.recording?.weights;
    const state = this.documents.stateOf(document);
    if (
      weights === undefined ||
      state?.kind !== 'followed' ||
      !vscode.workspace.getConfiguration('longpole').get('hover.enabled', true)
    ) {
      return undefined;
    }
    const recordedLine = state.lines.recordedLine(position.line);
    const number = recordedLine === undefined ? undefined : recordedLine + 1;
    const wordRange = document.getWordRangeAtPosition(position);
    const objects = this.objects();
    const ofLock = wordRange && (await this.lockHover(document, wordRange, state, objects));
    if (ofLock !== undefined) {
      return ofLock;
    }
    const named = wordRange && functionNamed(weights, state.file, document, wordRange, number);
    const around = number === undefined ? undefined : functionAround(weights, state.file, number);
    const line = number === undefined ? undefined : weights.linesOf(state.file).get(number);
    // On a function's name the function is meant, on a lock's the lock, anywhere else the line.
    const subject: HoverSubject =
      named !== undefined
        ? { weight: named, line: undefined, lineNow: named.file === state.file ? currentLine(state, named.firstLine) : undefined }
        : { weight: around, line: visibleLine(line), lineNow: line === undefined ? around && currentLine(state, around.firstLine) : position.line + 1 };
    if (number === undefined && named === undefined) {
      return this.editedHover(weights, state, position.line);
    }
    if (subject.weight === undefined && subject.line === undefined) {
      return undefined;
    }
    const locks = locksOf(await objects, state.file, named === undefined ? number : undefined, subject.weight);
    const text = hoverMarkdown(weights, subject, {
      locks,
      freed: (lock) => commandLink('longpole.whatIf', { freed: lock }),
      threads: this.session.threadWords,
      scheduler: otherScheduler(this.session.machine),
      cpus: this.session.cpus,
      columns: this.session.columns,
      linkTo: (weight) => (weight.file === '' || weight.firstLine === 0 ? '' : definitionLink(weight)),
      timeline: timelineLink(state.file, subject),
      whatIf: whatIfLink(state.file, subject),
      chart: subject.weight === undefined ? '' : this.chart(weights, subject.weight),
    });
    if (text === undefined) {
      return undefined;
    }
    const edited = state.lines.unchanged ? '' : '\n\n*This file has changed since it was recorded.*';
    const change = this.session.recording?.change ?? '';
    const changed = change === '' ? '' : `\n\n*As if: ${escapeMarkdown(change)}.* [Take back](command:longpole.takeBackWhatIf)`;
    const filtered = this.session.threadWords === '' ? '' : ' [Show all threads](command:longpole.showAllThreads)';
    const content = new vscode.MarkdownString(text + filtered + edited + changed);
    // For the colours of the table. What comes from the recording is escaped.
    content.supportHtml = true;
    content.isTrusted = { enabledCommands: ['longpole.goToLine', 'longpole.showLineInTimeline', 'longpole.whatIf', 'longpole.takeBackWhatIf', 'longpole.showAllThreads'] };
    return new vscode.Hover(content, wordRange);
  }

  /** On a line that was not there when it was recorded. */
  private editedHover(weights: Weights, state: DocumentState & { kind: 'followed' }, line: number): vscode.Hover | undefined {
    const known = weights.linesOf(state.file);
    const replaced = state.lines.replacedAt(line).flatMap((recorded) => known.get(recorded + 1) ?? []);
    const text = editedMarkdown(weights, replaced, this.session.cpus);
    if (text === undefined) {
      return undefined;
    }
    const content = new vscode.MarkdownString(`${text} [Record again](command:longpole.record)`);
    content.isTrusted = { enabledCommands: ['longpole.record'] };
    return new vscode.Hover(content);
  }

  /** The locks, known once the daemon has looked for them: a hover that comes before that does without. */
  private objects(): Promise<GetObjectsResponse | undefined> {
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, locksPatienceMs, undefined));
    return Promise.race([this.analyses.objects().catch(() => undefined), late]);
  }

  /** On a lock's name: where it is declared, and wherever else it is named. */
  private async lockHover(
    document: vscode.TextDocument,
    wordRange: vscode.Range,
    state: DocumentState & { kind: 'followed' },
    known: Promise<GetObjectsResponse | undefined>,
  ): Promise<vscode.Hover | undefined> {
    const objects = await known;
    if (objects === undefined) {
      return undefined;
    }
    const word = document.getText(wordRange);
    // A member has no name of its own in the recording: the locks are meant that lines take which name it.
    const isMember = mayNameMember(document.lineAt(wordRange.start.line).text, wordRange.start.character);
    const current = isMember ? state.lines.currentLines() : undefined;
    const mentions = ({ file, line }: Place): boolean => {
      const at = file === state.file ? current?.get(line - 1) : undefined;
      return at !== undefined && new RegExp(`\\b${word}\\b`).test(document.lineAt(at).text);
    };
    const text = lockMarkdown(locksNamed(objects, word, mentions), objects.totalNs, this.session.cpus, {
      freed: (lock) => commandLink('longpole.whatIf', { freed: lock }),
      linkTo: ({ file, line }) => commandLink('longpole.goToLine', file, line),
    });
    if (text === undefined) {
      return undefined;
    }
    const content = new vscode.MarkdownString(text);
    content.isTrusted = { enabledCommands: ['longpole.goToLine', 'longpole.whatIf'] };
    return new vscode.Hover(content, wordRange);
  }

  private chart(weights: Weights, weight: FunctionWeight): string {
    const { cpus } = this.session;
    const columns = this.session.columns.filter((count) => weights.has(count));
    const series = (shown: FunctionWeight): { name: string; shares: number[] } => ({
      name: shortName(shown.name),
      shares: columns.map((count) => functionShare(weights, shown, count)),
    });
    const image = shareChart(
      series(weight),
      rival(weights, weight, columns, series),
      columns.indexOf(cpus),
      columns.map(String),
      chartColours(),
    );
    return `![](data:image/svg+xml;base64,${Buffer.from(image).toString('base64')})`;
  }
}

function locksOf(
  objects: GetObjectsResponse | undefined,
  file: string,
  line: number | undefined,
  weight: FunctionWeight | undefined,
): HoverOptions['locks'] {
  return {
    ofLine: objects === undefined || line === undefined ? [] : waitsOfLine(objects, file, line),
    ofFunction: objects === undefined || weight === undefined ? [] : waitsOfFunction(objects, weight.file, weight.name),
  };
}

/** Of the other functions, the one that leads at some CPU count by most: what takes the lead where this one loses it. */
function rival(
  weights: Weights,
  weight: FunctionWeight,
  columns: readonly number[],
  series: (shown: FunctionWeight) => { name: string; shares: number[] },
): { name: string; shares: number[] } | undefined {
  let best: { name: string; shares: number[] } | undefined;
  for (const count of columns) {
    const other = weights.heaviestFunctions(count, 2).find((candidate) => candidate !== weight);
    const shown = other && series(other);
    if (shown !== undefined && Math.max(...shown.shares) > Math.max(0.01, ...(best?.shares ?? []))) {
      best = shown;
    }
  }
  return best;
}

/** The function that a word names: where it is defined, and where something of its name is called. */
function functionNamed(weights: Weights, file: string, document: vscode.TextDocument, wordRange: vscode.Range, line: number | undefined): FunctionWeight | undefined {
  const word = document.getText(wordRange);
  // Overloads and static functions share names: nearest first.
  const named = [...weights.allFunctions()].filter((weight) => shortName(weight.name) === word);
  const defined = named.find((weight) => weight.file === file && weight.firstLine === line);
  const behind = document.lineAt(wordRange.end.line).text.slice(wordRange.end.character);
  if (named.length === 0 || (defined === undefined && !isCalled(behind)) || !isCode(document.getText(), document.offsetAt(wordRange.start))) {
    return undefined;
  }
  return defined ?? named.find((weight) => weight.file === file) ?? (named.length === 1 ? named[0] : undefined);
}

/** Where a line of the recording is by now. */
function currentLine(state: DocumentState & { kind: 'followed' }, recorded: number): number | undefined {
  const at = state.lines.currentLines().get(recorded - 1);
  return at === undefined ? undefined : at + 1;
}

function functionAround(weights: Weights, file: string, line: number): FunctionWeight | undefined {
  const around = weights.functionsOf(file).filter((weight) => weight.firstLine <= line && line <= weight.lastLine);
  // A lambda stands inside a function: the shortest is the innermost.
  return around.sort((a, b) => a.lastLine - a.firstLine - (b.lastLine - b.firstLine))[0];
}

function visibleLine(line: LineWeight | undefined): LineWeight | undefined {
  return line !== undefined && (line.selfNs > 0 || [...line.criticalNs.values()].some((ns) => ns !== 0)) ? line : undefined;
}

function definitionLink(weight: FunctionWeight): string {
  return commandLink('longpole.goToLine', weight.file, weight.firstLine);
}

function timelineLink(file: string, { line, weight }: HoverSubject): string {
  const place = line !== undefined ? [file, line.line] : weight !== undefined ? [weight.file, weight.firstLine, weight.name] : [];
  return commandLink('longpole.showLineInTimeline', ...place);
}

function whatIfLink(file: string, { line, weight }: HoverSubject): string {
  const wish =
    line !== undefined
      ? { part: `line:${file}:${line.line}`, label: `${basename(file)}:${line.line}` }
      : { part: `function:${weight?.name ?? ''}`, label: weight?.name ?? '' };
  return commandLink('longpole.whatIf', wish);
}

/** An image knows no theme colours. */
function chartColours(): ChartColours {
  switch (vscode.window.activeColorTheme.kind) {
    case vscode.ColorThemeKind.Light:
      return { line: '#9a5b00', other: '#6b6b6b', mark: '#9a5b00' };
    case vscode.ColorThemeKind.HighContrastLight:
      return { line: '#6b3a00', other: '#292929', mark: '#6b3a00' };
    case vscode.ColorThemeKind.HighContrast:
      return { line: '#ffc14d', other: '#d4d4d4', mark: '#ffc14d' };
    case vscode.ColorThemeKind.Dark:
      return { line: '#ffb93c', other: '#9d9d9d', mark: '#ffb93c' };
  }
}
