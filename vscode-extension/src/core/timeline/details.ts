// What is said about the selection and about the interval that is shown: lines of text, some of which lead somewhere.
import { basename } from '../paths';
import { formatCount, formatCountOf, formatShare, formatTime } from '../format';
import { shortName } from '../functionNames';
import { State, stateNames, type CpuRow, type Item, type Place, type Row, type Thread, type TimelineData, type TimelineObject, type View, type Waker } from './model';
import { formatMoment, formatSpan, lengthOf, partInRun } from './scale';
import { cells } from './drawCalls';
import { signOf } from './symbols';
import type { ShownThread } from './threads';

export interface Detail {
  readonly label: string;
  readonly text: string;
  /** Where the text leads. */
  readonly place?: Place;
  readonly event?: { readonly thread: number; readonly event: number };
}

/** "wait for a semaphore: items" */
export function itemTitle(item: Item): string {
  const isCall = item.kind !== '';
  const what = isCall ? signOf(item.kind).text : (stateNames[item.state] ?? '');
  return item.object === undefined ? what : `${what}: ${isCall ? calledName(item.object) : objectName(item.object)}`;
}

/** When its call is made; of what makes none, when it begins. */
export function momentOf(item: Item): number {
  return item.made ? item.callNs : item.startNs;
}

export function itemDetails(item: Item, view: View, totalNs: number): Detail[] {
  const moment = (ns: number): string => formatMoment(ns, { fromNs: view.fromNs, toNs: Math.max(view.toNs, ns) });
  const { thread } = item;
  const details: Detail[] = [];
  if (item.place !== undefined && item.place.file !== '') {
    details.push({ label: 'line', text: placeName(item.place), place: item.place });
  }
  const started = thread.function === '' ? '' : `, started with ${shortName(thread.function)}`;
  details.push({ label: 'thread', text: `${thread.name}${started}`, ...(hasFile(item.createdAt) && { place: item.createdAt }) });
  const cpu = item.cpu === undefined ? '' : ` on CPU ${item.cpu}`;
  details.push({
    label: stateNames[item.state] ?? 'then',
    text: `${formatSpan(item.startNs, item.endNs, view)} (${formatTime(item.endNs - item.startNs)})${item.state === State.running ? cpu : ''}`,
  });
  if (item.made && item.kind !== '') {
    const took = item.returnNs - item.callNs;
    const outcome = item.outcome === '' || item.outcome === 'ok' ? '' : `, ${item.outcome}`;
    const text = took > 0 ? `${formatSpan(item.callNs, item.returnNs, view)} (${formatTime(took)})` : moment(item.callNs);
    details.push({ label: 'call', text: `${text}${cpu}${outcome}` });
  }
  if (item.totalNs > 0) {
    details.push({ label: 'worked', text: `${formatTime(item.workNs)} of ${formatTime(item.totalNs)} since its call before` });
  }
  if (hasFile(item.workPlace)) {
    details.push({ label: 'worked at', text: placeName(item.workPlace), place: item.workPlace });
  }
  if (item.wokenBy !== undefined) {
    details.push(wakerDetail('woken by', item.wokenBy, moment));
  }
  if (item.cpuFrom !== undefined) {
    details.push(wakerDetail('CPU from', item.cpuFrom, moment));
  }
  if (item.weight !== 0) {
    const share = totalNs > 0 ? item.criticalNs / totalNs : 0;
    details.push({ label: 'critical', text: `${formatTime(item.criticalNs)}, ${formatShare(share)} of the run; weight ${item.weight.toFixed(2)}` });
  }
  const livesNs = thread.endNs - thread.startNs;
  details.push({
    label: 'in all',
    text: `the thread works ${formatTime(thread.times.runningNs)} of ${formatTime(livesNs)}${livesNs > 0 ? ` (${formatShare(thread.times.runningNs / livesNs)})` : ''}, ${formatTime(thread.criticalNs)} of it critical`,
  });
  details.push({ label: 'thread lives', text: `${moment(thread.startNs)} → ${moment(thread.endNs)}` });
  return details;
}

function wakerDetail(label: string, waker: Waker, moment: (ns: number) => string): Detail {
  const where = hasFile(waker.place) ? ` (${placeName(waker.place)})` : '';
  const by = waker.kind === '' ? '' : `, ${waker.kind}`;
  return { label, text: `${waker.name}${by} at ${moment(waker.timeNs)}${where}`, event: { thread: waker.thread, event: waker.event } };
}

/** What is to be said of the run's length here; empty: nothing, for it is called the same elsewhere. */
export function remarkOnTime(remark: string, elsewhere: string, totalNs: number): string {
  return elsewhere === formatTime(totalNs) ? '' : remark;
}

/** "20 ms – 40 ms", of as much of a view as the run takes: a longer one may be beside it. */
export function intervalTitle(view: View, totalNs: number): string {
  const part = partInRun(view, totalNs);
  return part === undefined ? `ended at ${formatMoment(totalNs, view)}` : `${formatMoment(part.fromNs, view)} – ${formatMoment(part.toNs, view)}`;
}

