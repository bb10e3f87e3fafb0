// Choosing the number of CPUs. What the list points at is shown in the editors at once; only choosing keeps it.
import * as vscode from 'vscode';
import { formatCpus, formatSpeedup, formatTime } from '../core/format';
import type { Session } from './session';

/** What the daemon simulates at most: max_cpus there. */
const mostCpus = 65_536;

interface CpuItem extends vscode.QuickPickItem {
  /** undefined: another number, to be typed. */
  readonly cpus: number | undefined;
}

export async function pickCpus(session: Session, report: (error: unknown) => void): Promise<void> {
  const chosen = session.cpus;
  const items = session.choices.map((cpus) => item(session, cpus));
  const picker = vscode.window.createQuickPick<CpuItem>();
  picker.title = 'Longpole: Set CPU Count';
  picker.placeholder = 'Simulate the program on …';
  picker.items = [...items, { label: 'Other number…', alwaysShow: true, cpus: undefined }];
  picker.activeItems = items.filter((entry) => entry.cpus === chosen);

  const answer = await new Promise<CpuItem | undefined>((resolve) => {
    picker.onDidChangeActive(([active]) => {
      if (active?.cpus !== undefined) {
        session.preview(active.cpus).catch(report);
      }
    });
    picker.onDidAccept(() => {
      resolve(picker.activeItems[0]);
      picker.hide();
    });
    picker.onDidHide(() => resolve(undefined));
    picker.show();
  });
  picker.dispose();

  const cpus = answer === undefined ? undefined : (answer.cpus ?? (await typeCpus(chosen)));
  await (cpus === undefined ? session.preview(undefined) : session.choose(cpus));
}

function item(session: Session, cpus: number): CpuItem {
  const prediction = session.recording?.weights.prediction(cpus);
  if (prediction === undefined) {
    return { label: formatCpus(cpus), cpus };
  }
  const description =
    prediction.deadlock === undefined
      ? `${formatSpeedup(prediction.speedup)}   ${formatTime(prediction.totalNs)}`
      : 'deadlock';
  return { label: formatCpus(cpus), description, cpus };
}

async function typeCpus(chosen: number): Promise<number | undefined> {
  const text = await vscode.window.showInputBox({
    title: 'Longpole: Set CPU Count',
    prompt: 'Number of CPUs to simulate',
    value: String(chosen),
    validateInput: (value) =>
      /^\d+$/.test(value.trim()) && Number(value) >= 1 && Number(value) <= mostCpus
        ? undefined
        : `A whole number from 1 to ${mostCpus}.`,
  });
  return text === undefined ? undefined : Number(text);
}
