// The machine that a recording is simulated on, besides its number of CPUs: as it is kept, typed, shown and sent.
//
// What is left out is as it was recorded, or as the scheduler has it.
import { formatCountOf, formatCpus, formatSpeedup, formatTime } from './format';
import type { Prediction } from '../protocol/longpole/v1/simulation';
import type { Machine } from '../protocol/longpole/v1/simulation';

export interface ThreadChoice {
  readonly thread: string;
  /** The only CPU that it may use. */
  readonly cpu?: number;
  /** Larger is higher. */
  readonly priority?: number;
}

export interface MachineSettings {
  /** Empty: the paper's for annotations, today's Linux for the timeline. */
  readonly scheduler: string;
  /** Empty: the first by which the program does not stand still. */
  readonly model: string;
  readonly lwps?: number;
  readonly latencyNs?: number;
  readonly switchCostNs?: number;
  readonly migrationCostNs?: number;
  /** Of the first CPUs, 1: as fast as the one that recorded; the others are so fast. */
  readonly speeds?: readonly number[];
  /** The NUMA node of each of the first CPUs; the others are in the last one's. */
  readonly nodes?: readonly number[];
  /** In place of latencyNs, between CPUs of different nodes. */
  readonly nodeLatencyNs?: number;
  readonly threads?: readonly ThreadChoice[];
}

export const usualMachine: MachineSettings = { scheduler: '', model: '' };

export const schedulers: readonly (readonly [name: string, description: string])[] = [
  ['linux', "today's fair scheduler, with its costs"],
  ['shared', 'all that can run share the CPUs evenly: the paper’s'],
  ['ideal', 'a CPU for each thread'],
  ['fifo', 'fixed priorities, preemptive'],
  ['linux-2.2', 'Linux of 1999'],
  ['solaris', 'Solaris 2.x, threads on LWPs'],
];

export const models: readonly (readonly [name: string, description: string])[] = [
  ['direct', 'a wait ends by whatever release comes first'],
  ['client-server', 'a wait ends by a release of the thread that ended it in the recording'],
  ['strict', 'a wait ends by the very release that ended it in the recording'],
];

/** Whether it has CPUs and threads of its own; under `shared` and `ideal` all are alike. */
export function isMachine(scheduler: string): boolean {
  return !['', 'shared', 'ideal'].includes(scheduler);
}

/** How many threads may run on one CPU alone. */
export function boundThreads({ threads = [] }: MachineSettings): number {
  return threads.filter(({ cpu }) => cpu !== undefined).length;
}

export function isUsual(settings: MachineSettings): boolean {
  return settings.scheduler === '' && settings.model === '' && !hasParameters(settings);
}

export function hasParameters(settings: MachineSettings): boolean {
  const { lwps, latencyNs, switchCostNs, migrationCostNs, nodeLatencyNs, speeds, nodes, threads } = settings;
  return (
    [lwps, latencyNs, switchCostNs, migrationCostNs, nodeLatencyNs].some((value) => value !== undefined) ||
    (speeds ?? []).length > 0 ||
    (nodes ?? []).length > 0 ||
    (threads ?? []).length > 0
  );
}

/** The scheduler in force: parameters of a machine make sense only on one. */
export function schedulerOf(settings: MachineSettings, otherwise: string): string {
  return settings.scheduler !== '' ? settings.scheduler : hasParameters(settings) ? 'linux' : otherwise;
}

/** How a number comes about, behind it: "by the scheduler linux". */
export function schedulerWords(settings: MachineSettings): string {
  const scheduler = schedulerOf(settings, 'shared');
  switch (scheduler) {
    case 'shared':
      return 'where threads share the CPUs evenly (scheduler shared)';
    case 'ideal':
      return 'where each thread has a CPU (scheduler ideal)';
    default:
      return `by the scheduler ${scheduler}`;
  }
}

