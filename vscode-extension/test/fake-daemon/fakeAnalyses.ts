// What the fake daemon says of locks, threads and what-ifs: a producer that is all there is on the path but what waiting adds, and a
// program that can be made faster.
import type { ServerWritableStream } from '@grpc/grpc-js';
import type { AllocateRequest, AllocateResponse, BoundRequest, BoundResponse } from '../../src/protocol/longpole/v1/allocation';
import type {
  GetLeadsRequest,
  GetLeadsResponse,
  GetObjectsRequest,
  GetObjectsResponse,
  GetThreadsRequest,
  GetThreadsResponse,
  WhatIfRequest,
  WhatIfResponse,
} from '../../src/protocol/longpole/v1/analyses';
import type { GetQuartzRequest, GetQuartzResponse } from '../../src/protocol/longpole/v1/quartz';
import type { Machine } from '../../src/protocol/longpole/v1/simulation';
import { AllocateResponse as Allocated, BoundResponse as Bounds } from '../../src/protocol/longpole/v1/allocation';
import {
  GetObjectsResponse as Objects,
  GetThreadsResponse as Threads,
  WhatIfResponse as WhatIf,
} from '../../src/protocol/longpole/v1/analyses';
import { GetQuartzResponse as Quartz } from '../../src/protocol/longpole/v1/quartz';

const s = 1e9;

export function fakeObjects({ cpus }: GetObjectsRequest, file: string, totalNs: (cpus: number) => number): GetObjectsResponse {
  const total = totalNs(cpus);
  const place = (line: number, name: string): object => ({ file, line, function: name });
  return Objects.fromPartial({
    totalNs: total,
    objects: [
      {
        kind: 'semaphore',
        name: 'items',
        acquisitions: 1204n,
        contended: 311n,
        waitNs: 4.1 * s,
        longestWaitNs: 0.2 * s,
        queueNs: [s, 0.4 * s, 0.1 * s],
        freedTotalNs: total * 0.75,
        uses: [
          { place: place(10, 'consume'), acquisitions: 1200n, waitNs: 4.1 * s },
          { place: place(5, 'produce'), acquisitions: 4n, waitNs: 0 },
        ],
        collisions: [{ waker: 'producer 1', waiter: 'consumer', times: 300n, waitNs: 4 * s }],
      },
      {
        kind: 'mutex',
        name: 'buffer',
        acquisitions: 2408n,
        contended: 12n,
        waitNs: 0.01 * s,
        longestWaitNs: 0.001 * s,
        holdNs: 0.3 * s,
        longestHoldNs: 0.01 * s,
        criticalNs: 0.1 * s,
        freedTotalNs: total,
        uses: [{ place: place(5, 'produce'), acquisitions: 2408n, waitNs: 0.01 * s }],
        collisions: [],
      },
      // Of an object on the heap: called after where it was first used.
      { kind: 'mutex', name: 'heap.c:7', acquisitions: 3n, uses: [{ place: place(9, 'consume'), acquisitions: 3n, waitNs: 0 }] },
    ],
    rowsLeft: 0n,
  });
}

/** By their places in the recording. */
export const fakeThreadNames = [
  { name: 'main', started: '' },
  { name: 'consumer', started: 'consume' },
  { name: 'producer 1', started: 'produce' },
  { name: 'producer 2', started: 'produce' },
] as const;

export function fakeThreads({ cpus }: GetThreadsRequest, totalNs: (cpus: number) => number): GetThreadsResponse {
  const total = totalNs(cpus);
  const row = (thread: number, critical: number): object => ({
    thread,
    name: fakeThreadNames[thread]?.name,
    function: fakeThreadNames[thread]?.started,
    startNs: 0.1 * s * thread,
    endNs: total,
    runningNs: s,
    waitingNs: 0.02 * s,
    blockedNs: 0.4 * s,
    criticalNs: critical * total,
    criticalWaitingNs: 0,
  });
  return Threads.fromPartial({
    totalNs: total,
    threads: [row(2, 0.6), row(1, 0.3), row(0, 0.1), row(3, 0)],
    rowsLeft: 3n,
  });
}

