// Procedures, locks and threads in one ranking by normalized processor time (Anderson and Lazowska, Quartz, 1990), to be opened from the
// whole program down: below each row, what it called, held or created, with what that took on its behalf.
import * as vscode from 'vscode';
import { callersRemark, quartzText } from '../core/rankings';
import type { GetQuartzResponse, QuartzChild, QuartzRow } from '../protocol/longpole/v1/quartz';
import type { Analyses } from './analyses';
import { moreRows, RankingTree, treeItem, type RemarkNode } from './rankingTree';
import type { Session, ShownRecording } from './session';

interface QuartzNode {
  readonly kind: 'row';
  readonly row: QuartzRow;
  /** Of the whole program's normalized time. */
  readonly share: number;
  readonly calls: bigint | undefined;
  /** The rows that lead here, for rows call each other. */
  readonly path: string;
  readonly answer: GetQuartzResponse;
  readonly change: { readonly part: string; readonly label: string };
}

const icons: Readonly<Record<string, string>> = { program: 'server-process', function: 'symbol-method', thread: 'list-flat' };

export class QuartzTree extends RankingTree<QuartzNode> {
  protected override readonly measure = 'normalized time, with callees,';

  constructor(
    session: Session,
    private readonly analyses: Analyses,
  ) {
    super('longpole.quartz', session);
  }

  protected override recordingRemark({ info }: ShownRecording): string {
    return callersRemark(info.source);
  }

  protected override async roots(): Promise<(QuartzNode | RemarkNode)[]> {
    const answer = await this.analyses.quartz();
    const rows = answer.rows.map((row, index) => node(answer, row, index, '', row.total?.normalizedNs ?? 0, row.calls));
    return [...rows, ...moreRows(answer.rowsLeft)];
  }

  protected override below({ row, answer, path }: QuartzNode): QuartzNode[] {
    return row.children.flatMap(({ row: index, normalizedNs, calls }: QuartzChild) => {
      const child = answer.rows[index];
      return child === undefined ? [] : [node(answer, child, index, path, normalizedNs, calls)];
    });
  }

  protected override item({ row, share, calls, path }: QuartzNode): vscode.TreeItem {
    const item = treeItem(quartzText(row, share, calls), icons[row.kind] ?? 'lock', row);
    item.id = path;
    item.collapsibleState =
      row.children.length === 0
        ? vscode.TreeItemCollapsibleState.None
        : row.kind === 'program'
          ? vscode.TreeItemCollapsibleState.Expanded
          : vscode.TreeItemCollapsibleState.Collapsed;
    item.contextValue = row.kind === 'function' || row.kind === 'thread' ? 'changeable' : '';
    return item;
  }
}

function node(
  answer: GetQuartzResponse,
  row: QuartzRow,
  index: number,
  above: string,
  normalizedNs: number,
  calls: bigint | undefined,
): QuartzNode {
  const whole = answer.rows[0]?.total?.normalizedNs ?? 0;
  const change = { part: row.kind === 'thread' ? `thread:${row.name}` : `function:${row.name}`, label: row.name };
  return { kind: 'row', row, share: whole > 0 ? normalizedNs / whole : 0, calls, path: `${above}/${index}`, answer, change };
}
