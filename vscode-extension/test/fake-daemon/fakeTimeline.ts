// A small simulated run for the timeline, on any number of CPUs: main starts producers, each computes and posts, a consumer takes what
// they made one at a time. Cut into pixels as the daemon does it: what lies within one pixel is summarised, all else is as it is.
import {
  FindInTimelineResponse,
  GetTimelineItemRequest_Step as Step,
  GetTimelineItemResponse,
  GetTimelineResponse,
  TimelineColour,
  TimelineState,
  type FindInTimelineRequest,
  type GetTimelineItemRequest,
  type GetTimelineRequest,
} from '../../src/protocol/longpole/v1/timeline';

interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly state: TimelineState;
  readonly cpu: number;
  readonly object: number;
  readonly place: number;
  readonly weight: number;
  readonly event: number;
}

interface Call {
  readonly time: number;
  readonly until: number;
  readonly kind: string;
  readonly object: number;
  readonly place: number;
  readonly wokenBy?: { readonly thread: number; readonly event: number };
}

interface FakeThread {
  readonly name: string;
  readonly function: string;
  readonly creator: number | undefined;
  readonly stretches: Stretch[];
  readonly calls: Call[];
}

interface Run {
  readonly totalNs: number;
  readonly threads: FakeThread[];
  readonly path: { readonly thread: number; readonly start: number; readonly end: number }[];
}

const ms = 1e6;
const eventKinds = ['create', 'post', 'wait', 'join', 'end'];
const objects = [
  { kind: 'semaphore', name: 'items', id: 0 },
  { kind: 'thread-end', name: 'consumer', id: 1 },
];
/** Harmless only as text. */
export const hostileName = `<img src=x onerror="document.title='bad'">'"&\u{1f600}${'long'.repeat(2500)}`;
const producers = ['producer 1', 'producer 2', 'producer 3', hostileName];

function places(file: string): { file: string; line: number; function: string }[] {
  return [
    { file, line: 5, function: 'produce' },
    { file, line: 10, function: 'consume' },
    { file, line: 14, function: 'main' },
  ];
}

/** A recording of the same program with producers that take half the time. */
export const fastHandle = 100n;

/** On one CPU the producers go one after the other, and where a thread is bound; on four side by side. */
function simulate({ handle, simulation }: Pick<GetTimelineRequest, 'handle' | 'simulation'>): Run {
  const isBound = (simulation?.machine?.threads.length ?? 0) > 0;
  const cpus = isBound ? 1 : (simulation?.cpus ?? 1);
  const producing = (handle === fastHandle ? 100 : 200) * ms;
  const threads: FakeThread[] = [];
  const add = (name: string, started: string, creator?: number): FakeThread => {
    const made: FakeThread = { name, function: started, creator, stretches: [], calls: [] };
    threads.push(made);
    return made;
  };
  const stretch = (thread: FakeThread, start: number, end: number, state: TimelineState, more: Partial<Stretch> = {}): void => {
    if (end > start) {
      thread.stretches.push({ start, end, state, cpu: 0, object: 0, place: 0, weight: 0, event: thread.calls.length, ...more });
    }
  };
  const running = TimelineState.TIMELINE_STATE_RUNNING;
  const blocked = TimelineState.TIMELINE_STATE_BLOCKED;
  const main = add('main', '', undefined);
  const consumer = add('consumer', 'consume', 0);
  const free = Array.from({ length: Math.min(cpus, 4) }, () => 50 * ms);
  stretch(main, 0, 50 * ms, running, { cpu: 1, place: 3, weight: 1 });
  for (let each = 0; each <= producers.length; each++) {
    main.calls.push({ time: 50 * ms, until: 50 * ms, kind: 'create', object: 0, place: 3 });
  }
  const posts: { time: number; thread: number }[] = [];
  producers.forEach((name, index) => {
    // The third one was created by the first.
    const producer = add(name, 'produce', index === 2 ? 2 : 0);
    const cpu = free.indexOf(Math.min(...free));
    const start = free[cpu] ?? 0;
    const end = start + producing;
    free[cpu] = end;
    stretch(producer, 50 * ms, start, TimelineState.TIMELINE_STATE_RUNNABLE);
    stretch(producer, start, end, running, { cpu: cpu + 1, place: 1, weight: index === 0 ? 1 : 0.25 });
    producer.calls.push({ time: end, until: end, kind: 'post', object: 1, place: 1 });
    producer.calls.push({ time: end, until: end, kind: 'end', object: 0, place: 1 });
    posts.push({ time: end, thread: index + 2 });
  });
  let now = 50 * ms;
  const path: Run['path'] = [{ thread: 0, start: 0, end: 50 * ms }];
  posts.forEach(({ time, thread }, index) => {
    const from = Math.max(now, time);
    if (time > now) {
      path.push({ thread, start: index === 0 ? 50 * ms : now, end: time });
    }
    stretch(consumer, now, from, blocked, { object: 1, place: 2 });
    consumer.calls.push({ time: now, until: from, kind: 'wait', object: 1, place: 2, ...(time > now && { wokenBy: { thread, event: 0 } }) });
    // Ten items, each shorter than a pixel of the whole run.
    for (let item = 0; item < 10; item++) {
      stretch(consumer, from + item * 10 * ms, from + item * 10 * ms + 9.6 * ms, running, { cpu: 1, place: 2, weight: 1 });
      stretch(consumer, from + item * 10 * ms + 9.6 * ms, from + (item + 1) * 10 * ms, TimelineState.TIMELINE_STATE_IO);
    }
    path.push({ thread: 1, start: from, end: from + 100 * ms });
    now = from + 100 * ms;
  });
  consumer.calls.push({ time: now, until: now, kind: 'end', object: 0, place: 2 });
  stretch(main, 50 * ms, now, blocked, { object: 2, place: 3 });
  main.calls.push({ time: 50 * ms, until: now, kind: 'join', object: 2, place: 3, wokenBy: { thread: 1, event: 4 } });
  stretch(main, now, now + 20 * ms, running, { cpu: 1, place: 3, weight: 1 });
  path.push({ thread: 0, start: now, end: now + 20 * ms });
  main.calls.push({ time: now + 20 * ms, until: now + 20 * ms, kind: 'end', object: 0, place: 3 });
  return { totalNs: now + 20 * ms, threads, path };
}

