// What a hover on a lock's name says: who waits for it, how long, and what the program would gain. Markdown, without an editor.
import { formatCount, formatCpus, formatTime, isNothing } from './format';
import { escapeMarkdown } from './markdown';
import { gainWords, objectGain, placeName } from './rankings';
import type { GetObjectsResponse, ObjectRow, Place } from '../protocol/longpole/v1/longpole';

/** A hover that has to be scrolled is not read. */
const mostRows = 3;
const mostLocks = 3;

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

/** "bank::ledger_lock#2" and "ledger_lock+16" are ledger_lock's; "heat.c:17" is no variable's. */
function variableOf(name: string): string {
  return /^(?:.*::)?([A-Za-z_]\w*)(?:\+\d+)?(?:#\d+)?$/.exec(name)?.[1] ?? '';
}

/** undefined when there are none. */
export function lockMarkdown(locks: readonly ObjectRow[], totalNs: number, cpus: number, links: LockLinks): string | undefined {
  if (locks.length === 0) {
    return undefined;
  }
  const parts = locks.slice(0, mostLocks).map((row) => oneLock(row, totalNs, cpus, links));
  if (locks.length > mostLocks) {
    parts.push(`${locks.length - mostLocks} more of that name are in the side bar's list of locks.`);
  }
  return parts.join('\n\n');
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
  const calls = `${formatCount(row.acquisitions)} ${row.acquisitions === 1n ? 'call' : 'calls'}`;
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