/** What the interval is used for; shares of what of it is in the run, which may end before it, as that of a longer run beside it. */
export function intervalDetails(data: TimelineData, view: View): Detail[] {
  const { classes } = data;
  const part = partInRun(view, data.totalNs);
  const length = part === undefined ? 0 : lengthOf(part);
  const names = ['idle', 'serial', 'undersubscribed', 'parallel', 'oversubscribed'] as const;
  const total = names.reduce((sum, name) => sum + classes[name], 0) || 1;
  return names
    .filter((name) => classes[name] > 0 && length > 0)
    .map((name) => ({ label: name, text: `${formatShare(classes[name] / total)} · ${formatTime((classes[name] / total) * length)}` }));
}

/** One line about what is under the pointer, from what the panel has: no question to the daemon. `beside`: idleBeside(). */
export function stretchText(row: Row, stretch: number, data: TimelineData, beside = ''): string {
  const { stretches } = row;
  const state = stretches.state[stretch] ?? 0;
  const parts = [stateNames[state] ?? '', formatTime((stretches.endNs[stretch] ?? 0) - (stretches.startNs[stretch] ?? 0))];
  const cpu = stretches.cpu[stretch] ?? 0;
  if (state === State.running && cpu > 0) {
    parts[0] += ` on CPU ${cpu - 1}`;
  }
  const object = data.objects[(stretches.object[stretch] ?? 0) - 1];
  if (object !== undefined && state !== State.running) {
    parts.push(`for ${objectName(object)}`);
  }
  const place = data.places[(stretches.place[stretch] ?? 0) - 1];
  if (place !== undefined) {
    parts.push(placeName(place));
  }
  return parts.join(' · ') + (state === State.runnable ? beside : '');
}

export function eventText(row: Row, event: number, data: TimelineData): string {
  const { events } = row;
  const object = data.objects[(events.object[event] ?? 0) - 1];
  const place = data.places[(events.place[event] ?? 0) - 1];
  const parts = [signOf(data.eventKinds[events.kind[event] ?? 0] ?? '').text];
  if (object !== undefined) {
    parts.push(calledName(object));
  }
  if (place !== undefined) {
    parts.push(placeName(place));
  }
  return parts.join(' · ');
}

/**
 * How many calls a thread makes near a moment, where not each has a sign: those that are only counted there, or else those with other
 * calls so near to them; undefined: there is nothing to be said.
 */
export function crowdText(row: Row, timeNs: number, withinNs: number, data: TimelineData): string | undefined {
  const cellNs = (lengthOf(data.view) / Math.max(1, data.pixels)) * data.eventCellPixels;
  const cell = cells(row.counts).find((each) => each.cell === Math.floor((timeNs - data.view.fromNs) / cellNs));
  if (cell !== undefined) {
    const kinds = cell.kinds.map(({ kind, calls }) => `${formatCount(calls)} × ${signOf(data.eventKinds[kind] ?? '').text}`);
    return `${formatCountOf(cell.calls, 'call')}: ${kinds.join(', ')}; zoom in to tell them apart`;
  }
  const near = row.events.timeNs.filter((ns) => Math.abs(ns - timeNs) <= withinNs).length;
  return near > 2 ? `one of ${near} calls here; zoom in to tell them apart` : undefined;
}

/** One line about what a CPU does under the pointer: of a turn, or of several in one pixel. `beside`: waitingBeside(). */
export function cpuText(
  row: CpuRow,
  { turn, summary }: { readonly turn: number | undefined; readonly summary: number | undefined },
  names: ReadonlyMap<number, string>,
  beside = '',
): string {
  const nameOf = (thread: number | undefined): string => (names.get(thread ?? -1) ?? `thread ${thread}`).slice(0, 80);
  const parts = [`CPU ${row.cpu}`];
  if (summary !== undefined) {
    const { busy, thread, threads, migrations } = row.summaries;
    const [count, moves] = [threads[summary] ?? 0, migrations[summary] ?? 0];
    parts.push(`${formatShare((busy[summary] ?? 0) / 255)} busy`);
    parts.push(count === 1 ? nameOf(thread[summary]) : `${formatCount(count)} threads, ${nameOf(thread[summary])} longest`);
    if (moves > 0) {
      parts.push(`${formatCountOf(moves, 'migration')} here`);
    }
  } else if (turn === undefined) {
    parts.push(`idle${beside}`);
  } else {
    const { startNs, endNs, thread, migrated } = row.turns;
    parts.push(nameOf(thread[turn]), formatTime((endNs[turn] ?? 0) - (startNs[turn] ?? 0)));
    if (migrated[turn] === 1) {
      parts.push('came from another CPU');
    }
  }
  return parts.join(' · ');
}

