// The recordings that the daemon holds open for this window, and what it is asked about them. A daemon that was started again is given
// their files anew; one that dies over a question is asked once more.
import { isGone } from '../core/daemonErrors';
import { isUsual, type MachineSettings } from '../core/machineSettings';
import type { ThreadFilter } from '../core/threadFilter';
import { Weights } from '../core/weights';
import type { ProgramChange } from '../core/whatIf';
import type { DaemonClient } from '../daemon/client';
import type { Connection, Daemon } from '../daemon/daemon';
import type { Recording } from '../protocol/longpole/v1/recording';

export interface ShownRecording {
  readonly path: string;
  readonly info: Recording;
  readonly weights: Weights;
  /** What was changed in the program that was recorded, in words; empty: nothing. */
  readonly change: string;
}

/** A recording with the daemon that holds it open, under a handle that dies with that daemon. */
export interface OpenRecording extends ShownRecording {
  weights: Weights;
  connection: Connection;
  handle: bigint;
  readonly changed?: ProgramChange;
}

export class OpenRecordings {
  private lastFailed = false;
  /** Recordings that were asked about without being shown. */
  private readonly others = new Map<string, Promise<OpenRecording>>();

  constructor(private readonly daemon: Daemon) {}

  /** Whether the last question found no daemon that lived to answer it. */
  get isUnanswered(): boolean {
    return this.lastFailed;
  }

  /** To be closed by whoever opens it. */
  async open(path: string): Promise<OpenRecording> {
    const connection = await this.daemon.connection();
    const info = await connection.client.openRecording(path);
    return { path, info, weights: new Weights(), change: '', connection, handle: info.handle };
  }

  /** The recorded program as it would be with these changes, open besides. */
  async change(original: OpenRecording, words: string, changed: ProgramChange): Promise<OpenRecording> {
    const client = await this.clientFor(original);
    const info = await client.keepChanged(original.handle, changed);
    return { path: original.path, info, weights: new Weights(), change: words, connection: original.connection, handle: info.handle, changed };
  }

  async close(open: OpenRecording): Promise<void> {
    // A daemon that is gone has forgotten the handle by itself.
    await open.connection.client.closeRecording(open.handle).catch(() => undefined);
  }

  get otherPaths(): string[] {
    return [...this.others.keys()];
  }

  /** One that is not shown; it stays open for the next question, until `release`. */
  other(path: string): Promise<OpenRecording> {
    let open = this.others.get(path);
    if (open === undefined) {
      open = this.open(path);
      // What could not be opened can be tried again.
      open.catch(() => this.others.delete(path));
      this.others.set(path, open);
    }
    return open;
  }

  /** Closes what `other` opened. */
  release(): void {
    for (const open of this.others.values()) {
      void open.then((other) => this.close(other)).catch(() => undefined);
    }
    this.others.clear();
  }

  ask<T>(open: OpenRecording, question: (client: DaemonClient, handle: bigint) => Promise<T>): Promise<T> {
    return this.persevere(async () => question(await this.clientFor(open), open.handle));
  }

  /** Asks for everything there is to know at these CPU counts. */
  async learn(open: OpenRecording, cpus: readonly number[], machine: MachineSettings, filter: ThreadFilter | undefined): Promise<void> {
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
}