export function fakeTimeline(request: GetTimelineRequest, file: string): GetTimelineResponse {
  const run = simulate(request);
  const asked = request.view ?? { fromNs: 0, toNs: 0, pixels: 100 };
  const [fromNs, toNs] = asked.toNs > asked.fromNs ? [asked.fromNs, asked.toNs] : [0, run.totalNs];
  const { pixels } = asked;
  const pixelNs = (toNs - fromNs) / pixels;
  const touches = (start: number, end: number): boolean => end > fromNs && start < toNs;
  const inView = ({ stretches, calls }: FakeThread): boolean =>
    stretches.some(({ start, end, state }) => state !== TimelineState.TIMELINE_STATE_BLOCKED && touches(start, end)) ||
    calls.some(({ time }) => time >= fromNs && time <= toNs);
  const overlap = (thread: FakeThread, state: TimelineState, from = fromNs, to = toNs): number =>
    thread.stretches.filter((each) => each.state === state).reduce((sum, { start, end }) => sum + Math.max(0, Math.min(end, to) - Math.max(start, from)), 0);
  const count = (state: TimelineState, pixel: number): number =>
    Math.round(1e6 * run.threads.reduce((sum, thread) => sum + overlap(thread, state, fromNs + pixel * pixelNs, fromNs + (pixel + 1) * pixelNs) / pixelNs, 0)) / 1e6;
  const all = Array.from({ length: pixels }, (_unused, pixel) => pixel);
  const running = all.map((pixel) => count(TimelineState.TIMELINE_STATE_RUNNING, pixel));
  const runnable = all.map((pixel) => count(TimelineState.TIMELINE_STATE_RUNNABLE, pixel));
  const wanted = request.rows.length > 0 ? request.rows : run.threads.flatMap((thread, number) => (inView(thread) ? [number] : []));
  const path = run.path.filter(({ start, end }) => touches(start, end));
  return GetTimelineResponse.create({
    totalNs: run.totalNs,
    model: 'direct',
    view: { fromNs, toNs, pixels },
    parallelism: {
      leastRunning: running.map(Math.floor),
      mostRunning: running.map(Math.ceil),
      meanRunning: running,
      leastRunnable: runnable.map(Math.floor),
      mostRunnable: runnable.map(Math.ceil),
      meanRunnable: runnable,
    },
    levels: [
      { running: 1, runnable: 0, timeNs: (toNs - fromNs) * 0.7 },
      { running: 4, runnable: 0, timeNs: (toNs - fromNs) * 0.3 },
    ],
    classes: { serialNs: (toNs - fromNs) * 0.7, undersubscribedNs: (toNs - fromNs) * 0.3 },
    path: {
      thread: path.map(({ thread }) => thread),
      startNs: path.map(({ start }) => start),
      endNs: path.map(({ end }) => end),
      parts: path.map(() => 1),
      arrival: Buffer.from(path.map(() => 1)),
    },
    threads: request.listThreads
      ? run.threads.map((thread, number) => ({
          thread: number,
          name: thread.name,
          function: thread.function,
          creator: thread.creator,
          startNs: thread.stretches[0]?.start ?? 0,
          endNs: thread.stretches.at(-1)?.end ?? 0,
          active: inView(thread),
          criticalNs: run.path.filter((part) => part.thread === number).reduce((sum, { start, end }) => sum + end - start, 0),
          criticalInViewNs: path.filter((part) => part.thread === number).reduce((sum, { start, end }) => sum + end - start, 0),
          times: {
            runningNs: overlap(thread, TimelineState.TIMELINE_STATE_RUNNING),
            runnableNs: overlap(thread, TimelineState.TIMELINE_STATE_RUNNABLE),
            blockedNs: overlap(thread, TimelineState.TIMELINE_STATE_BLOCKED),
            ioNs: overlap(thread, TimelineState.TIMELINE_STATE_IO),
            sleepingNs: 0,
          },
          events: BigInt(thread.calls.filter(({ time }) => time >= fromNs && time <= toNs).length),
          started: true,
        }))
      : [],
    cpuRows: request.cpuRows.map((cpu) => cpuRow(run, cpu, fromNs, pixelNs, pixels)),
    rows: request.withoutRows ? [] : wanted.map((number) => row(run, number, fromNs, pixelNs, pixels, request.colour)),
    objects,
    places: places(file),
    eventKinds,
    eventCellPixels: 8,
  });
}

