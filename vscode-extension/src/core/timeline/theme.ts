// The timeline's colours. The panel takes them from the editor's theme; a unit test takes these.
import type { Hue } from './symbols';

export type ColourBy = 'state' | 'function' | 'weight' | 'lock';

export interface Theme {
  readonly background: string;
  readonly foreground: string;
  readonly quiet: string;
  readonly grid: string;
  readonly running: string;
  readonly runnable: string;
  readonly blocked: string;
  readonly io: string;
  readonly path: string;
  readonly selection: string;
  readonly found: string;
  readonly hues: Readonly<Record<Hue, string>>;
  /** Coolest first, which is seen, too: a thread that runs off the critical path is not an idle one. */
  readonly heat: readonly string[];
  /** For things that are only to be told apart. */
  readonly categories: readonly string[];
}

export const darkTheme: Theme = {
  background: '#181818',
  foreground: '#cccccc',
  quiet: '#8b8b8b',
  grid: '#2a2a2a',
  running: '#3b8fd0',
  runnable: '#e0614f',
  blocked: '#6a6a6a',
  io: '#9a8fd8',
  path: '#ffb93c',
  selection: '#ffffff',
  found: '#5fd38d',
  hues: {
    mutex: '#4fc1a0',
    rwlock: '#5ab0c8',
    semaphore: '#ea7fb3',
    condition: '#b592f0',
    barrier: '#e8935a',
    thread: '#b8b8b8',
    device: '#c9bf7a',
    channel: '#8fb573',
  },
  heat: ['#756e60', '#83755a', '#937e50', '#a78847', '#bd9541', '#d4a23d', '#eaad3c', '#ffb93c'],
  categories: ['#5b9bd5', '#d78b4a', '#6fb98f', '#c57bb0', '#b9b14e', '#8f8fdc', '#d2706f', '#56b5bd', '#a58a6d', '#94ab5c'],
};

export const lightTheme: Theme = {
  background: '#ffffff',
  foreground: '#3b3b3b',
  quiet: '#757575',
  grid: '#ececec',
  running: '#4a93cf',
  runnable: '#cf4a36',
  blocked: '#a8a8a8',
  io: '#7a6cc4',
  path: '#d98200',
  selection: '#000000',
  found: '#1f8a4c',
  hues: {
    mutex: '#0f8f6c',
    rwlock: '#1b7f99',
    semaphore: '#c23b82',
    condition: '#8250c9',
    barrier: '#c05f1c',
    thread: '#5c5c5c',
    device: '#8a7d1f',
    channel: '#55803a',
  },
  heat: ['#938b7a', '#96865e', '#997e46', '#987330', '#91661d', '#85560f', '#754305', '#622c00'],
  categories: ['#3f80bd', '#c4722c', '#3f9468', '#a95a94', '#8f871f', '#6a6ac4', '#b84f4e', '#2f8f98', '#846a4c', '#6f8637'],
};

/** How many colours there are for things that are only to be told apart. */
export const categoryCount = 10;

/** Which of these colours names have; undefined: one of those that are too many to have their own. */
export type Colouring = ReadonlyMap<string, number | undefined>;

/** The colour for things of this name: the same in every picture, as long as nothing beside it has the same. `other`: of those that are
 * too many. */
export function categoryOf(name: string, theme: Theme, colouring?: Colouring, other = theme.running): string {
  const category = colouring?.has(name) === true ? colouring.get(name) : hashOf(name);
  return category === undefined ? other : (theme.categories[category] ?? theme.running);
}

/** Colours for names that are seen together, the most important first: no two of the first `categoryCount` have the same. A name keeps
 * its own unless one that stands before it has that; it then gets one that nobody has. */
export function tellApart(names: readonly string[]): Colouring {
  const seen = names.slice(0, categoryCount);
  const colouring = new Map<string, number | undefined>();
  const taken = new Set<number>();
  for (const name of seen) {
    const own = hashOf(name);
    if (!taken.has(own)) {
      taken.add(own);
      colouring.set(name, own);
    }
  }
  for (const name of seen.filter((each) => !colouring.has(each))) {
    let free = hashOf(name);
    while (taken.has(free)) {
      free = (free + 1) % categoryCount;
    }
    taken.add(free);
    colouring.set(name, free);
  }
  names.slice(categoryCount).forEach((name) => colouring.set(name, undefined));
  return colouring;
}

function hashOf(name: string): number {
  let hash = 2166136261;
  for (let at = 0; at < name.length; at++) {
    hash = Math.imul(hash ^ name.charCodeAt(at), 16777619);
  }
  return (hash >>> 8) % categoryCount;
}

/** The heat of a stretch's weight: 0 is cold, one and more hot; a stretch that slows the whole down is as hot. */
export function heatOf(weight: number, theme: Theme): string {
  const steps = theme.heat.length;
  const step = Math.min(steps - 1, Math.ceil(Math.min(1, Math.abs(weight)) * (steps - 1) - 1e-6));
  return theme.heat[step] ?? theme.running;
}