/** The interval in words: a row a CPU. */
export function cpuTable(rows: readonly CpuRow[], view: View): Table {
  return {
    caption: `CPUs from ${formatMoment(view.fromNs, view)} to ${formatMoment(view.toNs, view)}`,
    head: ['CPU', 'busy', 'of the time', 'threads', 'turns', 'migrations to it'],
    rows: rows.map(({ cpu, busyNs, threads, turnsBegun, migrations }) => [
      `CPU ${cpu}`,
      formatTime(busyNs),
      formatShare(Math.min(1, busyNs / lengthOf(view))),
      formatCount(threads),
      formatCount(turnsBegun),
      formatCount(migrations),
    ]),
  };
}

export function objectName({ kind, name }: TimelineObject): string {
  return kind === 'thread-end' ? `the end of ${name}` : name === '' ? kind : name;
}

/** Of what a call is about: it creates, or joins, a thread. */
export function calledName({ kind, name, id }: TimelineObject): string {
  return objectName({ kind: kind === 'thread-end' ? 'thread' : kind, name, id });
}

export function placeName({ file, line, function: name }: Place): string {
  const where = file === '' ? '' : `${basename(file)}:${line}`;
  return name === '' ? where : where === '' ? shortName(name) : `${shortName(name)} ${where}`;
}

function hasFile(place: Place | undefined): place is Place {
  return place !== undefined && place.file !== '';
}

/** As much of a name as a table has room for: a row stays a few lines high. */
export function cut(name: string, most = 100): string {
  if (name.length <= most) {
    return name;
  }
  // By characters, of which an emoji has two numbers.
  const characters = Array.from(name.slice(0, 2 * most + 2));
  return characters.length <= most ? name : `${characters.slice(0, most - 1).join('')}…`;
}

export interface Table {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns that are words; the others are numbers. */
  readonly words?: readonly number[];
}

/** The interval in words: a row a thread, for those who do not see the picture. */
export function threadTable(threads: readonly ShownThread[], view: View, most = 1000): Table {
  const time = (ns: number): string => (ns === 0 ? '–' : formatTime(ns));
  const left = Math.max(0, threads.length - most);
  return {
    caption: `Threads from ${formatMoment(view.fromNs, view)} to ${formatMoment(view.toNs, view)}${left === 0 ? '' : `; ${formatCount(left)} more are left out`}`,
    words: [0],
    head: ['thread', ...stateNames.slice(1), 'critical', 'calls'],
    rows: threads.slice(0, most).map(({ thread }) => [
      thread.name,
      time(thread.times.runningNs),
      time(thread.times.runnableNs),
      time(thread.times.blockedNs),
      time(thread.times.ioNs),
      time(thread.times.sleepingNs),
      time(thread.criticalInViewNs),
      formatCount(thread.events),
    ]),
  };
}

/** Of a thread or of the program. */
const isEnd = (kind: string): boolean => kind === 'end' || kind === 'exit';

/** What a thread does in the interval, call by call: `calls` are the first of them. */
export function callTable({ thread, view, calls }: { readonly thread: Thread; readonly view: View; readonly calls: readonly Item[] }): Table {
  const shown = calls.filter((item) => momentOf(item) - item.totalNs < view.toNs);
  const told = shown.filter((item) => item.made && item.callNs >= view.fromNs && item.callNs <= view.toNs).length;
  const left = Math.max(0, thread.events - told);
  const rest = left === 0 ? '' : `; ${formatCountOf(left, 'more call is', 'more calls are')} left out, zoom in to see them`;
  const moment = (ns: number): string => formatMoment(ns, view);
  const time = (ns: number): string => (ns > 0 ? formatTime(ns) : '–');
  return {
    caption: `What ${cut(thread.name)} does from ${moment(view.fromNs)} to ${moment(view.toNs)}${rest}`,
    head: ['works from', 'works', 'waits for a CPU', 'calls at', 'call', 'object', 'then', 'woken by', 'line'],
    words: [4, 5, 6, 7, 8],
    rows: shown.map((item) => {
      const took = item.made ? item.returnNs - item.callNs : 0;
      const { wokenBy, place } = item;
      return [
        moment(momentOf(item) - item.totalNs),
        time(item.workNs),
        time(item.totalNs - item.workNs),
        item.made ? moment(item.callNs) : 'never',
        item.kind === '' ? '–' : signOf(item.kind).text,
        item.object === undefined ? '–' : calledName(item.object),
        took > 0 ? `${stateNames[item.state] ?? 'waits'} for ${formatTime(took)}` : item.made && !isEnd(item.kind) ? 'goes on' : '–',
        wokenBy === undefined ? '–' : `${wokenBy.name}${wokenBy.kind === '' ? '' : `, ${wokenBy.kind}`} at ${moment(wokenBy.timeNs)}`,
        place === undefined ? '–' : placeName(place),
      ];
    }),
  };
}