export function fakeQuartz({ cpus }: GetQuartzRequest, file: string, totalNs: (cpus: number) => number): GetQuartzResponse {
  const total = totalNs(cpus);
  const times = (part: number): object => ({
    normalizedNs: part * total,
    busy: { timeNs: part * 2 * total, averageRunnable: 2.4 },
    blocked: { timeNs: part * total, averageRunnable: 1.2 },
  });
  const row = (kind: string, name: string, line: number, part: number, children: readonly [number, number][]): object => ({
    kind,
    name,
    file: line === 0 ? '' : file,
    line,
    calls: kind === 'program' || kind === 'thread' ? undefined : 3n,
    self: times(part / 2),
    total: times(part),
    children: children.map(([child, share]) => ({ row: child, normalizedNs: share * total, calls: 2n })),
  });
  return Quartz.fromPartial({
    totalNs: total,
    mostBusy: 4,
    rows: [
      row('program', '', 0, 1, [[1, 0.7], [2, 0.2]]),
      row('function', 'produce', 3, 0.7, [[3, 0.1], [1, 0.3]]),
      row('thread', 'consumer', 0, 0.2, [[4, 0.2]]),
      row('semaphore', 'items', 0, 0.1, []),
      row('function', 'consume', 8, 0.2, []),
    ],
    rowsLeft: 0n,
  });
}

export function fakeLeads({ upToCpus }: GetLeadsRequest): GetLeadsResponse {
  return { leads: [{ fromCpus: 1, toCpus: upToCpus, function: 'produce' }], headrooms: [] };
}

/** How much of the time of `produce` is left. */
export function leftOf({ speeds, freed }: Pick<WhatIfRequest, 'speeds' | 'freed'>): number {
  const saved = speeds.find(({ part }) => part === 'function:produce')?.percent ?? 0;
  return (1 - saved / 100) * (freed.includes('items') ? 0.75 : 1);
}

export function fakeWhatIf(request: WhatIfRequest, totalNs: (cpus: number, left: number) => number): Pick<WhatIfResponse, 'runs'> {
  const left = leftOf(request);
  return WhatIf.fromPartial({
    runs: request.cpus.map((cpus) => ({
      cpus,
      beforeNs: totalNs(cpus, 1),
      totalNs: totalNs(cpus, left),
      speedup: totalNs(1, left) / totalNs(cpus, left),
    })),
  });
}

/** What a machine adds to everything that computes: nothing, as a latency of the same number of nanoseconds a CPU. */
export function burden(machine: Machine | undefined): number {
  return Number(machine?.latencyNs ?? 0n) + (machine?.threads.some(({ cpu }) => cpu !== undefined) === true ? s : 0);
}

/** Finds one binding at once; a search of 100 tests ends with it, any other goes on until it is cancelled. */
export function fakeAllocate(call: ServerWritableStream<AllocateRequest, AllocateResponse>): void {
  const assignment = [
    { thread: 'consumer', cpu: 1 },
    { thread: 'producer 1', cpu: 0 },
  ];
  call.write(Allocated.fromPartial({ event: { $case: 'progress', value: { tests: 7n, totalNs: 1.1 * s, assignment, algorithm: 'guided', share: 0.01 } } }));
  if (call.request.tests === 100n && call.request.all) {
    const others = [{ algorithm: 'guided', totalNs: 1.02 * s, tests: 96n }];
    const found = { assignment, totalNs: s, model: 'direct', algorithm: 'greedy', tests: 4n, disturbed: { leastNs: s, mostNs: 1.01 * s }, others };
    const value = { ...found, unboundNs: 1.25 * s, boundNs: 0.9 * s, betterExists: true, code: '// binds the threads\n' };
    call.write(Allocated.fromPartial({ event: { $case: 'result', value } }));
    call.end();
  }
}

export function fakeBound({ cpus }: BoundRequest, totalNs: (cpus: number) => number): BoundResponse {
  return Bounds.fromPartial({ threads: 4, signals: 10n, workNs: s, rows: cpus.map((count) => ({ cpus: count, latencyNs: 0n, bound: 1.2, totalNs: totalNs(count) / 4 })) });
}
