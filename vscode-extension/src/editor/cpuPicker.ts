// Choosing the number of CPUs. What the list points at is shown in the editors at once; only choosing keeps it.
import * as vscode from 'vscode';
import { textBar } from '../core/bars';
import { formatCpus, formatSpeedup, formatTime } from '../core/format';
import { machineSummary } from '../core/machineSettings';
import type { Session } from './session';

/** What the daemon simulates at most: max_cpus there. */
const mostCpus = 65_536;

const whatIsAsked = `A whole number from 1 to ${mostCpus.toLocaleString('en-US')}.`;

const barCharacters = 20;

interface CpuItem extends vscode.QuickPickItem {
  /** undefined: another number, to be typed. */
  readonly cpus: number | undefined;
  /** Leads to the other parameters. */
  readonly isMachine?: boolean;
}

export async function pickCpus(session: Session, report: (error: unknown) => void): Promise<void> {
  const chosen = session.cpus;
  const items = session.choices.map((cpus) => item(session, cpus));
  const picker = vscode.window.createQuickPick<CpuItem>();
  picker.title = 'Longpole: Set CPU Count';
  picker.placeholder = 'Simulate the program on …';
  const other: CpuItem = { label: 'Other number…', alwaysShow: true, cpus: undefined };
  const summary = machineSummary(session.machine);
  const machine: CpuItem = {
    label: '$(server) Machine…',
    description: summary === '' ? 'scheduler, model, latency, speeds, priorities, bindings' : summary,
    alwaysShow: true,
    cpus: undefined,
    isMachine: true,
  };
  const rest = session.recording === undefined ? [other] : [other, machine];
  picker.items = [...items, ...rest];
  picker.activeItems = items.filter((entry) => entry.cpus === chosen);
  // A number that is typed is as good as one that is listed.
  picker.onDidChangeValue((value) => {
    const typed = parseCpus(value);
    const isNew = typed !== undefined && !items.some((entry) => entry.cpus === typed);
    const isWrong = typed === undefined && value.trim() !== '' && ![...items, ...rest].some(({ label }) => label.toLowerCase().includes(value.trim().toLowerCase()));
    const first: CpuItem[] = isNew ? [{ ...item(session, typed), alwaysShow: true }] : isWrong ? [{ ...other, label: `$(info) ${whatIsAsked}` }] : [];
    picker.items = [...first, ...items, ...(isWrong ? rest.filter((entry) => entry !== other) : rest)];
  });

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

  if (answer?.isMachine === true) {
    await session.preview(undefined);
    await vscode.commands.executeCommand('longpole.setMachine');
    return;
  }
  const cpus = answer === undefined ? undefined : (answer.cpus ?? (await typeCpus(chosen)));
  await (cpus === undefined ? session.preview(undefined) : session.choose(cpus));
}

function item(session: Session, cpus: number): CpuItem {
  const prediction = session.recording?.weights.prediction(cpus);
  // As wide as the widest usual one, so that the bars begin below each other.
  const label = formatCpus(cpus) + '\u2007'.repeat(Math.max(0, 2 - String(cpus).length)) + (cpus === 1 ? '\u2009\u2009' : '');
  if (prediction === undefined) {
    return { label, cpus };
  }
  if (prediction.deadlock !== undefined) {
    return { label, description: 'deadlock', cpus };
  }
  const most = Math.max(...session.choices.map((count) => session.recording?.weights.prediction(count)?.speedup ?? 1));
  const bar = textBar(prediction.speedup / most, barCharacters);
  return { label, description: `${bar}  ${formatSpeedup(prediction.speedup)}   ${formatTime(prediction.totalNs)}`, cpus };
}

function parseCpus(text: string): number | undefined {
  const value = text.trim();
  return /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= mostCpus ? Number(value) : undefined;
}

async function typeCpus(chosen: number): Promise<number | undefined> {
  const text = await vscode.window.showInputBox({
    title: 'Longpole: Set CPU Count',
    prompt: 'Number of CPUs to simulate',
    value: String(chosen),
    validateInput: (value) =>
      parseCpus(value) !== undefined ? undefined : whatIsAsked,
  });
  return text === undefined ? undefined : Number(text);
}