function row(run: Run, number: number, fromNs: number, pixelNs: number, pixels: number, colour: TimelineColour): object {
  const thread = run.threads[number];
  const pixelOf = (ns: number): number => Math.floor((ns - fromNs) / pixelNs);
  const isShort = ({ start, end }: Stretch): boolean => pixelOf(start) === Math.ceil((end - fromNs) / pixelNs) - 1;
  const inside = (thread?.stretches ?? []).filter(({ start, end }) => end > fromNs && start < fromNs + pixels * pixelNs);
  const long = inside.filter((each) => !isShort(each));
  const short = new Map<number, number[]>();
  for (const each of inside) {
    const first = Math.max(0, pixelOf(each.start));
    const last = Math.min(pixels - 1, pixelOf(each.end - 1));
    for (let pixel = first; pixel <= last; pixel++) {
      if (inside.some((other) => isShort(other) && pixelOf(other.start) === pixel)) {
        const shares = short.get(pixel) ?? [0, 0, 0, 0, 0];
        const part = Math.min(each.end, fromNs + (pixel + 1) * pixelNs) - Math.max(each.start, fromNs + pixel * pixelNs);
        const at = each.state - 1;
        shares[at] = Math.min(255, (shares[at] ?? 0) + Math.max(1, Math.round((part / pixelNs) * 255)));
        short.set(pixel, shares);
      }
    }
  }
  const summaries = [...short].sort(([a], [b]) => a - b);
  const told = (wanted: TimelineColour, of: 'weight' | 'place' | 'object', state: TimelineState): number[] => {
    const here = (pixel: number) => (each: Stretch) => each.state === state && each.end > fromNs + pixel * pixelNs && each.start < fromNs + (pixel + 1) * pixelNs;
    const isTold = colour === wanted || colour === TimelineColour.TIMELINE_COLOUR_UNSPECIFIED;
    return isTold ? summaries.map(([pixel]) => inside.find(here(pixel))?.[of] ?? 0) : [];
  };
  const calls = (thread?.calls ?? []).flatMap((call, event) => {
    const pixel = pixelOf(call.time);
    return pixel >= 0 && pixel <= pixels ? [{ ...call, event }] : [];
  });
  return {
    thread: number,
    stretches: {
      startNs: long.map(({ start }) => start),
      endNs: long.map(({ end }) => end),
      state: Buffer.from(long.map(({ state }) => state)),
      cpu: long.map(({ cpu }) => cpu),
      object: long.map(({ object }) => object),
      place: long.map(({ place }) => place),
      weight: long.map(({ weight }) => weight),
      event: long.map(({ event }) => event),
    },
    summaries: {
      pixel: summaries.map(([pixel]) => pixel),
      shares: Buffer.from(summaries.flatMap(([, shares]) => shares)),
      weight: told(TimelineColour.TIMELINE_COLOUR_WEIGHT, 'weight', TimelineState.TIMELINE_STATE_RUNNING),
      place: told(TimelineColour.TIMELINE_COLOUR_PLACE, 'place', TimelineState.TIMELINE_STATE_RUNNING),
      object: told(TimelineColour.TIMELINE_COLOUR_OBJECT, 'object', TimelineState.TIMELINE_STATE_BLOCKED),
    },
    events: {
      event: calls.map(({ event }) => event),
      timeNs: calls.map(({ time }) => time),
      kind: Buffer.from(calls.map(({ kind }) => eventKinds.indexOf(kind))),
      object: calls.map(({ object }) => object),
      place: calls.map(({ place }) => place),
    },
    eventCounts: { cell: [], kind: Buffer.from([]), count: [] },
  };
}

