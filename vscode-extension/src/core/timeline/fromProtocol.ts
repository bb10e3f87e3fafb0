// The daemon's answers as what the timeline draws: see model.ts.
import type { Place as ProtocolPlace } from '../../protocol/longpole/v1/analyses';
import type {
  FindInTimelineResponse,
  GetTimelineItemResponse,
  GetTimelineResponse,
  TimelineCpuRow,
  TimelineRow,
  TimelineThread,
  TimelineWaker,
} from '../../protocol/longpole/v1/timeline';
import type { CpuRow, Found, Item, Place, Row, Thread, TimelineData, View, Waker } from './model';

export function timelineData(answer: GetTimelineResponse): TimelineData {
  const { parallelism, classes, path, view, deadlock } = answer;
  return {
    totalNs: answer.totalNs,
    model: answer.model,
    deadlock: deadlock && { atNs: Number(deadlock.atNs), threads: deadlock.threads },
    view: { fromNs: view?.fromNs ?? 0, toNs: view?.toNs ?? 0 },
    pixels: view?.pixels ?? 0,
    parallelism: {
      mostRunning: Uint32Array.from(parallelism?.mostRunning ?? []),
      leastRunning: Uint32Array.from(parallelism?.leastRunning ?? []),
      meanRunning: Float32Array.from(parallelism?.meanRunning ?? []),
      mostRunnable: Uint32Array.from(parallelism?.mostRunnable ?? []),
      leastRunnable: Uint32Array.from(parallelism?.leastRunnable ?? []),
      meanRunnable: Float32Array.from(parallelism?.meanRunnable ?? []),
    },
    levels: answer.levels.map(({ running, runnable, timeNs }) => ({ running, runnable, timeNs })),
    classes: {
      idle: classes?.idleNs ?? 0,
      serial: classes?.serialNs ?? 0,
      undersubscribed: classes?.undersubscribedNs ?? 0,
      parallel: classes?.parallelNs ?? 0,
      oversubscribed: classes?.oversubscribedNs ?? 0,
    },
    path: {
      thread: Uint32Array.from(path?.thread ?? []),
      startNs: Float64Array.from(path?.startNs ?? []),
      endNs: Float64Array.from(path?.endNs ?? []),
      parts: Uint32Array.from(path?.parts ?? []),
      arrival: Uint8Array.from(path?.arrival ?? []),
    },
    threads: answer.threads.map(threadOf),
    threadsLeft: Number(answer.threadsLeft),
    rows: answer.rows.map(rowOf),
    rowsLeft: Number(answer.rowsLeft),
    cpuRows: answer.cpuRows.map(cpuRowOf),
    objects: answer.objects.map(({ kind, name, id }) => ({ kind, name, id })),
    places: answer.places.map(placeOf),
    eventKinds: answer.eventKinds,
    eventCellPixels: Math.max(1, answer.eventCellPixels),
  };
}

function threadOf(thread: TimelineThread): Thread {
  const { times } = thread;
  return {
    thread: thread.thread,
    name: thread.name,
    function: thread.function,
    creator: thread.creator,
    startNs: thread.startNs,
    endNs: thread.endNs,
    active: thread.active,
    criticalNs: thread.criticalNs,
    criticalInViewNs: thread.criticalInViewNs,
    times: {
      runningNs: times?.runningNs ?? 0,
      runnableNs: times?.runnableNs ?? 0,
      blockedNs: times?.blockedNs ?? 0,
      ioNs: times?.ioNs ?? 0,
      sleepingNs: times?.sleepingNs ?? 0,
    },
    events: Number(thread.events),
    started: thread.started,
  };
}

