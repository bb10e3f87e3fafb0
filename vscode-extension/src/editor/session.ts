// The recording that this window shows, and at how many CPUs: the one state that annotations, hovers and the status bar
// are drawn from. They listen to onDidChange and read; only commands write.
import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { isNotFound } from '../core/daemonErrors';
import { isUsual, usualMachine, type MachineSettings } from '../core/machineSettings';
import { countWords, filterWords, readFilter, type ShownThreads, type ThreadFilter } from '../core/threadFilter';
import type { ProgramChange } from '../core/whatIf';
import { pickerCpuCounts, usualCpuCounts, Weights } from '../core/weights';
import type { DaemonClient } from '../daemon/client';
import type { Daemon } from '../daemon/daemon';
import { shownKey } from '../core/ids';
import { KeptMachines } from './keptMachines';
import { OpenRecordings, type OpenRecording, type ShownRecording } from './openRecordings';

export type { ShownRecording } from './openRecordings';

const chosenKey = 'longpole.chosenCpus';
const filterKey = 'longpole.shownThreads';

export class Session implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private shown: OpenRecording | undefined;
  /** The recording itself, while a changed program is shown. */
  private unchanged: OpenRecording | undefined;
  private previewed: number | undefined;
  private machineCpus = 1;
  /** As `longpole.cpus` was when its numbers were asked for. */
  private cpusSetting = readCpusSetting();
  private readonly subscription: vscode.Disposable;
  private asking = 0;
  /** Each recording that is asked for has the next number; so has a wish to see none. */
  private asked = 0;
  /** The number of what is shown: of what was asked for before, nothing comes in its place any more. */
  private shownAsked = 0;
  /** Raised by each CPU count that is looked at: an answer about an earlier one is worthless. */
  private previews = 0;
  /** Raised by each what-if, and by its end. */
  private changes = 0;
  /** Other machines and other threads, one after the other: each begins with what the one before has left. */
  private settling: Promise<unknown> = Promise.resolve();
  /** The recording that is being opened: whoever else wants it waits for the same. */
  private opening: { readonly path: string; readonly end: Promise<boolean> } | undefined;
  /** Questions on their way, by what their answers are for and by CPUs. */
  private readonly underway = new WeakMap<Weights, Map<number, Promise<void>>>();
  private readonly recordings: OpenRecordings;
  private readonly machines: KeptMachines;
  private readonly filterDropped = new vscode.EventEmitter<ThreadFilter>();

  readonly onDidChange = this.changed.event;
  /** A recording was opened that has none of the threads that were to be shown: it shows all. */
  readonly onDidDropFilter = this.filterDropped.event;

  constructor(
    daemon: Daemon,
    private readonly memory: vscode.Memento,
  ) {
    this.recordings = new OpenRecordings(daemon);
    this.machines = new KeptMachines(memory);
    this.subscription = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('longpole.cpus')) {
        void this.followSetting();
      }
    });
  }

  get recording(): ShownRecording | undefined {
    return this.shown;
  }

  /** The files of all recordings that are looked at, or about to be. */
  get openPaths(): string[] {
    return [this.shown?.path, this.opening?.path, ...this.recordings.otherPaths].filter((path) => path !== undefined);
  }

  /** The machine that the shown recording is simulated on. */
  get machine(): MachineSettings {
    return this.shown === undefined ? usualMachine : this.machines.of(this.shown.path);
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
    return this.recordings.isUnanswered;
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
      const learnt = this.whileBusy(() => this.learn(shown, unasked, this.machine, this.filter)).catch((error: unknown) => {
        // Of what is closed by now nobody needs anything.
        if (this.shown?.weights === shown.weights) {
          throw error;
        }
      });
      const answered = learnt.finally(() => unasked.forEach((count) => underway.delete(count)));
      unasked.forEach((count) => underway.set(count, answered));
    }
    await Promise.all(unknown.flatMap((count) => underway.get(count) ?? []));
  }

  /** Returns whether it is shown now: another one may have been asked for since. */
  async open(path: string): Promise<boolean> {
    if (this.opening?.path !== path) {
      const end = this.openAnew(path).finally(() => {
        if (this.opening?.end === end) {
          this.opening = undefined;
        }
      });
      this.opening = { path, end };
    }
    return this.opening.end;
  }

  private async openAnew(path: string): Promise<boolean> {
    const asked = ++this.asked;
    const next = await this.whileBusy(() => this.recordings.open(path));
    this.machineCpus = next.connection.info.machineCpus;
    const isShown = await this.put(
      next,
      () => asked > this.shownAsked,
      () => {
        const before = [this.shown, this.unchanged];
        this.shownAsked = asked;
        this.unchanged = undefined;
        return before;
      },
    );
    if (isShown) {
      await this.memory.update(shownKey, path);
    }
    return isShown;
  }

  /** Shows the recorded program as it would be with these changes. */
  async showChanged(words: string, changed: ProgramChange): Promise<void> {
    const original = this.unchanged ?? this.shown;
    if (original === undefined) {
      throw new Error('No recording is shown.');
    }
    const { shownAsked } = this;
    const change = ++this.changes;
    const next = await this.whileBusy(() => this.recordings.change(original, words, changed));
    await this.put(
      next,
      () => shownAsked === this.shownAsked && change === this.changes,
      () => {
        const before = this.unchanged === undefined ? [] : [this.shown];
        this.unchanged ??= this.shown;
        return before;
      },
    );
  }

  /** Shows the recording as it is again. */
  async takeBack(): Promise<void> {
    const { shown, unchanged } = this;
    this.changes++;
    if (unchanged !== undefined && shown !== undefined) {
      this.shown = unchanged;
      this.unchanged = undefined;
      this.changed.fire();
      await this.recordings.close(shown);
      await this.need([...this.choices, ...this.columns]);
    }
  }

  /** Simulates the shown recording on another machine from now on. */
  async setMachine(settings: MachineSettings): Promise<void> {
    if (this.shown === undefined) {
      throw new Error('No recording is shown.');
    }
    const { path } = this.shown;
    await this.settle(
      (open) => open.path === path,
      () => [settings, this.filter],
      () => this.machines.keep(path, settings),
    );
  }

  /** Shows only the part that some threads have in the numbers from now on; `undefined`: that of all. */
  async setFilter(filter: ThreadFilter | undefined): Promise<void> {
    await this.settle(
      () => true,
      () => [this.machine, filter],
      () => this.memory.update(filterKey, filter),
    );
  }

  /**
   * Other numbers of what is shown, as far as they are about that. What the daemon refuses to give them for is not kept; when another
   * recording has taken its place meanwhile, that one's are asked for.
   */
  private async settle(
    isAbout: (open: OpenRecording) => boolean,
    under: () => readonly [MachineSettings, ThreadFilter | undefined],
    keep: () => Thenable<void>,
  ): Promise<void> {
    const work = async (): Promise<void> => {
      let shown = this.shown;
      while (shown !== undefined && isAbout(shown)) {
        const next = await this.learntAnew(shown, ...under());
        if (next !== undefined) {
          this.shown = next;
          this.unchanged &&= { ...this.unchanged, weights: new Weights() };
          break;
        }
        shown = this.shown;
      }
      const kept = keep();
      this.changed.fire();
      await kept;
    };
    const end = this.settling.then(work);
    this.settling = end.catch(() => undefined);
    await end;
    await this.need([...this.choices, ...this.columns]);
  }

  /** undefined: it is not shown any more. */
  private async learntAnew(shown: OpenRecording, machine: MachineSettings, filter: ThreadFilter | undefined): Promise<OpenRecording | undefined> {
    const next = { ...shown, weights: new Weights() };
    try {
      while (this.shown === shown && !next.weights.has(this.cpus)) {
        await this.whileBusy(() => this.learn(next, [this.cpus], machine, filter));
      }
    } catch (error) {
      if (this.shown === shown) {
        throw error;
      }
    }
    return this.shown === shown ? next : undefined;
  }

  /**
   * Shows what is known of a recording as soon as that is enough to be drawn; closes it when it is not wanted any more by then.
   * `makeRoom` returns what has to be closed for it.
   */
  private async put(next: OpenRecording, isWanted: () => boolean, makeRoom: () => readonly (OpenRecording | undefined)[]): Promise<boolean> {
    let dropped: ThreadFilter | undefined;
    let learntUnder = '';
    try {
      // Since it was asked, another machine, other threads or another CPU count may have been chosen.
      while (isWanted() && (learntUnder !== this.settingsOf(next.path) || !next.weights.has(this.chosenCpus))) {
        learntUnder = this.settingsOf(next.path);
        next.weights = new Weights();
        dropped = await this.whileBusy(() => this.learnFirst(next));
      }
    } catch (error) {
      await this.recordings.close(next);
      throw error;
    }
    if (!isWanted()) {
      await this.recordings.close(next);
      return false;
    }
    const before = makeRoom();
    this.shown = next;
    this.previews++;
    this.previewed = undefined;
    const forgotten = dropped && this.memory.update(filterKey, undefined);
    if (dropped !== undefined) {
      this.filterDropped.fire(dropped);
    }
    this.changed.fire();
    await forgotten;
    await Promise.all(before.flatMap((open) => (open === undefined ? [] : [this.recordings.close(open)])));
    await this.need([...this.choices, ...this.columns]);
    return true;
  }

  /** The same as long as the numbers of this recording are to be learnt under the same settings. */
  private settingsOf(path: string): string {
    return JSON.stringify([this.machines.of(path), this.filter]);
  }

  /**
   * Another recording at these CPU counts, without showing it.
   *
   * @throws Error for the user: it has none of the shown threads, or what the daemon says.
   */
  async peek(path: string, cpus: readonly number[]): Promise<ShownRecording> {
    return this.whileBusy(async () => {
      const other = await this.recordings.open(path);
      try {
        await this.learn(other, ascending(cpus), this.machine, this.filter);
      } catch (error) {
        throw this.filter !== undefined && isNotFound(error)
          ? new Error(`That recording has none of the threads that are shown (${filterWords(this.filter)}): show all threads to compare the two.`)
          : error;
      } finally {
        await this.recordings.close(other);
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
    const open = path === undefined || path === this.shown?.path ? this.shown : await this.recordings.other(path);
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
    return this.recordings.ask(open, question);
  }

  /** Closes what `ask` opened. */
  release(): void {
    this.recordings.release();
  }

  clear(): void {
    const before = [this.shown, this.unchanged];
    this.shownAsked = ++this.asked;
    this.shown = undefined;
    this.unchanged = undefined;
    this.previewed = undefined;
    this.changed.fire();
    void this.memory.update(shownKey, undefined);
    before.forEach((open) => void (open && this.recordings.close(open)));
  }

  /** Shows another CPU count, for good. */
  async choose(cpus: number): Promise<void> {
    await this.preview(cpus);
    // It is shown by now: that the editor writes it down takes its time, but not the user's.
    const kept = this.memory.update(chosenKey, cpus);
    const isShown = this.previewed === cpus;
    this.previewed = undefined;
    if (!isShown) {
      await this.need([cpus]);
      this.changed.fire();
    }
    await kept;
  }

  /** Shows another CPU count until the next call; `undefined` goes back to the chosen one. */
  async preview(cpus: number | undefined): Promise<void> {
    const preview = ++this.previews;
    const wanted = cpus ?? this.chosenCpus;
    let shown = this.shown;
    while (shown !== undefined && !shown.weights.has(wanted)) {
      const open = shown;
      await this.whileBusy(() => this.learn(open, [wanted], this.machine, this.filter)).catch((error: unknown) => {
        if (this.shown === open) {
          throw error;
        }
      });
      if (preview !== this.previews) {
        return;
      }
      shown = this.shown;
    }
    this.previewed = cpus;
    this.changed.fire();
  }

  dispose(): void {
    this.shownAsked = Infinity;
    this.previews++;
    this.subscription.dispose();
    this.changed.dispose();
    this.filterDropped.dispose();
  }

  private get chosenCpus(): number {
    return this.memory.get<number>(chosenKey) ?? this.cpusBySetting(this.cpusSetting);
  }

  private cpusBySetting(setting: number): number {
    return setting > 0 ? setting : this.machineCpus;
  }

  /** Another CPU count is drawn once it is known, as when it is chosen. */
  private async followSetting(): Promise<void> {
    const setting = readCpusSetting();
    if (this.memory.get<number>(chosenKey) === undefined) {
      // What the daemon cannot tell is asked for again by what needs it, which says so.
      await this.need([this.cpusBySetting(setting)]).catch(() => undefined);
    }
    if (setting === readCpusSetting()) {
      this.cpusSetting = setting;
      this.changed.fire();
    }
  }

  /** What is drawn first of a recording, under the filter; where that leaves no thread of it, without: then returns it. */
  private async learnFirst(open: OpenRecording): Promise<ThreadFilter | undefined> {
    const { filter } = this;
    const machine = this.machines.of(open.path);
    // On a machine each count is simulated by itself: the others follow once there is something to see.
    const cpus = isUsual(machine) ? ascending([...this.choices, ...this.columns]) : [this.chosenCpus];
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

  private learn(open: OpenRecording, cpus: readonly number[], machine: MachineSettings, filter: ThreadFilter | undefined): Promise<void> {
    return this.recordings.learn(open, cpus, machine, filter);
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

function readCpusSetting(): number {
  return vscode.workspace.getConfiguration('longpole').get<number>('cpus', 0);
}

function ascending(cpus: readonly number[]): number[] {
  return [...new Set(cpus)].sort((a, b) => a - b);
}