/** A thread that is off the CPU between two stretches has two turns; it moves when the one before was elsewhere. */
function cpuRow(run: Run, cpu: number, fromNs: number, pixelNs: number, pixels: number): object {
  const toNs = fromNs + pixels * pixelNs;
  const turns = run.threads
    .flatMap(({ stretches }, thread) => {
      const running = stretches.filter(({ state }) => state === TimelineState.TIMELINE_STATE_RUNNING);
      return running.map(({ start, end, cpu: on }, at) => ({ start, end, thread, on: on - 1, migrated: at > 0 && running[at - 1]?.cpu !== on }));
    })
    .filter(({ start, end, on }) => on === cpu && end > fromNs && start < toNs)
    .sort((a, b) => a.start - b.start);
  const pixelOf = (ns: number): number => Math.floor((ns - fromNs) / pixelNs);
  const isShort = ({ start, end }: { start: number; end: number }): boolean => pixelOf(start) === Math.ceil((end - fromNs) / pixelNs) - 1;
  const long = turns.filter((turn) => !isShort(turn));
  const crowded = [...new Set(turns.filter(isShort).map(({ start }) => pixelOf(start)))];
  const inPixel = (pixel: number): typeof turns => turns.filter(({ start, end }) => end > fromNs + pixel * pixelNs && start < fromNs + (pixel + 1) * pixelNs);
  const busy = (some: typeof turns, from: number, to: number): number => some.reduce((sum, { start, end }) => sum + Math.min(end, to) - Math.max(start, from), 0);
  return {
    cpu,
    turns: {
      startNs: long.map(({ start }) => start),
      endNs: long.map(({ end }) => end),
      thread: long.map(({ thread }) => thread),
      migrated: Buffer.from(long.map(({ migrated }) => (migrated ? 1 : 0))),
    },
    summaries: {
      pixel: crowded,
      busy: Buffer.from(crowded.map((pixel) => Math.min(255, (busy(inPixel(pixel), fromNs + pixel * pixelNs, fromNs + (pixel + 1) * pixelNs) / pixelNs) * 255))),
      thread: crowded.map((pixel) => inPixel(pixel)[0]?.thread ?? 0),
      threads: crowded.map((pixel) => new Set(inPixel(pixel).map(({ thread }) => thread)).size),
      migrations: crowded.map((pixel) => inPixel(pixel).filter(({ migrated }) => migrated).length),
    },
    busyNs: busy(turns, fromNs, toNs),
    threads: new Set(turns.map(({ thread }) => thread)).size,
    turnsBegun: BigInt(turns.filter(({ start }) => start >= fromNs).length),
    migrations: BigInt(turns.filter(({ migrated }) => migrated).length),
  };
}