/** The scheduler in force where it is another one than usual; empty: it is not. */
export function otherScheduler(settings: MachineSettings): string {
  const scheduler = schedulerOf(settings, 'shared');
  return scheduler === 'shared' ? '' : scheduler;
}

/** Between which speed-ups the real one is to be expected; empty: that is not known. */
export function expectedSentence({ cpus, totalNs, speedup, leastSpeedup, mostSpeedup }: Prediction, settings: MachineSettings): string {
  if (leastSpeedup === undefined || mostSpeedup === undefined) {
    return '';
  }
  const [least, most] = [`${leastSpeedup.toFixed(2)}×`, `${mostSpeedup.toFixed(2)}×`];
  const range = least === most ? least : `between ${least} and ${most}`;
  return `On a real machine with ${formatCpus(cpus)}, expect ${range}: ${schedulerWords(settings)} it takes ${formatTime(totalNs)}, ${speedup.toFixed(2)}×.`;
}

/** What a ranking is of that knows the paper's two schedulers alone: the one in force, or else `shared`. */
export function rankedScheduler(settings: MachineSettings): 'shared' | 'ideal' {
  return schedulerOf(settings, '') === 'ideal' ? 'ideal' : 'shared';
}

/** What such a ranking leaves out of what all else is simulated with, as a sentence; empty: nothing. */
export function rankingRemark(settings: MachineSettings): string {
  if (!isMachine(schedulerOf(settings, '')) && settings.model === '') {
    return '';
  }
  const leftOut = machineSummary(rankedScheduler(settings) === 'ideal' ? { ...usualMachine, model: settings.model } : settings);
  const here = rankedScheduler(settings) === 'ideal' ? 'each thread has a CPU' : 'threads share the CPUs evenly';
  return `This list is of a simulation in which ${here}: it does not follow the chosen machine (${leftOut}).`;
}

/** Threads bound to CPUs that a machine does not have are free on it. */
export function machineOf(settings: MachineSettings, cpus: number): Machine | undefined {
  if (!hasParameters(settings)) {
    return undefined;
  }
  const speeds = settings.speeds ?? [];
  const nodes = settings.nodes ?? [];
  return {
    speeds: speeds.length === 0 ? [] : Array.from({ length: cpus }, (_unused, cpu) => speeds[cpu] ?? 1),
    latencyNs: BigInt(Math.round(settings.latencyNs ?? 0)),
    switchCostNs: BigInt(Math.round(settings.switchCostNs ?? 0)),
    migrationCostNs: BigInt(Math.round(settings.migrationCostNs ?? 0)),
    threads: (settings.threads ?? [])
      .map(({ thread, cpu, priority }) => ({ thread, cpu: cpu !== undefined && cpu < cpus ? cpu : undefined, priority, nice: 0 }))
      .filter(({ cpu, priority }) => cpu !== undefined || priority !== undefined),
    parallelDevices: false,
    lwps: settings.lwps ?? 0,
    nodes: nodes.length === 0 ? [] : Array.from({ length: cpus }, (_unused, cpu) => nodes[cpu] ?? nodes.at(-1) ?? 0),
    nodeLatencyNs: BigInt(Math.round(settings.nodeLatencyNs ?? 0)),
  };
}

/** Of a prediction: that it is by another model than the direct one, where nobody chose that; empty: it is not. */
export function replacedModel(settings: MachineSettings, model: string): string {
  return settings.model !== '' || model === '' || model === 'direct'
    ? ''
    : `Simulated by the model ${model}: by the direct one, where ${description('direct')}, the program stands still.`;
}

/** A prediction for a machine, which says whether it is another one than that in which threads share the CPUs evenly. */
export type OnMachine = Pick<Prediction, 'cpus' | 'totalNs' | 'speedup' | 'unlikeShared'>;

/**
 * What the machine would take where that is another speed-up than the one that is shown; empty: it is not.
 *
 * @param caches whether that counts the CPU time that caches save or cost on several CPUs.
 */
