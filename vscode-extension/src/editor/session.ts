// The recording that this window shows, and at how many CPUs: the one state that annotations, hovers and the status bar
// are drawn from. They listen to onDidChange and read; only commands write.
import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { pickerCpuCounts, usualCpuCounts, Weights } from '../core/weights';
import type { DaemonClient } from '../daemon/client';
import type { Connection, Daemon } from '../daemon/daemon';
import type { Recording } from '../protocol/longpole/v1/longpole';

export interface ShownRecording {
  readonly path: string;
  readonly info: Recording;
  readonly weights: Weights;
}

/** A recording with the daemon that holds it open, under a handle that dies with that daemon. */
interface OpenRecording extends ShownRecording {
  connection: Connection;
  handle: bigint;
}

const chosenKey = 'longpole.chosenCpus';
/** The path of the recording that is shown, for the next time the window opens. */
const shownKey = 'longpole.shownRecording';

export class Session implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private shown: OpenRecording | undefined;
  private previewed: number | undefined;
  private machineCpus = 1;
  private asking = 0;
  /** Raised by whatever makes an answer still on its way worthless. */
  private turn = 0;
  /** Recordings that were asked about without being shown. */
  private readonly others = new Map<string, Promise<OpenRecording>>();

  readonly onDidChange = this.changed.event;

  constructor(
    private readonly daemon: Daemon,
    private readonly memory: vscode.Memento,
  ) {}

  get recording(): ShownRecording | undefined {
    return this.shown;
  }

  /** The CPU count that everything is shown for. */
  get cpus(): number {
    return this.previewed ?? this.chosenCpus;
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

  /** Makes sure that everything is known at these CPU counts, with one question for those that are not. */
  async need(cpus: readonly number[]): Promise<void> {
    const shown = this.shown;
    const missing = cpus.filter((count) => shown !== undefined && !shown.weights.has(count));
    if (shown !== undefined && missing.length > 0) {
      await this.whileBusy(() => this.learn(shown, missing));
    }
  }

  async open(path: string): Promise<void> {
    const connection = await this.daemon.connection();
    const info = await this.whileBusy(() => connection.client.openRecording(path));
    await this.show(connection, path, info);
  }

  /** Shows a recording that the daemon has open already. */
  async show(connection: Connection, path: string, info: Recording): Promise<void> {
    const before = this.shown;
    const turn = ++this.turn;
    this.machineCpus = connection.info.machineCpus;
    const next: OpenRecording = { path, info, weights: new Weights(), connection, handle: info.handle };
    await this.whileBusy(() => this.learn(next, ascending([...this.choices, ...this.columns])));
    if (turn !== this.turn) {
      return;
    }
    this.shown = next;
    this.previewed = undefined;
    this.changed.fire();
    await this.memory.update(shownKey, path);
    if (before !== undefined) {
      await this.close(before);
    }
  }

  /** Another recording at these CPU counts, without showing it. */
  async peek(path: string, cpus: readonly number[]): Promise<ShownRecording> {
    return this.whileBusy(async () => {
      const connection = await this.daemon.connection();
      const info = await connection.client.openRecording(path);
      const other: OpenRecording = { path, info, weights: new Weights(), connection, handle: info.handle };
      try {
        await this.learn(other, ascending(cpus));
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
    if (open === undefined) {
      throw new Error('No recording is shown.');
    }
    const client = await this.clientFor(open);
    return question(client, open.handle);
  }

  /** Closes what `ask` opened. */
  release(): void {
    for (const open of this.others.values()) {
      void open.then((other) => this.close(other)).catch(() => undefined);
    }
    this.others.clear();
  }

  clear(): void {
    const before = this.shown;
    this.turn++;
    this.shown = undefined;
    this.previewed = undefined;
    this.changed.fire();
    void this.memory.update(shownKey, undefined);
    if (before !== undefined) {
      void this.close(before);
    }
  }

  /** Shows another CPU count, for good. */
  async choose(cpus: number): Promise<void> {
    await this.memory.update(chosenKey, cpus);
    await this.preview(cpus);
    this.previewed = undefined;
    this.changed.fire();
  }

  /** Shows another CPU count until the next call; `undefined` goes back to the chosen one. */
  async preview(cpus: number | undefined): Promise<void> {
    const turn = ++this.turn;
    const wanted = cpus ?? this.chosenCpus;
    const shown = this.shown;
    if (shown !== undefined && !shown.weights.has(wanted)) {
      await this.whileBusy(() => this.learn(shown, [wanted]));
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
  }

  private get chosenCpus(): number {
    const setting = vscode.workspace.getConfiguration('longpole').get<number>('cpus', 0);
    const fallback = setting > 0 ? setting : this.machineCpus;
    return this.memory.get<number>(chosenKey) ?? fallback;
  }

  /** Asks for everything there is to know at these CPU counts. */
  private async learn(open: OpenRecording, cpus: readonly number[]): Promise<void> {
    const client = await this.clientFor(open);
    const [predictions, lines, functions] = await Promise.all([
      client.predict(open.handle, cpus),
      client.getLines(open.handle, cpus),
      client.getFunctions(open.handle, cpus),
    ]);
    open.weights.addPredictions(predictions.predictions);
    open.weights.add(cpus, lines, functions);
  }

  private opened(path: string): Promise<OpenRecording> {
    let open = this.others.get(path);
    if (open === undefined) {
      open = this.daemon.connection().then(async (connection) => {
        const info = await connection.client.openRecording(path);
        return { path, info, weights: new Weights(), connection, handle: info.handle };
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
      open.handle = (await connection.client.openRecording(open.path)).handle;
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

function ascending(cpus: readonly number[]): number[] {
  return [...new Set(cpus)].sort((a, b) => a - b);
}
