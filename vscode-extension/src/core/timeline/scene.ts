// What is on the screen at one moment: everything that the drawing needs to know, and nothing that changes by itself.
import type { Layout } from './layout';
import type { CpuRow, Found, Item, TimelineData, View } from './model';
import { wholeRun } from './scale';
import type { ColourBy, Colouring } from './theme';
import type { ShownThread } from './threads';

/** One simulated run. Two of them share the time axis when they are compared. */
export interface Lane {
  /** "8 CPUs, linux" */
  readonly title: string;
  readonly cpus: number;
  /** Threads run on CPUs; else, they share them, or have one each. */
  readonly hasCpus: boolean;
  /** Of the visible interval, as far as they are known. */
  readonly cpuTotals: readonly CpuRow[];
  /** Undefined until the daemon has answered. */
  readonly data: TimelineData | undefined;
  /** The whole run, in few pixels. */
  readonly overview: TimelineData | undefined;
  readonly threads: readonly ShownThread[];
  readonly selection: Item | undefined;
  readonly found: Found | undefined;
  /** When some binding of threads to CPUs surely lets the run end; undefined: not asked. */
  readonly boundNs?: number | undefined;
}

export interface Scene {
  readonly layout: Layout;
  readonly view: View;
  readonly lanes: readonly Lane[];
  readonly colourBy: ColourBy;
  /** Of what has a colour to be told apart; names that are not in it have their own. */
  readonly colouring?: Colouring | undefined;
  readonly rowsAre: 'threads' | 'cpus';
  /** An interval that is being marked. */
  readonly marked: View | undefined;
  /** The selection is drawn bright; it flashes when it has been found by a key. */
  readonly bright: boolean;
}

interface Runs {
  readonly lanes: readonly Pick<Lane, 'overview'>[];
}

/** All of the longest run: shorter ones end before it. */
export function wholeOf(runs: Runs): View {
  return wholeRun(totalOf(runs));
}

/** How long the longest of the runs takes; 0: none is there yet. */
export function totalOf({ lanes }: Runs): number {
  return Math.max(0, ...lanes.map(({ overview }) => overview?.totalNs ?? 0));
}

/** A row a CPU; one for all of them where threads are on none. */
export function cpuRows({ cpus, hasCpus }: Pick<Lane, 'cpus' | 'hasCpus'>): number {
  return hasCpus ? cpus : 1;
}

export function rowCount(lane: Lane, rowsAre: Scene['rowsAre']): number {
  return rowsAre === 'threads' ? lane.threads.length : cpuRows(lane);
}
