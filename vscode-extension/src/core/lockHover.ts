// What a hover on a lock's name says: who waits for it, how long, and what the program would gain. Markdown, without an editor.
import { formatCount, formatCountOf, formatCpus, formatTime, isNothing } from './format';
import { escapeMarkdown } from './markdown';
import { gainWords, objectGain, placeName } from './rankings';
import type { GetObjectsResponse, ObjectRow, Place } from '../protocol/longpole/v1/analyses';

/** A hover that has to be scrolled is not read. */
const mostRows = 3;
const mostOthers = 6;

export interface LockLinks {
  /** The address that opens the what-if panel on a lock. */
  readonly freed: (lock: string) => string;
  readonly linkTo: (place: Place) => string;
}

/**
 * The locks that a word of the source means: variables of that name, and what is part of one ("queue+16"). A lock without a name,
 * a member of an object on the heap, is called after the place where it was first used; `mentions` says which of the lines that use
 * it have the word.
 */
export function locksNamed(objects: GetObjectsResponse, word: string, mentions: (place: Place) => boolean): ObjectRow[] {
  const named = objects.objects.filter(({ name }) => variableOf(name) === word);
  return named.length > 0 ? named : objects.objects.filter(({ name, uses }) => variableOf(name) === '' && uses.some(({ place }) => place !== undefined && mentions(place)));
}

/** Types of what threads wait for. */
const lockType = /\b(\w*mutex\w*|\w*rwlock\w*|\w*spinlock\w*|pthread_cond_t|cnd_t|mtx_t|condition_variable\w*|sem_t|\w*semaphore\w*|\w*barrier\w*|latch)\b/;
/** Behind it are arguments: of what holds a lock for a while, whose own name is not the lock's, or of a call of C. */
const argumentsBegin = /\b(?:(?:lock_guard|unique_lock|scoped_lock|shared_lock)\b[^({;]*[({]|(?:pthread_(?:mutex|rwlock|spin|cond|barrier)|mtx|cnd|sem)_\w+ *\()/;

/**
 * Whether the word at this place of a line may be the name of a lock that is part of an object: in a declaration ("mutable std::mutex
 * state_;"), or among the arguments of what takes it ("std::lock_guard<std::mutex> hold(state_);").
 */
export function mayNameMember(line: string, at: number): boolean {
  const begin = argumentsBegin.exec(line);
  if (begin !== null) {
    return at >= begin.index + begin[0].length;
  }
  const type = lockType.exec(line);
  return type !== null && /^[\w\s:<>,*&[\]]+$/.test(line.slice(type.index + type[0].length, at));
}

/** "bank::ledger_lock#2" and "ledger_lock+16" are ledger_lock's; "heat.c:17" is no variable's. */
function variableOf(name: string): string {
  return /^(?:.*::)?([A-Za-z_]\w*)(?:\+\d+)?(?:#\d+)?$/.exec(name)?.[1] ?? '';
}

/** undefined when there are none. */
export function lockMarkdown(locks: readonly ObjectRow[], totalNs: number, cpus: number, links: LockLinks): string | undefined {
  if (locks.length === 0) {
    return undefined;
  }
  const [first, ...others] = [...locks].sort((a, b) => b.waitNs - a.waitNs).map((row, rank) => (rank === 0 ? oneLock(row, totalNs, cpus, links) : inShort(row, links)));
  const rest = others.length > mostOthers ? [`${others.length - mostOthers} more of that name are in the side bar's list of locks.`] : [];
  return [first, [...others.slice(0, mostOthers), ...rest].join('  \n')].filter((part) => part !== '').join('\n\n');
}

/** One of several of the same name. */
function inShort(row: ObjectRow, links: LockLinks): string {
  const waited = row.waitNs <= 0 ? 'nobody ever waits' : `${formatTime(row.waitNs)} in ${formatCount(row.contended)} of ${formatCountOf(row.acquisitions, 'call')}`;
  return `[${escapeMarkdown(row.name)}](${links.freed(row.name)})&nbsp;&nbsp;${escapeMarkdown(row.kind)}: ${waited}`;
}

function oneLock(row: ObjectRow, totalNs: number, cpus: number, links: LockLinks): string {
  const lead = `&nbsp;&nbsp;[What if nobody waited?](${links.freed(row.name)})`;
  const lines = [`**${escapeMarkdown(row.name)}**&nbsp;&nbsp;${escapeMarkdown(row.kind)}${lead}`, verdict(row, totalNs, cpus)];
  const waiters = row.collisions
    .slice(0, mostRows)
    .map(({ waiter, waker, waitNs, times }) => `${escapeMarkdown(waiter)} waits ${formatTime(waitNs)} for ${escapeMarkdown(waker)}, ${formatCount(times)}×`);
  const places = row.uses.slice(0, mostRows).flatMap(({ place, waitNs, acquisitions }) => {
    if (place === undefined || place.file === '') {
      return [];
    }
    const waited = waitNs > 0 ? formatTime(waitNs) : 'no wait';
    return [`[${escapeMarkdown(placeName(place))}](${links.linkTo(place)}): ${waited}, ${formatCount(acquisitions)}×`];
  });
  return [lines.join('  \n'), ...[waiters, places].filter((list) => list.length > 0).map((list) => list.join('  \n'))].join('\n\n');
}

function verdict(row: ObjectRow, totalNs: number, cpus: number): string {
  const calls = formatCountOf(row.acquisitions, 'call');
  if (row.waitNs <= 0) {
    return `${calls}, and nobody ever waits for it.`;
  }
  const gain = objectGain(row, totalNs);
  const saved =
    gain === undefined
      ? 'What it would bring if nobody did was not simulated.'
      : isNothing(gain)
        ? `If nobody did, the program would take as long at ${formatCpus(cpus)}.`
        : `**If nobody did, the program would take ${gainWords(gain)} at ${formatCpus(cpus)}.**`;
  return `Threads wait ${formatTime(row.waitNs)} for it, in ${formatCount(row.contended)} of ${calls}.  \n${saved}`;
}
