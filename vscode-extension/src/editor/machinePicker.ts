// The machine's parameters, behind the status bar's second entry: each with its value, changed one at a time, kept for the recording.
// Annotations, views and the timeline follow at once.
import * as vscode from 'vscode';
import { formatTime } from '../core/format';
import {
  hasParameters,
  isMachine,
  isUsual,
  machineSummary,
  models,
  parseNodes,
  parseSpeeds,
  parseTime,
  parseWhole,
  schedulerOf,
  schedulers,
  speedsText,
  usualMachine,
  withThread,
  type MachineSettings,
  type Parsed,
} from '../core/machineSettings';
import type { Analyses } from './analyses';
import type { Session } from './session';

const mostLwps = 100_000;
const mostPriority = 1_000_000;

interface Entry extends vscode.QuickPickItem {
  /** The settings with another value; undefined: given up. */
  readonly change?: () => Promise<MachineSettings | undefined>;
}

/** Shows the list until it is closed; every choice is simulated before the list comes back. */
export async function pickMachine(session: Session, analyses: Analyses): Promise<void> {
  let at = 0;
  for (;;) {
    if (session.recording === undefined) {
      throw new Error('Record a program, or open a recording: the machine is remembered for each.');
    }
    const entries = entriesFor(session, analyses);
    const chosen = await pick(entries, at);
    if (chosen?.change === undefined) {
      return;
    }
    at = entries.indexOf(chosen);
    const settings = await chosen.change();
    if (settings !== undefined) {
      await session.setMachine(settings);
    }
  }
}

/** The scheduler alone; what the timeline's button does. */
export async function pickScheduler(session: Session): Promise<void> {
  const settings = await chooseScheduler(session.machine);
  if (settings !== undefined) {
    await session.setMachine(settings);
  }
}

function entriesFor(session: Session, analyses: Analyses): Entry[] {
  const { machine } = session;
  const scheduler = schedulerOf(machine, '');
  const entry = (label: string, value: string, detail: string, change: Entry['change']): Entry => ({
    label,
    description: value,
    detail,
    change,
  });
  const asRecorded = 'as on the machine that recorded';
  const time = (ns: number | undefined): string => (ns === undefined ? asRecorded : formatTime(ns));
  const threads = machine.threads ?? [];
  return [
    entry(
      'Scheduler',
      machine.scheduler !== '' ? machine.scheduler : scheduler !== '' ? scheduler : 'shared; linux in the timeline',
      'Who gets a CPU when there are fewer of them than threads.',
      () => chooseScheduler(machine),
    ),
    entry(
      'Simulation model',
      machine.model === '' ? 'auto' : machine.model,
      'How a wait finds the release that ends it.',
      () => chooseModel(machine),
    ),
    entry('Latency between CPUs', time(machine.latencyNs), 'Until a signal from one CPU is seen on another.', () =>
      typed('Latency Between CPUs', '5 us', machine.latencyNs === undefined ? '' : timeText(machine.latencyNs), parseTime, (latencyNs) => ({
        ...machine,
        latencyNs,
      })),
    ),
    entry('Context switch', time(machine.switchCostNs), 'Until a CPU has taken up another thread.', () =>
      typed('Context Switch', '2 us', machine.switchCostNs === undefined ? '' : timeText(machine.switchCostNs), parseTime, (switchCostNs) => ({
        ...machine,
        switchCostNs,
      })),
    ),
    entry('Migration', time(machine.migrationCostNs), 'Until a thread has taken up on another CPU.', () =>
      typed('Migration', '10 us', machine.migrationCostNs === undefined ? '' : timeText(machine.migrationCostNs), parseTime, (migrationCostNs) => ({
        ...machine,
        migrationCostNs,
      })),
    ),
    entry(
      'CPU speeds',
      machine.speeds === undefined ? 'all as the one that recorded' : speedsText(machine.speeds),
      'How fast each CPU is; those without a number are as fast as the one that recorded.',
      () =>
        typed('CPU Speeds', '1, 1, 0.5, 0.5', speedsText(machine.speeds ?? []), parseSpeeds, (speeds) => ({ ...machine, speeds })),
    ),
    entry(
      'NUMA nodes',
      machine.nodes === undefined ? 'all CPUs in one' : machine.nodes.join(', '),
      'The node of each CPU; those without a number are in the last one named.',
      () => typed('NUMA Nodes', '0, 0, 1, 1', (machine.nodes ?? []).join(', '), parseNodes, (nodes) => ({ ...machine, nodes })),
    ),
    entry('Latency between nodes', time(machine.nodeLatencyNs), 'In place of the latency between CPUs, from one node to another.', () =>
      typed(
        'Latency Between Nodes',
        '1 us',
        machine.nodeLatencyNs === undefined ? '' : timeText(machine.nodeLatencyNs),
        parseTime,
        (nodeLatencyNs) => ({ ...machine, nodeLatencyNs }),
      ),
    ),
    entry('LWPs', machine.lwps === undefined ? 'one for each thread' : String(machine.lwps), 'Of threads that are not bound, under solaris.', () =>
      typed('LWPs', '8', String(machine.lwps ?? ''), (text) => parseWhole(text, 1, mostLwps), (lwps) => ({
        ...machine,
        lwps,
        scheduler: lwps === undefined ? machine.scheduler : 'solaris',
      })),
    ),
    entry(
      'Priorities and bindings of threads…',
      threads.length === 0 ? 'as recorded' : `${threads.length} changed`,
      'For each thread, the CPU that it may use and its priority.',
      () => chooseThread(session, analyses),
    ),
    ...(isUsual(machine)
      ? []
      : [
          { label: '', kind: vscode.QuickPickItemKind.Separator },
          entry('$(discard) As usual again', machineSummary(machine), 'Forgets all of the above for this recording.', () =>
            Promise.resolve(usualMachine),
          ),
        ]),
  ];
}

