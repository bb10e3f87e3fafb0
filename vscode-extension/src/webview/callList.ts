// The calls of one thread of a run in the visible interval, for the table: asked for when it shows them.
import type { CallsRequest, ToPanel } from '../core/timeline/messages';
import type { Item, Thread, View } from '../core/timeline/model';

export class CallList {
  private asked = '';
  private calls: readonly Item[] | undefined;

  constructor(
    private readonly lane: number,
    private readonly post: (request: CallsRequest) => void,
  ) {}

  /** undefined: they are on their way. */
  of(generation: number, thread: Thread, view: View): readonly Item[] | undefined {
    const asked = JSON.stringify([generation, thread.thread, view]);
    if (asked !== this.asked) {
      this.asked = asked;
      this.calls = undefined;
      const timeNs = Math.min(Math.max(view.fromNs, thread.startNs), thread.endNs);
      this.post({ kind: 'calls', generation, lane: this.lane, thread: thread.thread, timeNs, view });
    }
    return this.calls;
  }

  take({ generation, thread, view, calls }: ToPanel & { kind: 'calls' }): void {
    if (JSON.stringify([generation, thread, view]) === this.asked) {
      this.calls = calls;
    }
  }
}
