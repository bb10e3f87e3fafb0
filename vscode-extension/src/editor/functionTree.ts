// The side bar's list of functions, by what they hold back at the chosen CPU count; their lines below them.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { textBar } from '../core/bars';
import { formatCpus, formatShare, formatTime, functionVerdict } from '../core/format';
import { functionTitle } from '../core/functionNames';
import { machineSummary } from '../core/machineSettings';
import { countWords } from '../core/threadFilter';
import { functionShare, holderShare, lineShare, waiting, type FunctionWeight, type LineWeight } from '../core/weights';
import type { Session } from './session';
import type { ChangeWish } from './whatIfPanel';

export type FunctionNode =
  /** `change`: what the what-if panel is given. */
  | { readonly kind: 'function'; readonly weight: FunctionWeight; readonly change: ChangeWish }
  | { readonly kind: 'line'; readonly weight: FunctionWeight; readonly line: LineWeight; readonly change: ChangeWish }
  | { readonly kind: typeof waiting; readonly share: number };

/** Below it, a row says nothing. */
const leastShare = 0.001;
const barCharacters = 8;
const unnamedTooltip = 'CPU time of which no function is known: of a program without symbols, or of code that is made while it runs.';

export class FunctionTree implements vscode.TreeDataProvider<FunctionNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly session: Session,
    private readonly view: vscode.TreeView<FunctionNode>,
  ) {
    this.subscriptions = [session.onDidChange(() => this.sessionChanged()), this.changed];
  }

  dispose(): void {
    this.subscriptions.forEach((subscription) => void subscription.dispose());
  }

  private sessionChanged(): void {
    const { recording, cpus, machine, shownThreads } = this.session;
    const remarks = [machineSummary(machine), shownThreads === undefined ? '' : countWords(shownThreads)].filter((remark) => remark !== '');
    this.view.description = recording === undefined ? '' : [`critical path, self, at ${formatCpus(cpus)}`, ...remarks].join(', ');
    this.view.message = this.session.threadWords === '' ? '' : `The part of ${this.session.threadWords}.`;
    this.changed.fire();
  }

  getChildren(node?: FunctionNode): FunctionNode[] {
    const weights = this.session.recording?.weights;
    const { cpus } = this.session;
    if (weights === undefined || !weights.has(cpus)) {
      return [];
    }
    if (node === undefined) {
      return weights
        .heaviestFirst(cpus)
        .filter((holder) => Math.abs(holderShare(weights, holder, cpus)) >= leastShare)
        .map((holder) =>
          holder === waiting
            ? { kind: waiting, share: holderShare(weights, holder, cpus) }
            : { kind: 'function', weight: holder, change: { part: `function:${holder.name}`, label: holder.name } },
        );
    }
    if (node.kind !== 'function') {
      return [];
    }
    const { weight } = node;
    return [...weights.linesOf(weight.file).values()]
      .filter((line) => line.functions.includes(weight.name) && Math.abs(lineShare(weights, line, cpus)) >= leastShare)
      .sort((a, b) => lineShare(weights, b, cpus) - lineShare(weights, a, cpus))
      .map((line) => {
        const label = `${basename(weight.file)}:${line.line}`;
        return { kind: 'line', weight, line, change: { part: `line:${weight.file}:${line.line}`, label } };
      });
  }

  getTreeItem(node: FunctionNode): vscode.TreeItem {
    const weights = this.session.recording?.weights;
    const { cpus } = this.session;
    if (weights === undefined) {
      return new vscode.TreeItem('');
    }
    switch (node.kind) {
      case 'function': {
        const { weight } = node;
        const item = row(functionTitle(weight.name), functionShare(weights, weight, cpus), weight.file, weight.firstLine);
        item.collapsibleState =
          this.getChildren(node).length > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None;
        item.contextValue = weight.name === '' ? undefined : 'changeable';
        item.id = [weight.name, weight.file, weight.firstLine].join('\0');
        const { criticalSelfNs = 0, criticalTotalNs = 0, marginNs = 0 } = weight.at.get(cpus) ?? {};
        const { share, effect } = functionVerdict(
          { criticalSelfNs, criticalTotalNs },
          weights.totalNs(cpus) ?? 0,
          cpus,
          weights.threads === undefined ? { ns: marginNs, samples: weight.samples } : undefined,
        );
        item.tooltip = [
          `${weight.name === '' ? unnamedTooltip : weight.name}${weight.file === '' ? '' : `\n${basename(weight.file)}:${weight.firstLine}`}`,
          `${share}\n${effect}`,
          `self ${formatTime(weight.selfNs)} · with callees ${formatTime(weight.selfAndDescendantsNs)} of CPU time`,
        ].join('\n\n');
        return item;
      }
      case 'line': {
        const { weight, line } = node;
        const item = row(`${basename(weight.file)}:${line.line}`, lineShare(weights, line, cpus), weight.file, line.line);
        item.contextValue = 'changeable';
        return item;
      }
      case waiting: {
        const item = row(waiting, node.share, '', 0);
        item.tooltip =
          `Sleeps, input and output, and waits whose cause is not known, that the program waits for in the end at ${formatCpus(cpus)}. ` +
          'No faster code shortens them.';
        return item;
      }
    }
  }
}

function row(label: string, share: number, file: string, line: number): vscode.TreeItem {
  const item = new vscode.TreeItem(label);
  item.description = `${formatShare(share)} ${textBar(share, barCharacters)}`;
  item.accessibilityInformation = { label: `${label}, ${formatShare(share)} of the critical path` };
  if (file !== '' && line > 0) {
    item.command = { command: 'longpole.goToLine', title: 'Go to Line', arguments: [file, line] };
  }
  return item;
}
