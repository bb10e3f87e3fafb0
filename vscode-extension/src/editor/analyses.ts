// What the side bar's lists are made of: asked for when a list is looked at, and remembered until the window shows another
// program. Many lists may ask for the same answer.
import type { GetObjectsResponse, GetThreadsResponse } from '../protocol/longpole/v1/analyses';
import type { GetQuartzResponse } from '../protocol/longpole/v1/quartz';
import { rankedScheduler } from '../core/machineSettings';
import type { DaemonClient, RankedAt } from '../daemon/client';
import type { Session, ShownRecording } from './session';

/** More than anyone reads; the daemon's limit is higher. */
export const mostRows = 200;
/** Counts that the user came through on the way to another one are not worth keeping. */
const mostKept = 24;

export class Analyses {
  private readonly answers = new Map<string, Promise<unknown>>();
  private of: ShownRecording | undefined;

  constructor(private readonly session: Session) {}

  objects(): Promise<GetObjectsResponse> {
    return this.answer('objects', (client, handle, at) => client.getObjects(handle, at, mostRows));
  }

  threads(): Promise<GetThreadsResponse> {
    return this.answer('threads', (client, handle, at) => client.getThreads(handle, at, mostRows));
  }

  quartz(): Promise<GetQuartzResponse> {
    return this.answer('quartz', (client, handle, at) => client.getQuartz(handle, at, mostRows));
  }

  private answer<T>(what: string, ask: (client: DaemonClient, handle: bigint, at: RankedAt) => Promise<T>): Promise<T> {
    const { recording, cpus } = this.session;
    if (this.of !== recording) {
      this.of = recording;
      this.answers.clear();
    }
    const at: RankedAt = { cpus, scheduler: rankedScheduler(this.session.machine) };
    const key = `${what} ${cpus}`;
    let answer = this.answers.get(key) as Promise<T> | undefined;
    if (answer === undefined) {
      answer = this.session.ask(undefined, (client, handle) => ask(client, handle, at));
      this.answers.set(key, answer);
      answer.catch(() => this.answers.delete(key));
      const [oldest] = this.answers.keys();
      if (this.answers.size > mostKept && oldest !== undefined) {
        this.answers.delete(oldest);
      }
    }
    return answer;
  }
}