/** undefined: there is nothing. */
export function fakeTimelineItem(request: GetTimelineItemRequest, file: string): GetTimelineItemResponse | undefined {
  const run = simulate(request);
  let number = request.thread;
  const { at } = request;
  let event =
    at?.$case === 'event'
      ? at.value
      : (run.threads[number]?.stretches.find(({ start, end }) => at !== undefined && start <= at.value && at.value <= end)?.event ?? -1);
  const kind = run.threads[number]?.calls[event]?.kind;
  const similar = run.threads
    .flatMap(({ calls }, thread) => calls.map((call, index) => ({ thread, index, call })))
    .filter(({ call }) => call.kind === kind)
    .sort((a, b) => a.call.time - b.call.time);
  const here = similar.findIndex((each) => each.thread === number && each.index === event);
  const to = (each: (typeof similar)[number] | undefined): void => {
    number = each?.thread ?? 0;
    event = each?.index ?? -1;
  };
  switch (request.step) {
    case Step.STEP_NEXT:
      event++;
      break;
    case Step.STEP_PREVIOUS:
      event--;
      break;
    case Step.STEP_NEXT_SIMILAR:
      to(similar[here + 1]);
      break;
    case Step.STEP_PREVIOUS_SIMILAR:
      to(similar[here - 1]);
      break;
    case Step.STEP_UNSPECIFIED:
    case Step.UNRECOGNIZED:
      break;
  }
  const thread = run.threads[number];
  const call = thread?.calls[event];
  if (thread === undefined || call === undefined) {
    return undefined;
  }
  const around = [...thread.stretches].reverse().find(({ event: towards }) => towards <= event) ?? thread.stretches[0];
  const place = places(file)[call.place - 1];
  const waker = call.wokenBy;
  return GetTimelineItemResponse.create({
    thread: {
      thread: number,
      name: thread.name,
      function: thread.function,
      startNs: thread.stretches[0]?.start ?? 0,
      endNs: thread.stretches.at(-1)?.end ?? 0,
      criticalNs: 100 * ms,
      times: { runningNs: 200 * ms },
      started: true,
    },
    event,
    state: call.until > call.time ? TimelineState.TIMELINE_STATE_BLOCKED : around?.state,
    startNs: call.until > call.time ? call.time : around?.start,
    endNs: call.until > call.time ? call.until : around?.end,
    kind: call.kind,
    outcome: 'ok',
    callNs: call.time,
    returnNs: call.until,
    workNs: 10 * ms,
    totalNs: 20 * ms,
    cpu: 1,
    object: objects[call.object - 1],
    place,
    workPlace: place,
    createdAt: thread.creator === undefined ? undefined : { file, line: 15, function: 'main' },
    weight: 1,
    criticalNs: 10 * ms,
    wokenBy: waker && {
      thread: waker.thread,
      name: run.threads[waker.thread]?.name,
      event: waker.event,
      timeNs: run.threads[waker.thread]?.calls[waker.event]?.time,
      kind: run.threads[waker.thread]?.calls[waker.event]?.kind,
      place: places(file)[0],
    },
    made: true,
    following: followingCalls(request, { thread: number, event, calls: thread.calls.length }, file),
  });
}

function followingCalls(request: GetTimelineItemRequest, from: { thread: number; event: number; calls: number }, file: string): GetTimelineItemResponse[] {
  const following: GetTimelineItemResponse[] = [];
  for (let event = from.event + 1; event < from.calls && following.length < request.following; event++) {
    const alone = { ...request, thread: from.thread, at: { $case: 'event', value: event } as const, step: Step.STEP_UNSPECIFIED, following: 0 };
    const item = fakeTimelineItem(alone, file);
    if (item === undefined || item.callNs - item.totalNs >= request.untilNs) {
      break;
    }
    following.push({ ...item, thread: undefined, createdAt: undefined });
  }
  return following;
}

export function fakeFound(request: FindInTimelineRequest): FindInTimelineResponse {
  const run = simulate(request);
  const place = request.line === 5 || request.function === 'produce' ? 1 : 2;
  const view = request.view ?? { fromNs: 0, toNs: 0, pixels: 100 };
  const [fromNs, toNs] = view.toNs > view.fromNs ? [view.fromNs, view.toNs] : [0, run.totalNs];
  const pixelNs = (toNs - fromNs) / view.pixels;
  let timeNs = 0;
  const rows = run.threads.map((each, thread) => {
    const at = new Set<number>();
    for (const { start, end, place: where, state } of each.stretches) {
      if (where === place && state === TimelineState.TIMELINE_STATE_RUNNING && end > fromNs && start < toNs) {
        timeNs += Math.min(end, toNs) - Math.max(start, fromNs);
        for (let pixel = Math.max(0, Math.floor((start - fromNs) / pixelNs)); pixel < Math.min(view.pixels, (end - fromNs) / pixelNs); pixel++) {
          at.add(pixel);
        }
      }
    }
    return { thread, pixel: [...at], share: Buffer.from([...at].map(() => 255)) };
  });
  return FindInTimelineResponse.create({ rows: rows.filter(({ pixel }) => pixel.length > 0), timeNs });
}