function pick(entries: readonly Entry[], at: number): Promise<Entry | undefined> {
  const picker = vscode.window.createQuickPick<Entry>();
  picker.title = 'Longpole: Machine';
  picker.placeholder = 'What the recording is simulated on; linux, once a parameter is set';
  picker.matchOnDescription = true;
  picker.items = entries;
  const active = entries[at];
  if (active !== undefined) {
    picker.activeItems = [active];
  }
  return new Promise((resolve) => {
    picker.onDidAccept(() => {
      resolve(picker.activeItems[0]);
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(undefined);
      picker.dispose();
    });
    picker.show();
  });
}

async function chooseScheduler(machine: MachineSettings): Promise<MachineSettings | undefined> {
  const items = [
    { label: 'usual', description: 'shared for annotations and views, linux for the timeline', name: '' },
    ...schedulers.map(([name, description]) => ({ label: name, description, name })),
  ].map((item) => ({ ...item, picked: item.name === machine.scheduler, label: item.name === machine.scheduler ? `${item.label} $(check)` : item.label }));
  const chosen = await vscode.window.showQuickPick(items, { title: 'Longpole: Scheduler', placeHolder: 'For annotations, views and the timeline' });
  if (chosen === undefined) {
    return undefined;
  }
  if (chosen.name !== '' && !isMachine(chosen.name) && hasParameters(machine)) {
    // Where all CPUs and threads are alike there are no parameters.
    return { ...usualMachine, scheduler: chosen.name, model: machine.model };
  }
  return { ...machine, scheduler: chosen.name };
}

async function chooseModel(machine: MachineSettings): Promise<MachineSettings | undefined> {
  const items = [
    { label: 'auto', description: 'the first of those below by which the program does not stand still', name: '' },
    ...models.map(([name, description]) => ({ label: name, description, name })),
  ].map((item) => ({ ...item, label: item.name === machine.model ? `${item.label} $(check)` : item.label }));
  const chosen = await vscode.window.showQuickPick(items, { title: 'Longpole: Simulation Model' });
  return chosen === undefined ? undefined : { ...machine, model: chosen.name };
}

async function chooseThread(session: Session, analyses: Analyses): Promise<MachineSettings | undefined> {
  const { machine } = session;
  const { threads } = await analyses.threads();
  const items = threads.map(({ name, function: started }) => {
    const choice = (machine.threads ?? []).find(({ thread }) => thread === name);
    const said = [
      ...(choice?.cpu === undefined ? [] : [`on CPU ${choice.cpu}`]),
      ...(choice?.priority === undefined ? [] : [`priority ${choice.priority}`]),
    ];
    return { label: name, description: said.length === 0 ? 'as recorded' : said.join(', '), detail: started, choice };
  });
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Longpole: Thread',
    placeHolder: 'Whose CPU and priority are to be chosen',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen === undefined) {
    return undefined;
  }
  const cpu = await ask(`CPU of ${chosen.label}`, '0', String(chosen.choice?.cpu ?? ''), (text) => parseWhole(text, 0, 1023));
  if (cpu === undefined) {
    return undefined;
  }
  const priority = await ask(`Priority of ${chosen.label}`, '10', String(chosen.choice?.priority ?? ''), (text) =>
    parseWhole(text, -mostPriority, mostPriority),
  );
  return priority === undefined ? undefined : withThread(machine, { thread: chosen.label, cpu: cpu.value, priority: priority.value });
}

async function typed<T>(
  title: string,
  example: string,
  value: string,
  parse: (text: string) => Parsed<T>,
  apply: (value: T) => MachineSettings,
): Promise<MachineSettings | undefined> {
  const answer = await ask(title, example, value, parse);
  return answer === undefined ? undefined : apply(answer.value);
}

async function ask<T>(title: string, example: string, value: string, parse: (text: string) => Parsed<T>): Promise<{ value: T } | undefined> {
  const text = await vscode.window.showInputBox({
    title: `Longpole: ${title}`,
    prompt: `For example ${example}. Nothing: as it was recorded.`,
    value,
    validateInput: (entered) => {
      const parsed = parse(entered);
      return 'problem' in parsed ? parsed.problem : undefined;
    },
  });
  const parsed = text === undefined ? undefined : parse(text);
  return parsed === undefined || 'problem' in parsed ? undefined : parsed;
}

/** As parseTime reads it, without loss. */
function timeText(ns: number): string {
  const [size, unit] = ns >= 1e6 ? [1e6, 'ms'] : ns >= 1e3 ? [1e3, 'us'] : [1, 'ns'];
  return `${ns / size} ${unit}`;
}
