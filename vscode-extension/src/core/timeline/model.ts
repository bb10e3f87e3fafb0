// What the timeline draws: the daemon's answers as plain data, which goes through a message to the page that draws it.
//
// Threads, events and objects have the numbers that the daemon gives them; they are the same in all simulations of a recording.
// Times are nanoseconds since the start of the simulated run. Lists of one thing are parallel.

/** What a thread does; the numbers are the protocol's. */
export const State = { running: 1, runnable: 2, blocked: 3, io: 4, sleeping: 5 } as const;
export const stateNames: readonly string[] = ['', 'running', 'waiting for a CPU', 'blocked', 'in I/O or outside', 'sleeping'];

/** Part of a run. */
export interface View {
  readonly fromNs: number;
  readonly toNs: number;
}

export interface TimelineData {
  readonly totalNs: number;
  readonly model: string;
  /** When the run stands still for good, and who waits then. */
  readonly deadlock: { readonly atNs: number; readonly threads: readonly string[] } | undefined;
  readonly view: View;
  readonly pixels: number;
  readonly parallelism: Parallelism;
  readonly levels: readonly Level[];
  readonly classes: Classes;
  readonly path: Path;
  readonly threads: readonly Thread[];
  readonly threadsLeft: number;
  readonly rows: readonly Row[];
  readonly rowsLeft: number;
  readonly cpuRows: readonly CpuRow[];
  readonly objects: readonly TimelineObject[];
  readonly places: readonly Place[];
  readonly eventKinds: readonly string[];
  readonly eventCellPixels: number;
}

/** A value a pixel. */
export interface Parallelism {
  readonly mostRunning: Uint32Array;
  readonly leastRunning: Uint32Array;
  readonly meanRunning: Float32Array;
  readonly mostRunnable: Uint32Array;
  readonly leastRunnable: Uint32Array;
  readonly meanRunnable: Float32Array;
}

export interface Level {
  readonly running: number;
  readonly runnable: number;
  readonly timeNs: number;
}

/** Intel Thread Profiler's classes, in nanoseconds of the interval. */
export interface Classes {
  readonly idle: number;
  readonly serial: number;
  readonly undersubscribed: number;
  readonly parallel: number;
  readonly oversubscribed: number;
}

export interface Path {
  readonly thread: Uint32Array;
  readonly startNs: Float64Array;
  readonly endNs: Float64Array;
  readonly parts: Uint32Array;
  /** 0: it went on in its thread; 1: let go by a call of the thread before; 2: was given its CPU. */
  readonly arrival: Uint8Array;
}

export interface Thread {
  readonly thread: number;
  readonly name: string;
  readonly function: string;
  readonly creator: number | undefined;
  readonly startNs: number;
  readonly endNs: number;
  readonly active: boolean;
  readonly criticalNs: number;
  readonly criticalInViewNs: number;
  readonly times: Times;
  readonly events: number;
  readonly started: boolean;
}

export interface Times {
  readonly runningNs: number;
  readonly runnableNs: number;
  readonly blockedNs: number;
  readonly ioNs: number;
  readonly sleepingNs: number;
}

export interface Row {
  readonly thread: number;
  readonly stretches: Stretches;
  readonly summaries: Summaries;
  readonly events: Events;
  readonly counts: Counts;
}

export interface Stretches {
  readonly startNs: Float64Array;
  readonly endNs: Float64Array;
  readonly state: Uint8Array;
  /** Plus one; 0: on none, or not known. */
  readonly cpu: Uint32Array;
  /** Into the tables, plus one; 0: none. */
  readonly object: Uint32Array;
  readonly place: Uint32Array;
  readonly weight: Float32Array;
  readonly event: Uint32Array;
}

/** Pixels in which whole stretches lie. */
export interface Summaries {
  readonly pixel: Uint32Array;
  /** Five a pixel, in 255ths, in the order of the states. */
  readonly shares: Uint8Array;
  readonly weight: Float32Array;
  readonly place: Uint32Array;
  readonly object: Uint32Array;
}

export interface Events {
  readonly event: Uint32Array;
  readonly timeNs: Float64Array;
  /** Into eventKinds, not plus one. */
  readonly kind: Uint8Array;
  readonly object: Uint32Array;
  readonly place: Uint32Array;
}

export interface Counts {
  readonly cell: Uint32Array;
  readonly kind: Uint8Array;
  readonly count: Uint32Array;
}

/** Who has a CPU, and of the interval how much of it is used. */
export interface CpuRow {
  readonly cpu: number;
  readonly turns: Turns;
  readonly summaries: CpuSummaries;
  readonly busyNs: number;
  /** That have it. */
  readonly threads: number;
  readonly turnsBegun: number;
  /** Turns that begin in it, of threads that come from another CPU. */
  readonly migrations: number;
}

export interface Turns {
  readonly startNs: Float64Array;
  readonly endNs: Float64Array;
  readonly thread: Uint32Array;
  /** 1: the thread's turn before was on another CPU. */
  readonly migrated: Uint8Array;
}

/** Pixels in which whole turns lie. */
export interface CpuSummaries {
  readonly pixel: Uint32Array;
  /** In 255ths. */
  readonly busy: Uint8Array;
  /** That has the longest turn. */
  readonly thread: Uint32Array;
  readonly threads: Uint32Array;
  readonly migrations: Uint32Array;
}

export interface TimelineObject {
  readonly kind: string;
  readonly name: string;
  readonly id: number;
}

export interface Place {
  readonly file: string;
  readonly line: number;
  readonly function: string;
}

/** What is selected, in full. */
export interface Item {
  readonly thread: Thread;
  readonly event: number;
  readonly state: number;
  readonly startNs: number;
  readonly endNs: number;
  readonly kind: string;
  readonly outcome: string;
  readonly callNs: number;
  readonly returnNs: number;
  readonly workNs: number;
  readonly totalNs: number;
  readonly cpu: number | undefined;
  readonly object: TimelineObject | undefined;
  readonly place: Place | undefined;
  readonly workPlace: Place | undefined;
  readonly weight: number;
  readonly criticalNs: number;
  readonly wokenBy: Waker | undefined;
  readonly cpuFrom: Waker | undefined;
  readonly createdAt: Place | undefined;
  /** false: the run ends before the call. */
  readonly made: boolean;
}

export interface Waker {
  readonly thread: number;
  readonly name: string;
  readonly event: number;
  readonly timeNs: number;
  readonly kind: string;
  readonly place: Place | undefined;
}

/** Where a line or a function is at work, for the pixels of a view. */
export interface Found {
  readonly title: string;
  readonly view: View;
  readonly pixels: number;
  readonly rows: readonly { readonly thread: number; readonly pixel: Uint32Array; readonly share: Uint8Array }[];
  readonly timeNs: number;
  readonly nextNs: number | undefined;
  readonly previousNs: number | undefined;
}
