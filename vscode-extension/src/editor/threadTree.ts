// The side bar's list of threads, by their part of the critical path. A row leads to where the thread was created, or to its function;
// its button to its row of the timeline.
import * as vscode from 'vscode';
import { threadText } from '../core/rankings';
import type { ThreadRow } from '../protocol/longpole/v1/analyses';
import type { Analyses } from './analyses';
import { moreRows, RankingTree, treeItem, type RemarkNode } from './rankingTree';
import type { Session } from './session';

export interface ThreadNode {
  readonly kind: 'thread';
  readonly row: ThreadRow;
  readonly totalNs: number;
  readonly change: { readonly part: string; readonly label: string };
}

export class ThreadTree extends RankingTree<ThreadNode> {
  protected override readonly measure = 'critical path';

  constructor(
    session: Session,
    private readonly analyses: Analyses,
  ) {
    super('longpole.threads', session);
  }

  /** Opens the line that created the thread; of one that nobody created, or where that is not recorded, its function. */
  async goToOrigin({ row }: ThreadNode): Promise<void> {
    const item = await this.session.ask(undefined, (client, handle) =>
      client.getTimelineItem(handle, { cpus: 1, scheduler: 'ideal' }, row.thread, { timeNs: row.startNs }, 'here'),
    );
    const created = item.createdAt;
    if (created !== undefined && created.file !== '') {
      await vscode.commands.executeCommand('longpole.goToLine', created.file, created.line);
    } else {
      await this.goToFunction({ row });
    }
  }

  async goToFunction({ row }: Pick<ThreadNode, 'row'>): Promise<void> {
    const name = row.function === '' ? 'main' : row.function;
    for (const weight of this.session.recording?.weights.allFunctions() ?? []) {
      if (weight.name === name && weight.file !== '' && weight.firstLine > 0) {
        await vscode.commands.executeCommand('longpole.goToLine', weight.file, weight.firstLine);
        return;
      }
    }
    throw new Error(`Where ${row.name} begins was not recorded.`);
  }

  protected override async roots(): Promise<(ThreadNode | RemarkNode)[]> {
    const { threads, totalNs, rowsLeft } = await this.analyses.threads();
    const rows = threads.map(
      (row): ThreadNode => ({ kind: 'thread', row, totalNs, change: { part: `thread:${row.name}`, label: row.name } }),
    );
    return [...rows, ...moreRows(rowsLeft)];
  }

  /** Annotations show the part of this thread alone. */
  showOnly({ row }: Pick<ThreadNode, 'row'>): Promise<void> {
    return this.session.setFilter({ names: [row.name], functions: [] });
  }

  protected override filterRemark(threads: string): string {
    return threads === '' ? '' : `Annotations show the part of ${threads}.`;
  }

  protected override below(): ThreadNode[] {
    return [];
  }

  protected override item(node: ThreadNode): vscode.TreeItem {
    const { shownThreads } = this.session;
    const isShown = shownThreads?.places.includes(node.row.thread) === true;
    const text = threadText(node.row, node.totalNs, this.session.cpus);
    const item = treeItem(isShown ? { ...text, spoken: `${text.spoken}, shown` } : text, isShown ? 'eye' : 'list-flat');
    item.command = { command: 'longpole.goToThreadOrigin', title: 'Go to Where It Is Created', arguments: [node] };
    item.contextValue = 'thread changeable';
    return item;
  }
}
