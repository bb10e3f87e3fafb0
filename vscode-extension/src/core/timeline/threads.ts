// Which threads are shown, and in which order.
import type { Thread } from './model';

export type SortBy = 'number' | 'start' | 'critical' | 'creator';

export interface ThreadChoice {
  readonly sortBy: SortBy;
  /** Leaves out threads that do nothing in the interval. */
  readonly hideIdle: boolean;
  /** Chosen by hand; undefined: all. */
  readonly picked: ReadonlySet<number> | undefined;
}

export interface ShownThread {
  readonly thread: Thread;
  /** How deep below its creators it stands, when sorted so. */
  readonly depth: number;
}

export function shownThreads(threads: readonly Thread[], choice: ThreadChoice): ShownThread[] {
  const wanted = threads.filter(
    (thread) => thread.started && (choice.picked?.has(thread.thread) ?? true) && (!choice.hideIdle || thread.active),
  );
  if (choice.sortBy === 'creator') {
    return byCreator(wanted);
  }
  const order: Record<Exclude<SortBy, 'creator'>, (a: Thread, b: Thread) => number> = {
    number: (a, b) => a.thread - b.thread,
    start: (a, b) => a.startNs - b.startNs || a.thread - b.thread,
    critical: (a, b) => b.criticalNs - a.criticalNs || a.thread - b.thread,
  };
  return [...wanted].sort(order[choice.sortBy]).map((thread) => ({ thread, depth: 0 }));
}

/** Each thread below the nearest shown one that led to it. Not recursive: a chain of creators may be long. */
function byCreator(threads: readonly Thread[]): ShownThread[] {
  const shown = new Set(threads.map(({ thread }) => thread));
  const children = new Map<number, Thread[]>();
  const roots: Thread[] = [];
  for (const thread of [...threads].sort((a, b) => a.startNs - b.startNs || a.thread - b.thread)) {
    const { creator } = thread;
    if (creator !== undefined && creator !== thread.thread && shown.has(creator)) {
      children.set(creator, [...(children.get(creator) ?? []), thread]);
    } else {
      roots.push(thread);
    }
  }
  const result: ShownThread[] = [];
  const seen = new Set<number>();
  const stack = roots.reverse().map((thread): ShownThread => ({ thread, depth: 0 }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (!seen.has(next.thread.thread)) {
      seen.add(next.thread.thread);
      result.push(next);
      const { depth } = next;
      stack.push(...(children.get(next.thread.thread) ?? []).reverse().map((thread) => ({ thread, depth: depth + 1 })));
    }
  }
  return result;
}
