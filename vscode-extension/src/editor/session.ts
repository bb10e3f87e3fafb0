// The recording that this window shows, and at how many CPUs: the one state that annotations, hovers and the status bar
// are drawn from. They listen to onDidChange and read; only commands write.
import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { isUsual, readMachine, usualMachine, type MachineSettings } from '../core/machineSettings';
import { countWords, filterWords, readFilter, type ShownThreads, type ThreadFilter } from '../core/threadFilter';
import type { ProgramChange } from '../core/whatIf';
import { pickerCpuCounts, usualCpuCounts, Weights } from '../core/weights';
import type { DaemonClient } from '../daemon/client';
import type { Connection, Daemon } from '../daemon/daemon';
import type { Recording } from '../protocol/longpole/v1/recording';
import { shownKey } from '../core/ids';

export interface ShownRecording {
  readonly path: string;
  readonly info: Recording;
  readonly weights: Weights;
  /** What was changed in the program that was recorded, in words; empty: nothing. */
  readonly change: string;
}

/** A recording with the daemon that holds it open, under a handle that dies with that daemon. */
interface OpenRecording extends ShownRecording {
  connection: Connection;
  handle: bigint;
  readonly changed?: ProgramChange;
}

const chosenKey = 'longpole.chosenCpus';
/** By path: the machine that a recording is simulated on, where it is not the usual one. */
const machinesKey = 'longpole.machines';
const mostMachines = 100;
const filterKey = 'longpole.shownThreads';

