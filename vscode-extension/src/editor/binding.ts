// Searches, by every algorithm of the daemon, for the binding of threads to CPUs that makes the program fast on the chosen
// number of them, and hands the fastest to the simulator, so that annotations, views and the timeline show the program as bound.
import * as vscode from 'vscode';
import { changeText } from '../core/comparison';
import { formatCount, formatCpus, formatTime } from '../core/format';
import { withBinding } from '../core/machineSettings';
import type { AllocateResult, Spread, ThreadOnCpu } from '../protocol/longpole/v1/allocation';
import type { Session } from './session';

/** A machine has no more. */
const mostCpus = 1024;
const efforts: readonly (readonly [label: string, tests: number])[] = [
  ['quick', 100],
  ['usual', 500],
  ['thorough', 5000],
];

interface Found {
  readonly assignment: readonly ThreadOnCpu[];
  readonly totalNs: number;
  /** Of all algorithms. */
  readonly tests: bigint;
  /** undefined: the search was ended before it was through. */
  readonly result: AllocateResult | undefined;
}

export async function findBinding(session: Session): Promise<void> {
  if (session.recording === undefined) {
    throw new Error('Record a program, or open a recording: bindings of its threads can be searched then.');
  }
  const cpus = Math.min(session.cpus, mostCpus);
  const items = efforts.map(([label, tests]) => ({ label, description: `each search tries ${formatCount(tests)} bindings`, tests }));
  const effort = await vscode.window.showQuickPick(items, {
    title: `Longpole: Find a Binding for ${formatCpus(cpus)}`,
    placeHolder: 'Each is simulated; Cancel keeps the best that was found so far',
  });
  if (effort === undefined) {
    return;
  }
  const found = await search(session, cpus, effort.tests);
  if (found === undefined) {
    void vscode.window.showInformationMessage('Longpole: the search was ended before any binding was tried.');
    return;
  }
  const [simulate, code] = ['Simulate So', 'Show Code'];
  const offered = found.result === undefined ? [simulate] : [simulate, code];
  const answer = await vscode.window.showInformationMessage(verdict(found, cpus), ...offered);
  if (answer === simulate) {
    await session.setMachine(withBinding(session.machine, found.assignment));
  } else if (answer === code && found.result !== undefined) {
    const document = await vscode.workspace.openTextDocument({ language: 'c', content: found.result.code });
    await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside);
  }
}

function search(session: Session, cpus: number, tests: number): Thenable<Found | undefined> {
  const title = `Longpole: searching for a binding to ${formatCpus(cpus)}`;
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, async (progress, token) => {
    const cancelled = new Promise<void>((resolve) => token.onCancellationRequested(() => resolve()));
    let best: Found | undefined;
    let toldShare = 0;
    const result = await session.ask(undefined, (client, handle) =>
      client.allocate(
        handle,
        cpus,
        tests,
        session.machine,
        ({ tests: tried, totalNs, assignment, algorithm, share }) => {
          if (totalNs !== undefined) {
            const so = assignment.length > 0 ? assignment : (best?.assignment ?? []);
            best = { assignment: so, totalNs, tests: tried, result: undefined };
          }
          const so = totalNs === undefined ? '' : `; the best takes ${formatTime(totalNs)}`;
          progress.report({ message: `${formatCount(tried)} tried, now by ${algorithm}${so}`, increment: Math.max(0, 100 * (share - toldShare)) });
          toldShare = Math.max(toldShare, share);
        },
        cancelled,
      ),
    );
    if (result === undefined) {
      return best;
    }
    const tried = result.others.reduce((sum, other) => sum + other.tests, result.tests);
    return { assignment: result.assignment, totalNs: result.totalNs, tests: tried, result };
  });
}

function verdict({ totalNs, tests, result }: Found, cpus: number): string {
  const tried = `the best of ${formatCount(tests)} bindings to ${formatCpus(cpus)} takes ${formatTime(totalNs)}`;
  if (result === undefined) {
    return `Longpole: the search was ended; ${tried}.`;
  }
  const { unboundNs, boundNs, betterExists, algorithm, disturbed } = result;
  const unbound = unboundNs === undefined ? '' : `, ${changeText(unboundNs, totalNs)} against unbound threads (${formatTime(unboundNs)})`;
  const bound = boundNs === undefined ? '' : betterExists ? ` A better one exists: some binding takes at most ${formatTime(boundNs)}.` : '';
  return `Longpole: ${tried} (${algorithm})${unbound}.${warning(totalNs, disturbed)}${bound}`;
}

/** Where the time holds only while one of two things at the same moment comes first. */
function warning(totalNs: number, disturbed: Spread | undefined): string {
  const most = disturbed?.mostNs;
  if (disturbed === undefined || most === totalNs) {
    return '';
  }
  const worst = most === undefined ? 'for ever' : `up to ${formatTime(most)}`;
  return ` It takes ${worst} where CPUs are slightly slower, switches and wake-ups take longer, or ticks come at other times.`;
}