function rowOf({ thread, stretches, summaries, events, eventCounts }: TimelineRow): Row {
  return {
    thread,
    stretches: {
      startNs: Float64Array.from(stretches?.startNs ?? []),
      endNs: Float64Array.from(stretches?.endNs ?? []),
      state: Uint8Array.from(stretches?.state ?? []),
      cpu: Uint32Array.from(stretches?.cpu ?? []),
      object: Uint32Array.from(stretches?.object ?? []),
      place: Uint32Array.from(stretches?.place ?? []),
      weight: Float32Array.from(stretches?.weight ?? []),
      event: Uint32Array.from(stretches?.event ?? []),
    },
    summaries: {
      pixel: Uint32Array.from(summaries?.pixel ?? []),
      shares: Uint8Array.from(summaries?.shares ?? []),
      weight: Float32Array.from(summaries?.weight ?? []),
      place: Uint32Array.from(summaries?.place ?? []),
      object: Uint32Array.from(summaries?.object ?? []),
    },
    events: {
      event: Uint32Array.from(events?.event ?? []),
      timeNs: Float64Array.from(events?.timeNs ?? []),
      kind: Uint8Array.from(events?.kind ?? []),
      object: Uint32Array.from(events?.object ?? []),
      place: Uint32Array.from(events?.place ?? []),
    },
    counts: {
      cell: Uint32Array.from(eventCounts?.cell ?? []),
      kind: Uint8Array.from(eventCounts?.kind ?? []),
      count: Uint32Array.from(eventCounts?.count ?? []),
    },
  };
}

function cpuRowOf({ cpu, turns, summaries, busyNs, threads, turnsBegun, migrations }: TimelineCpuRow): CpuRow {
  return {
    cpu,
    turns: {
      startNs: Float64Array.from(turns?.startNs ?? []),
      endNs: Float64Array.from(turns?.endNs ?? []),
      thread: Uint32Array.from(turns?.thread ?? []),
      migrated: Uint8Array.from(turns?.migrated ?? []),
    },
    summaries: {
      pixel: Uint32Array.from(summaries?.pixel ?? []),
      busy: Uint8Array.from(summaries?.busy ?? []),
      thread: Uint32Array.from(summaries?.thread ?? []),
      threads: Uint32Array.from(summaries?.threads ?? []),
      migrations: Uint32Array.from(summaries?.migrations ?? []),
    },
    busyNs,
    threads,
    turnsBegun: Number(turnsBegun),
    migrations: Number(migrations),
  };
}

/** @throws Error when the answer has no thread. */
export function timelineItem(answer: GetTimelineItemResponse): Item {
  if (answer.thread === undefined) {
    throw new Error("The daemon's answer lacks its thread.");
  }
  return {
    thread: threadOf(answer.thread),
    event: answer.event,
    state: answer.state,
    startNs: answer.startNs,
    endNs: answer.endNs,
    kind: answer.kind,
    outcome: answer.outcome,
    callNs: answer.callNs,
    returnNs: answer.returnNs,
    workNs: answer.workNs,
    totalNs: answer.totalNs,
    cpu: answer.cpu,
    object: answer.object && { kind: answer.object.kind, name: answer.object.name, id: answer.object.id },
    place: answer.place && placeOf(answer.place),
    workPlace: answer.workPlace && placeOf(answer.workPlace),
    weight: answer.weight,
    criticalNs: answer.criticalNs,
    wokenBy: answer.wokenBy && wakerOf(answer.wokenBy),
    cpuFrom: answer.cpuFrom && wakerOf(answer.cpuFrom),
    createdAt: answer.createdAt && placeOf(answer.createdAt),
    made: answer.made,
  };
}

/** The call that was asked for and those that follow. @throws Error when the answer has no thread. */
export function timelineCalls(answer: GetTimelineItemResponse): Item[] {
  return [answer, ...answer.following.map((call) => ({ ...call, thread: answer.thread }))].map(timelineItem);
}

export function timelineFound(answer: FindInTimelineResponse, title: string, view: View, pixels: number): Found {
  return {
    title,
    view,
    pixels,
    rows: answer.rows.map(({ thread, pixel, share }) => ({ thread, pixel: Uint32Array.from(pixel), share: Uint8Array.from(share) })),
    timeNs: answer.timeNs,
    nextNs: answer.nextNs,
    previousNs: answer.previousNs,
  };
}

function wakerOf(waker: TimelineWaker): Waker {
  const { thread, name, event, timeNs, kind, place } = waker;
  return { thread, name, event, timeNs, kind, place: place && placeOf(place) };
}

function placeOf({ file, line, function: name }: ProtocolPlace): Place {
  return { file, line, function: name };
}