export class Session implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private shown: OpenRecording | undefined;
  /** The recording itself, while a changed program is shown. */
  private unchanged: OpenRecording | undefined;
  private previewed: number | undefined;
  private machineCpus = 1;
  private asking = 0;
  /** Raised by whatever makes an answer still on its way worthless. */
  private turn = 0;
  private lastFailed = false;
  /** The recording that is being opened: whoever else wants it waits for the same. */
  private opening: { readonly path: string; readonly end: Promise<void> } | undefined;
  /** Questions on their way, by what their answers are for and by CPUs. */
  private readonly underway = new WeakMap<Weights, Map<number, Promise<void>>>();
  /** Recordings that were asked about without being shown. */
  private readonly others = new Map<string, Promise<OpenRecording>>();

  private readonly filterDropped = new vscode.EventEmitter<ThreadFilter>();

  readonly onDidChange = this.changed.event;
  /** A recording was opened that has none of the threads that were to be shown: it shows all. */
  readonly onDidDropFilter = this.filterDropped.event;

  constructor(
    private readonly daemon: Daemon,
    private readonly memory: vscode.Memento,
  ) {}

  get recording(): ShownRecording | undefined {
    return this.shown;
  }

  /** The machine that the shown recording is simulated on. */
  get machine(): MachineSettings {
    return this.shown === undefined ? usualMachine : this.machineOf(this.shown.path);
  }

  /** The threads whose part of the numbers is shown, in whatever recording, until that is taken back; undefined: all. */
  get filter(): ThreadFilter | undefined {
    return readFilter(this.memory.get(filterKey));
  }

  /** What is shown under the filter; undefined: everything. */
  get shownThreads(): ShownThreads | undefined {
    const places = this.shown?.weights.threads;
    return places && { places, total: this.shown?.info.threads ?? places.length };
  }

  /** "2 of 9 threads: main and consumer"; empty: everything is shown. */
  get threadWords(): string {
    const { shownThreads, filter } = this;
    return shownThreads === undefined || filter === undefined ? '' : `${countWords(shownThreads)}: ${filterWords(filter)}`;
  }

  /** The CPU count that everything is shown for. */
  get cpus(): number {
    return this.previewed ?? this.chosenCpus;
  }

  /** Whether the last question found no daemon that lived to answer it. */
  get isUnanswered(): boolean {
    return this.lastFailed;
  }

  get busy(): boolean {
    return this.asking > 0;
  }

  /** CPU counts for a table: the usual ones and the one that is shown. */
  get columns(): number[] {
    return ascending([...usualCpuCounts, this.cpus]);
  }

  /** CPU counts to choose from. */
  get choices(): number[] {
    return ascending([...pickerCpuCounts, this.machineCpus, this.chosenCpus]);
  }

  /** Shows again what was shown when this window was last open; a recording that is gone is forgotten. */
  async restore(): Promise<void> {
    const path = this.memory.get<string>(shownKey);
    if (path === undefined || this.shown !== undefined) {
      return;
    }
    if (existsSync(path)) {
      await this.open(path);
    } else {
      await this.memory.update(shownKey, undefined);
    }
  }

  /** Makes sure that everything is known at these CPU counts, with one question for those that nobody asked for yet. */
  async need(cpus: readonly number[]): Promise<void> {
    const shown = this.shown;
    if (shown === undefined) {
      return;
    }
    const underway = this.underway.get(shown.weights) ?? new Map<number, Promise<void>>();
    this.underway.set(shown.weights, underway);
    const unknown = ascending(cpus.filter((count) => !shown.weights.has(count)));
    const unasked = unknown.filter((count) => !underway.has(count));
    if (unasked.length > 0) {
      const learnt = this.whileBusy(() => this.learn(shown, unasked, this.machine, this.filter));
      const answered = learnt.finally(() => unasked.forEach((count) => underway.delete(count)));
      unasked.forEach((count) => underway.set(count, answered));
    }
    await Promise.all(unknown.flatMap((count) => underway.get(count) ?? []));
  }

  async open(path: string): Promise<void> {
    if (this.opening?.path !== path) {
      const end = this.openAnew(path).finally(() => {
        if (this.opening?.end === end) {
          this.opening = undefined;
        }
      });
      this.opening = { path, end };
    }
    await this.opening.end;
  }

  private async openAnew(path: string): Promise<void> {
    const connection = await this.daemon.connection();
    const info = await this.whileBusy(() => connection.client.openRecording(path));
    await this.show(connection, path, info);
  }

  /** Shows a recording that the daemon has open already. */
  async show(connection: Connection, path: string, info: Recording): Promise<void> {
    this.machineCpus = connection.info.machineCpus;
    await this.put({ path, info, weights: new Weights(), change: '', connection, handle: info.handle }, undefined);
    await this.memory.update(shownKey, path);
  }

  /** Shows the recorded program as it would be with these changes. */
  async showChanged(words: string, changed: ProgramChange): Promise<void> {
    const original = this.unchanged ?? this.shown;
    if (original === undefined) {
      throw new Error('No recording is shown.');
    }
    const client = await this.clientFor(original);
    const info = await this.whileBusy(() => client.keepChanged(original.handle, changed));
    const next = { path: original.path, info, weights: new Weights(), change: words, connection: original.connection, handle: info.handle, changed };
    await this.put(next, original);
  }

  /** Shows the recording as it is again. */
  async takeBack(): Promise<void> {
    const { shown, unchanged } = this;
    if (unchanged !== undefined && shown !== undefined) {
      this.turn++;
      this.shown = unchanged;
      this.unchanged = undefined;
      this.changed.fire();
      await this.close(shown);
      await this.need([...this.choices, ...this.columns]);
    }
  }

  /** Simulates the shown recording on another machine from now on. */
  async setMachine(settings: MachineSettings): Promise<void> {
    const { shown } = this;
    if (shown === undefined) {
      throw new Error('No recording is shown.');
    }
    await this.learnAnew(shown, settings, this.filter, () => this.keepMachine(shown.path, settings));
  }

  /** Shows only the part that some threads have in the numbers from now on; `undefined`: that of all. */
  async setFilter(filter: ThreadFilter | undefined): Promise<void> {
    if (this.shown === undefined) {
      await this.memory.update(filterKey, filter);
      this.changed.fire();
    } else {
      await this.learnAnew(this.shown, this.machine, filter, () => this.memory.update(filterKey, filter));
    }
  }

  /** Other numbers of the shown recording. What the daemon refuses to give them for is not kept. */
  private async learnAnew(
    shown: OpenRecording,
    machine: MachineSettings,
    filter: ThreadFilter | undefined,
    keep: () => Thenable<void>,
  ): Promise<void> {
    const next = { ...shown, weights: new Weights() };
    const turn = ++this.turn;
    await this.whileBusy(() => this.learn(next, [this.cpus], machine, filter));
    if (turn !== this.turn) {
      return;
    }
    await keep();
    this.shown = next;
    if (this.unchanged !== undefined) {
      this.unchanged = { ...this.unchanged, weights: new Weights() };
    }
    this.changed.fire();
    await this.need([...this.choices, ...this.columns]);
  }

  private async keepMachine(path: string, settings: MachineSettings): Promise<void> {
    const kept = Object.entries(this.memory.get<Record<string, unknown>>(machinesKey, {}));
    const latest = kept.filter(([other]) => other !== path).slice(-mostMachines);
    await this.memory.update(machinesKey, Object.fromEntries(isUsual(settings) ? latest : [...latest, [path, settings]]));
  }

  /** Shows what is known of a recording as soon as that is enough to be drawn. */
  private async put(next: OpenRecording, unchanged: OpenRecording | undefined): Promise<void> {
    const before = [this.shown, this.unchanged].filter((open) => open !== undefined && open !== unchanged);
    const turn = ++this.turn;
    const all = ascending([...this.choices, ...this.columns]);
    const machine = this.machineOf(next.path);
    // On a machine each count is simulated by itself: the others follow once there is something to see.
    const first = isUsual(machine) ? all : [this.cpus];
    const dropped = await this.whileBusy(() => this.learnFirst(next, first, machine));
    if (turn !== this.turn) {
      return;
    }
    if (dropped !== undefined) {
      await this.memory.update(filterKey, undefined);
      this.filterDropped.fire(dropped);
    }
    this.shown = next;
    this.unchanged = unchanged;
    this.previewed = undefined;
    this.changed.fire();
    await Promise.all(before.flatMap((open) => (open === undefined ? [] : [this.close(open)])));
    await this.need(all);
  }

  /**
   * Another recording at these CPU counts, without showing it.
   *
   * @throws Error for the user: it has none of the shown threads, or what the daemon says.
   */
  async peek(path: string, cpus: readonly number[]): Promise<ShownRecording> {
    return this.whileBusy(async () => {
      const connection = await this.daemon.connection();
      const info = await connection.client.openRecording(path);
      const other: OpenRecording = { path, info, weights: new Weights(), change: '', connection, handle: info.handle };
      try {
        await this.learn(other, ascending(cpus), this.machine, this.filter);
      } catch (error) {
        throw this.filter !== undefined && isNotFound(error)
          ? new Error(`That recording has none of the threads that are shown (${filterWords(this.filter)}): show all threads to compare the two.`)
          : error;
      } finally {
        await this.close(other);
      }
      return other;
    });
  }

  /**
   * Asks the daemon about the recording that is shown, or another one; a daemon that was started again is given its file first.
   * Another one stays open for the next question, until `release`.
   *
   * @throws Error for the user: no recording is shown, or what the daemon says.
   */
  async ask<T>(path: string | undefined, question: (client: DaemonClient, handle: bigint) => Promise<T>): Promise<T> {
    const open = path === undefined || path === this.shown?.path ? this.shown : await this.opened(path);
    return this.askOf(open, question);
  }

  /** As `ask`, about the shown recording as it was recorded, whatever change of it is shown. */
  askUnchanged<T>(question: (client: DaemonClient, handle: bigint) => Promise<T>): Promise<T> {
    return this.askOf(this.unchanged ?? this.shown, question);
  }

  private async askOf<T>(open: OpenRecording | undefined, question: (client: DaemonClient, handle: bigint) => Promise<T>): Promise<T> {
    if (open === undefined) {
      throw new Error('No recording is shown.');
    }
    return this.persevere(async () => question(await this.clientFor(open), open.handle));
  }

  /** A daemon that died over a question is asked once more: most die of something else. */
  private async persevere<T>(ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask().catch(async (error: unknown) => {
        if (!isGone(error)) {
          throw error;
        }
        await this.daemon.noticeEnd();
        return ask();
      });
      this.lastFailed = false;
      return answer;
    } catch (error) {
      this.lastFailed = isGone(error);
      throw error;
    }
  }

  /** Closes what `ask` opened. */
  release(): void {
    for (const open of this.others.values()) {
      void open.then((other) => this.close(other)).catch(() => undefined);
    }
    this.others.clear();
  }

  clear(): void {
    const before = [this.shown, this.unchanged];
    this.turn++;
    this.shown = undefined;
    this.unchanged = undefined;
    this.previewed = undefined;
    this.changed.fire();
    void this.memory.update(shownKey, undefined);
    before.forEach((open) => void (open && this.close(open)));
  }

  /** Shows another CPU count, for good. */
  async choose(cpus: number): Promise<void> {
    await this.preview(cpus);
    // It is shown by now: that the editor writes it down takes its time, but not the user's.
    const kept = this.memory.update(chosenKey, cpus);
    const isShown = this.previewed === cpus;
    this.previewed = undefined;
    if (!isShown) {
      this.changed.fire();
    }
    await kept;
  }

  /** Shows another CPU count until the next call; `undefined` goes back to the chosen one. */
  async preview(cpus: number | undefined): Promise<void> {
    const turn = ++this.turn;
    const wanted = cpus ?? this.chosenCpus;
    const shown = this.shown;
    if (shown !== undefined && !shown.weights.has(wanted)) {
      await this.whileBusy(() => this.learn(shown, [wanted], this.machine, this.filter));
      if (turn !== this.turn) {
        return;
      }
    }
    this.previewed = cpus;
    this.changed.fire();
  }

  dispose(): void {
    this.turn++;
    this.changed.dispose();
    this.filterDropped.dispose();
  }

  private get chosenCpus(): number {
    const setting = vscode.workspace.getConfiguration('longpole').get<number>('cpus', 0);
    const fallback = setting > 0 ? setting : this.machineCpus;
    return this.memory.get<number>(chosenKey) ?? fallback;
  }

  private machineOf(path: string): MachineSettings {
    return readMachine(this.memory.get<Record<string, unknown>>(machinesKey, {})[path]);
  }

  /** As `learn`, under the filter; where that leaves no thread of the recording, without: then returns it. */
  private async learnFirst(open: OpenRecording, cpus: readonly number[], machine: MachineSettings): Promise<ThreadFilter | undefined> {
    const { filter } = this;
    try {
      await this.learn(open, cpus, machine, filter);
      return undefined;
    } catch (error) {
      if (filter === undefined || !isNotFound(error)) {
        throw error;
      }
      await this.learn(open, cpus, machine, undefined);
      return filter;
    }
  }

  /** Asks for everything there is to know at these CPU counts. */
  private async learn(open: OpenRecording, cpus: readonly number[], machine: MachineSettings, filter: ThreadFilter | undefined): Promise<void> {
    const ask = async (counts: readonly number[]): Promise<void> => {
      const client = await this.clientFor(open);
      const [predictions, lines, functions] = await Promise.all([
        client.predict(open.handle, counts, machine),
        client.getLines(open.handle, counts, machine, filter),
        client.getFunctions(open.handle, counts, machine, filter),
      ]);
      open.weights.addPredictions(predictions.predictions);
      open.weights.add(counts, lines, functions);
    };
    if (isUsual(machine)) {
      await this.persevere(() => ask(cpus));
      return;
    }
    // Parameters differ with the number of CPUs, and the daemon keeps few simulations: one after the other.
    for (const count of cpus) {
      await this.persevere(() => ask([count]));
    }
  }

  private opened(path: string): Promise<OpenRecording> {
    let open = this.others.get(path);
    if (open === undefined) {
      open = this.daemon.connection().then(async (connection) => {
        const info = await connection.client.openRecording(path);
        return { path, info, weights: new Weights(), change: '', connection, handle: info.handle };
      });
      // What could not be opened can be tried again.
      open.catch(() => this.others.delete(path));
      this.others.set(path, open);
    }
    return open;
  }

  /** The daemon may be another one since: then it is given the recording's file again. */
  private async clientFor(open: OpenRecording): Promise<DaemonClient> {
    const connection = await this.daemon.connection();
    if (connection !== open.connection) {
      const { handle } = await connection.client.openRecording(open.path);
      if (open.changed === undefined) {
        open.handle = handle;
      } else {
        open.handle = (await connection.client.keepChanged(handle, open.changed)).handle;
        await connection.client.closeRecording(handle);
      }
      open.connection = connection;
    }
    return connection.client;
  }

  private async close(open: OpenRecording): Promise<void> {
    // A daemon that is gone has forgotten the handle by itself.
    await open.connection.client.closeRecording(open.handle).catch(() => undefined);
  }

  private async whileBusy<T>(work: () => Promise<T>): Promise<T> {
    this.asking++;
    this.changed.fire();
    try {
      return await work();
    } finally {
      this.asking--;
      this.changed.fire();
    }
  }
}

/** Not by instanceof: the class is in a bundle of its own, which is loaded later than this one. */
function isGone(error: unknown): boolean {
  return (error as { isGone?: unknown } | undefined)?.isGone === true;
}

function isNotFound(error: unknown): boolean {
  return (error as { isNotFound?: unknown } | undefined)?.isNotFound === true;
}

function ascending(cpus: readonly number[]): number[] {
  return [...new Set(cpus)].sort((a, b) => a - b);
}
