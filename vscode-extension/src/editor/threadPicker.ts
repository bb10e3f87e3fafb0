// Choosing the threads whose part of the numbers is shown. None chosen: all.
import * as vscode from 'vscode';
import { textBar } from '../core/bars';
import { formatShare } from '../core/format';
import { shortName } from '../core/functionNames';
import { isEmpty, type ThreadFilter } from '../core/threadFilter';
import type { Analyses } from './analyses';
import type { Session } from './session';

const barCharacters = 8;

interface ThreadItem extends vscode.QuickPickItem {
  readonly name?: string;
  readonly startFunction?: string;
}

export async function pickThreads(session: Session, analyses: Analyses): Promise<void> {
  if (session.recording === undefined) {
    throw new Error('Record a program, or open a recording: its threads are those to choose from.');
  }
  const { threads, totalNs, rowsLeft } = await analyses.threads();
  const share = (criticalNs: number): string => {
    const part = totalNs > 0 ? criticalNs / totalNs : 0;
    return `${textBar(part, barCharacters)} ${formatShare(part)}`.trim();
  };
  const groups = new Map<string, { count: number; criticalNs: number }>();
  for (const row of threads.filter((thread) => thread.function !== '')) {
    const group = groups.get(row.function) ?? { count: 0, criticalNs: 0 };
    groups.set(row.function, { count: group.count + 1, criticalNs: group.criticalNs + row.criticalNs });
  }
  const ofFunctions = [...groups]
    .filter(([, { count }]) => count > 1)
    .sort(([, a], [, b]) => b.criticalNs - a.criticalNs)
    .map(([name, { count, criticalNs }]): ThreadItem => ({
      label: `$(symbol-method) all that run ${shortName(name)}`,
      description: `${share(criticalNs)}  ${count} threads`,
      startFunction: name,
    }));
  const single = threads.map((row): ThreadItem => ({ label: row.name, description: share(row.criticalNs), name: row.name }));
  // What was chosen before and is not listed, for the list is long or another recording had it, is not lost by opening the list.
  const { filter } = session;
  const unlisted: ThreadItem[] = [
    ...(filter?.functions ?? []).filter((name) => !ofFunctions.some(({ startFunction }) => startFunction === name)).map((name) => ({
      label: `$(symbol-method) all that run ${shortName(name)}`,
      startFunction: name,
    })),
    ...(filter?.names ?? []).filter((name) => !threads.some((row) => row.name === name)).map((name) => ({ label: name, name })),
  ];
  const separator = (label: string): ThreadItem => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const items = [
    ...(ofFunctions.length > 0 ? [separator('by what they run'), ...ofFunctions] : []),
    separator(rowsLeft > 0n ? `the ${single.length} with most of the critical path` : 'one by one'),
    ...single,
    ...(unlisted.length > 0 ? [separator('chosen before'), ...unlisted] : []),
  ];

  const picker = vscode.window.createQuickPick<ThreadItem>();
  picker.title = 'Longpole: Show Only Some Threads';
  picker.placeholder = 'Whose part of the critical path is shown; none chosen: all threads';
  picker.canSelectMany = true;
  picker.matchOnDescription = true;
  picker.items = items;
  picker.selectedItems = items.filter(
    ({ name, startFunction }) =>
      (name !== undefined && filter?.names.includes(name) === true) ||
      (startFunction !== undefined && filter?.functions.includes(startFunction) === true),
  );
  const chosen = await new Promise<readonly ThreadItem[] | undefined>((resolve) => {
    picker.onDidAccept(() => {
      resolve(picker.selectedItems);
      picker.hide();
    });
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  });
  picker.dispose();
  if (chosen !== undefined) {
    const wanted: ThreadFilter = {
      names: chosen.flatMap(({ name }) => name ?? []),
      functions: chosen.flatMap(({ startFunction }) => startFunction ?? []),
    };
    await session.setFilter(isEmpty(wanted) ? undefined : wanted);
  }
}