export function machineRemark(onMachine: OnMachine, caches: boolean): string {
  return onMachine.unlikeShared
    ? `With what the machine takes to wake threads up and to switch between them, ${caches ? 'and what its caches save or cost, ' : ''}by the scheduler linux, it is ` +
        `${formatTime(onMachine.totalNs)} at ${formatCpus(onMachine.cpus)}, ${formatSpeedup(onMachine.speedup)} as fast as at one.`
    : '';
}

/** The same in few words, for behind the prediction. */
export function shortMachineRemark(onMachine: OnMachine, caches: boolean): string {
  return onMachine.unlikeShared
    ? `With what wake-ups and switches take${caches ? ', and caches save or cost' : ''}: ${formatTime(onMachine.totalNs)}, ${formatSpeedup(onMachine.speedup)}.`
    : '';
}

function description(model: string): string {
  return models.find(([name]) => name === model)?.[1] ?? '';
}

/** "linux, latency 5.00 µs, 3 threads bound"; empty: as usual. */
export function machineSummary(settings: MachineSettings): string {
  const parts: string[] = [];
  if (settings.scheduler !== '' || hasParameters(settings)) {
    parts.push(schedulerOf(settings, ''));
  }
  if (settings.model !== '') {
    parts.push(`model ${settings.model}`);
  }
  if (settings.lwps !== undefined) {
    parts.push(`${settings.lwps} LWPs`);
  }
  if (settings.latencyNs !== undefined) {
    parts.push(`latency ${formatTime(settings.latencyNs)}`);
  }
  if (settings.switchCostNs !== undefined) {
    parts.push(`switch ${formatTime(settings.switchCostNs)}`);
  }
  if (settings.migrationCostNs !== undefined) {
    parts.push(`migration ${formatTime(settings.migrationCostNs)}`);
  }
  if ((settings.speeds ?? []).length > 0) {
    parts.push(`speeds ${speedsText(settings.speeds ?? [])}`);
  }
  if ((settings.nodes ?? []).length > 0) {
    const far = settings.nodeLatencyNs === undefined ? '' : `, ${formatTime(settings.nodeLatencyNs)} apart`;
    parts.push(`${new Set(settings.nodes).size} NUMA nodes${far}`);
  }
  const threads = settings.threads ?? [];
  const [bound, raised] = [boundThreads(settings), threads.filter(({ priority }) => priority !== undefined).length];
  if (bound > 0) {
    parts.push(`${formatCountOf(bound, 'thread')} bound`);
  }
  if (raised > 0) {
    parts.push(formatCountOf(raised, 'priority', 'priorities'));
  }
  return parts.join(', ');
}

export function speedsText(speeds: readonly number[]): string {
  return speeds.join(', ');
}

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

const timeUnits: Readonly<Record<string, number>> = { ns: 1, us: 1e3, 'µs': 1e3, ms: 1e6, s: 1e9 };
const mostTimeNs = 60e9;

/** "5 us", "200ns", "1.5 ms"; nothing: as it was. A bare 0 needs no unit. */
export function parseTime(text: string): Parsed<number | undefined> {
  const trimmed = text.trim();
  if (trimmed === '') {
    return { value: undefined };
  }
  const match = /^(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s)?$/.exec(trimmed);
  const unit = match?.[2];
  if (match === null || (unit === undefined && Number(match[1]) !== 0)) {
    return { problem: 'A time with its unit: 200 ns, 5 us, 1.5 ms. Nothing: as it was recorded.' };
  }
  const ns = Number(match[1]) * (timeUnits[unit ?? 'ns'] ?? 1);
  return ns > mostTimeNs ? { problem: 'At most a minute.' } : { value: Math.round(ns) };
}

