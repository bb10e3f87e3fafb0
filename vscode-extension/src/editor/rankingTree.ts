// What the side bar's rankings have in common: they are of the shown recording at the shown CPU count, and say so in their titles; of the
// machine that it is simulated on they know the paper's schedulers alone, and say that when there is more to it.
import * as vscode from 'vscode';
import { errorSentence, formatCpus } from '../core/format';
import { rankedScheduler, rankingRemark } from '../core/machineSettings';
import type { RowText } from '../core/rankings';
import type { Place } from '../protocol/longpole/v1/analyses';
import type { Session, ShownRecording } from './session';

/** A row that is no thing of the program: why there is nothing, or that there is more. */
export interface RemarkNode {
  readonly kind: 'remark';
  readonly text: string;
}

export abstract class RankingTree<Node> implements vscode.TreeDataProvider<Node | RemarkNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  private readonly view: vscode.TreeView<Node | RemarkNode>;
  private shown: { recording: ShownRecording | undefined; cpus: number; threads: string } | undefined;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    id: string,
    protected readonly session: Session,
  ) {
    this.view = vscode.window.createTreeView(id, { treeDataProvider: this });
    this.subscriptions = [session.onDidChange(() => this.sessionChanged()), this.view, this.changed];
  }

  dispose(): void {
    this.subscriptions.forEach((subscription) => void subscription.dispose());
  }

  async getChildren(node?: Node | RemarkNode): Promise<(Node | RemarkNode)[]> {
    const { recording } = this.session;
    if (recording === undefined || isRemark(node)) {
      return [];
    }
    try {
      return node === undefined ? await this.roots() : this.below(node);
    } catch (error) {
      return [{ kind: 'remark', text: errorSentence(error) }];
    }
  }

  getTreeItem(node: Node | RemarkNode): vscode.TreeItem {
    if (!isRemark(node)) {
      return this.item(node);
    }
    const item = new vscode.TreeItem('');
    item.description = node.text;
    item.tooltip = node.text;
    return item;
  }

  protected abstract roots(): Promise<(Node | RemarkNode)[]>;
  protected abstract below(node: Node): Node[];
  protected abstract item(node: Node): vscode.TreeItem;

  /** What its numbers are, in a word or two. */
  protected abstract readonly measure: string;

  /** What the list says while annotations show the part of some threads alone, which `threads` names. */
  protected filterRemark(threads: string): string {
    return threads === '' ? '' : 'Of all threads, whichever annotations show.';
  }

  /** What the recording itself does not tell, of what this list shows. */
  protected recordingRemark?(recording: ShownRecording): string;

  private sessionChanged(): void {
    const { recording, cpus, threadWords: threads } = this.session;
    if (this.shown?.recording !== recording || this.shown?.cpus !== cpus || this.shown?.threads !== threads) {
      this.shown = { recording, cpus, threads };
      const { machine } = this.session;
      const scheduler = rankedScheduler(machine) === 'ideal' ? ', ideal' : '';
      this.view.description = recording === undefined ? '' : `${this.measure} at ${formatCpus(cpus)}${scheduler}`;
      // Annotations follow the whole machine; numbers that differ from theirs must not look as if they did, too.
      const own = (recording && this.recordingRemark?.(recording)) ?? '';
      const remarks = [rankingRemark(machine), this.filterRemark(threads), own].filter((remark) => remark !== '');
      this.view.message = recording === undefined ? '' : remarks.join(' ');
      this.changed.fire();
    }
  }
}

function isRemark(node: unknown): node is RemarkNode {
  return (node as RemarkNode | undefined)?.kind === 'remark';
}

export function moreRows(left: bigint): RemarkNode[] {
  return left > 0n ? [{ kind: 'remark', text: `${left} more are not listed` }] : [];
}

export function treeItem(text: RowText, icon: string, place?: Pick<Place, 'file' | 'line'>): vscode.TreeItem {
  const item = new vscode.TreeItem(text.label);
  item.description = text.description;
  item.tooltip = text.tooltip.join('\n\n');
  item.iconPath = new vscode.ThemeIcon(icon);
  item.accessibilityInformation = { label: text.spoken };
  if (place !== undefined && place.file !== '' && place.line > 0) {
    item.command = { command: 'longpole.goToLine', title: 'Go to Line', arguments: [place.file, place.line] };
  }
  return item;
}
