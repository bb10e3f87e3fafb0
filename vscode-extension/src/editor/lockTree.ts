// The side bar's list of locks and all else that threads wait for, by what it would bring if nobody waited; below each, the lines
// that use it and the threads that get into each other's way.
import * as vscode from 'vscode';
import { collisionText, objectPlace, objectText, useText } from '../core/rankings';
import type { Collision, ObjectRow, ObjectUse } from '../protocol/longpole/v1/analyses';
import type { Analyses } from './analyses';
import { moreRows, RankingTree, treeItem, type RemarkNode } from './rankingTree';
import type { Session } from './session';

export type LockNode =
  /** `change`: what the what-if panel is given. */
  | { readonly kind: 'object'; readonly row: ObjectRow; readonly totalNs: number; readonly change: { readonly freed: string } }
  | { readonly kind: 'use'; readonly use: ObjectUse }
  | { readonly kind: 'collision'; readonly collision: Collision };

const icons: Readonly<Record<string, string>> = {
  mutex: 'lock',
  rwlock: 'book',
  semaphore: 'symbol-numeric',
  condition: 'bell',
  barrier: 'layout-centered',
  device: 'server',
  channel: 'arrow-swap',
};

export class LockTree extends RankingTree<LockNode> {
  protected override readonly measure = 'saved if nobody waits,';

  constructor(
    session: Session,
    private readonly analyses: Analyses,
  ) {
    super('longpole.locks', session);
  }

  protected override async roots(): Promise<(LockNode | RemarkNode)[]> {
    const { objects, totalNs, rowsLeft } = await this.analyses.objects();
    if (objects.length === 0) {
      return [{ kind: 'remark', text: 'Threads of this program wait for nothing.' }];
    }
    const rows = objects.map((row): LockNode => ({ kind: 'object', row, totalNs, change: { freed: row.name } }));
    return [...rows, ...moreRows(rowsLeft)];
  }

  protected override below(node: LockNode): LockNode[] {
    if (node.kind !== 'object') {
      return [];
    }
    const { uses, collisions } = node.row;
    return [
      ...uses.map((use): LockNode => ({ kind: 'use', use })),
      ...collisions.map((collision): LockNode => ({ kind: 'collision', collision })),
    ];
  }

  protected override item(node: LockNode): vscode.TreeItem {
    switch (node.kind) {
      case 'object': {
        const { row, totalNs } = node;
        const item = treeItem(objectText(row, totalNs, this.session.cpus), icons[row.kind] ?? 'lock', objectPlace(row));
        item.collapsibleState =
          row.uses.length + row.collisions.length > 0
            ? vscode.TreeItemCollapsibleState.Collapsed
            : vscode.TreeItemCollapsibleState.None;
        item.contextValue = 'changeable';
        return item;
      }
      case 'use':
        return treeItem(useText(node.use), 'symbol-method', node.use.place);
      case 'collision':
        return treeItem(collisionText(node.collision), 'git-merge');
    }
  }
}