/** "1, 1, 0.5": of the first CPUs; nothing: all alike. */
export function parseSpeeds(text: string): Parsed<readonly number[] | undefined> {
  const words = text.split(/[,\s]+/).filter((word) => word !== '');
  if (words.length === 0) {
    return { value: undefined };
  }
  const speeds = words.map(Number);
  if (speeds.some((speed) => !(speed >= 0.001 && speed <= 1000))) {
    return { problem: 'Numbers from 0.001 to 1000, one for each CPU: 1, 1, 0.5. 1 is as fast as the CPU that recorded.' };
  }
  return speeds.length > 1024 ? { problem: 'At most 1024 CPUs.' } : { value: speeds };
}

/** "0, 0, 1, 1": of the first CPUs; nothing: all in one. */
export function parseNodes(text: string): Parsed<readonly number[] | undefined> {
  const words = text.split(/[,\s]+/).filter((word) => word !== '');
  if (words.length === 0) {
    return { value: undefined };
  }
  return words.length <= 1024 && words.every((word) => /^\d{1,4}$/.test(word))
    ? { value: words.map(Number) }
    : { problem: 'Whole numbers from 0 on, one for each CPU: 0, 0, 1, 1.' };
}

/** A whole number; nothing: undefined. */
export function parseWhole(text: string, least: number, most: number): Parsed<number | undefined> {
  const trimmed = text.trim();
  if (trimmed === '') {
    return { value: undefined };
  }
  return /^-?\d+$/.test(trimmed) && Number(trimmed) >= least && Number(trimmed) <= most
    ? { value: Number(trimmed) }
    : { problem: `A whole number from ${least} to ${most}, or nothing.` };
}

/** The choices with this one for its thread; one that chooses nothing is left out. */
export function withThread(settings: MachineSettings, choice: ThreadChoice): MachineSettings {
  const others = (settings.threads ?? []).filter(({ thread }) => thread !== choice.thread);
  const threads = choice.cpu === undefined && choice.priority === undefined ? others : [...others, choice];
  return { ...settings, threads: threads.length === 0 ? undefined : threads };
}

/** The settings with these threads on these CPUs, and no others bound. */
export function withBinding(settings: MachineSettings, assignment: readonly { thread: string; cpu: number }[]): MachineSettings {
  const free = (settings.threads ?? []).map(({ thread, priority }) => ({ thread, priority }));
  const unbound = free.reduce<MachineSettings>((so, choice) => withThread(so, choice), { ...settings, threads: undefined });
  return assignment.reduce<MachineSettings>((so, { thread, cpu }) => {
    const priority = (settings.threads ?? []).find((choice) => choice.thread === thread)?.priority;
    return withThread(so, { thread, cpu, priority });
  }, unbound);
}

/** What was kept for a recording, by whichever version: what makes no sense is left out. */
export function readMachine(kept: unknown): MachineSettings {
  if (typeof kept !== 'object' || kept === null) {
    return usualMachine;
  }
  const from = kept as Record<string, unknown>;
  const known = (name: unknown, list: readonly (readonly [string, string])[]): string =>
    typeof name === 'string' && list.some(([one]) => one === name) ? name : '';
  const number = (value: unknown): number | undefined => (typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined);
  const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
  const speeds = list(from['speeds']).filter((speed) => typeof speed === 'number');
  const nodes = list(from['nodes']).filter((node) => typeof node === 'number');
  const threads = list(from['threads']).filter(
    (one): one is ThreadChoice => typeof one === 'object' && one !== null && typeof (one as ThreadChoice).thread === 'string',
  );
  return {
    scheduler: known(from['scheduler'], schedulers),
    model: known(from['model'], models),
    lwps: number(from['lwps']),
    latencyNs: number(from['latencyNs']),
    switchCostNs: number(from['switchCostNs']),
    migrationCostNs: number(from['migrationCostNs']),
    speeds: speeds.length === 0 ? undefined : speeds,
    nodes: nodes.length === 0 ? undefined : nodes,
    nodeLatencyNs: number(from['nodeLatencyNs']),
    threads: threads.length === 0 ? undefined : threads,
  };
}
