// Which threads' part of the numbers is shown: by name, or by the function that they were created with, so that the choice outlives
// the recording it was made in. Nothing else of a recording is left out: a share is one of the whole program's critical path.
import { formatCountOf } from './format';
import { shortName } from './functionNames';

export interface ThreadFilter {
  readonly names: readonly string[];
  /** Functions that threads were created with. */
  readonly functions: readonly string[];
}

/** What the status bar and the lists need to say of it. */
export interface ShownThreads {
  /** Places in the recording of the threads that are shown. */
  readonly places: readonly number[];
  /** All that the recording has. */
  readonly total: number;
}

const mostNamed = 3;

/** What is kept of it; undefined: nothing that makes sense. */
export function readFilter(kept: unknown): ThreadFilter | undefined {
  const { names, functions } = (kept ?? {}) as Partial<Record<keyof ThreadFilter, unknown>>;
  const texts = (list: unknown): string[] => (Array.isArray(list) ? list.filter((text) => typeof text === 'string') : []);
  const filter = { names: texts(names), functions: texts(functions) };
  return isEmpty(filter) ? undefined : filter;
}

export function isEmpty({ names, functions }: ThreadFilter): boolean {
  return names.length + functions.length === 0;
}

/** "consumer, producer 1 and all that run produce". */
export function filterWords({ names, functions }: ThreadFilter): string {
  const all = [...names, ...functions.map((name) => `all that run ${shortName(name)}`)];
  const named = all.slice(0, all.length > mostNamed ? mostNamed - 1 : mostNamed);
  const last = all.length > named.length ? `${all.length - named.length} others` : named.pop();
  return named.length === 0 ? (last ?? '') : `${named.join(', ')} and ${last}`;
}

/** "3 of 9 threads". */
export function countWords({ places, total }: ShownThreads): string {
  return `${places.length} of ${formatCountOf(total, 'thread')}`;
}
