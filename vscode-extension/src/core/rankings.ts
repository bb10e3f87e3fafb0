// What the side bar's lists of locks, threads and Quartz rows say: texts and places, without an editor.
import { textBar } from './bars';
import { formatCount, formatCountOf, formatCpus, formatShare, formatTime, isNothing } from './format';
import { shortName } from './functionNames';
import { basename } from './paths';
import type { Collision, ObjectRow, ObjectUse, Place, ThreadRow } from '../protocol/longpole/v1/analyses';
import type { QuartzRow, QuartzState } from '../protocol/longpole/v1/quartz';

export interface RowText {
  readonly label: string;
  readonly description: string;
  /** Paragraphs of plain text. */
  readonly tooltip: readonly string[];
  /** What a screen reader says: label and description without a bar, in words. */
  readonly spoken: string;
}

const barCharacters = 8;

/** The share of the completion time that would be saved if nobody waited for the object; undefined: not simulated. */
export function objectGain(row: ObjectRow, totalNs: number): number | undefined {
  return row.freedTotalNs === undefined || totalNs <= 0 ? undefined : 1 - row.freedTotalNs / totalNs;
}

/** "ThreadPool::work(unsigned int)#2" in a column as wide as a side bar: "work#2". */
function shortObject(name: string): string {
  return name.replace(/<[^<>]*>|\([^()]*\)/g, '').replace(/^.*::(?=[A-Za-z_~])/, '');
}

/** "ThreadPool::work.6": "work.6". */
export function shortThread(name: string): string {
  return name.replace(/^.*::(?=[A-Za-z_~])/, '');
}

export function objectText(row: ObjectRow, totalNs: number, cpus: number): RowText {
  const gain = objectGain(row, totalNs);
  const saved = gain === undefined || isNothing(gain) ? '' : `${gain > 0 ? '−' : '+'}${formatShare(Math.abs(gain))}`;
  const waited = row.waitNs > 0 ? `${formatTime(row.waitNs)} waited` : 'nobody waits';
  const verdict =
    gain === undefined
      ? 'What it would bring if nobody waited for it was not simulated.'
      : isNothing(gain)
        ? `If nobody ever waited for it, the program would take as long as it does, at ${formatCpus(cpus)}.`
        : `If nobody ever waited for it, the program would take ${formatTime(row.freedTotalNs ?? 0)} in place of ` +
          `${formatTime(totalNs)} at ${formatCpus(cpus)}: ${gainWords(gain)}.`;
  const facts = [`${formatCountOf(row.acquisitions, 'call')}, ${formatCount(row.contended)} of them waited`];
  if (row.waitNs > 0) {
    facts.push(`${formatTime(row.waitNs)} waited, the longest ${formatTime(row.longestWaitNs)}`);
  }
  if (row.holdNs !== undefined) {
    facts.push(`${formatTime(row.holdNs)} held, the longest ${formatTime(row.longestHoldNs)}`);
  }
  if (row.criticalNs !== undefined && totalNs > 0) {
    facts.push(`what is done with it held: ${formatShare(row.criticalNs / totalNs)} of the critical path`);
  }
  const longestQueue = row.queueNs.length - 1;
  if (longestQueue > 1) {
    facts.push(`up to ${longestQueue} threads wait at once`);
  }
  return {
    // The number comes first, and no bar: what stands behind a long name is cut off in a side bar. The icon says the kind.
    label: [saved, shortObject(row.name)].filter((text) => text !== '').join('  '),
    description: waited,
    tooltip: [`${row.kind} ${row.name}`, verdict, facts.join('\n'), 'Waiting times are those with a CPU for each thread.'],
    spoken: `${row.kind} ${row.name}: ${gain === undefined || isNothing(gain) ? 'nothing to gain' : gainWords(gain)} if nobody waited, ${waited}`,
  };
}

/** "12% less"; a program that gets slower when nobody waits is one that waiting kept apart. */
export function gainWords(gain: number): string {
  return gain < 0 ? `${formatShare(-gain)} more` : `${formatShare(gain)} less`;
}

export function useText({ place, acquisitions, waitNs }: ObjectUse): RowText {
  const where = place === undefined ? 'where is not known' : placeName(place);
  const count = formatCountOf(acquisitions, 'call');
  const tooltip = place === undefined ? [] : [`${place.function === '' ? '' : `${place.function}\n`}${place.file}:${place.line}`];
  return {
    label: waitNs > 0 ? `${formatTime(waitNs)}  ${where}` : where,
    description: count,
    tooltip,
    spoken: `${where}: ${waitNs > 0 ? `${formatTime(waitNs)} waited, ` : ''}${count}`,
  };
}

/** Who waits for whom. */
export function collisionText({ waiter, waker, times, waitNs }: Collision): RowText {
  const spoken = `${waiter} waits for ${waker}: ${formatTime(waitNs)}, ${formatCount(times)}×`;
  return { label: `${formatTime(waitNs)}  ${shortThread(waiter)} ← ${shortThread(waker)}`, description: `${formatCount(times)}×`, tooltip: [spoken], spoken };
}

export function placeName({ file, line, function: name }: Place): string {
  const where = file === '' ? '' : `${basename(file)}:${line}`;
  return [shortName(name), where].filter((text) => text !== '').join('  ');
}

export function threadText(row: ThreadRow, totalNs: number, cpus: number): RowText {
  const share = totalNs > 0 ? row.criticalNs / totalNs : 0;
  const started = row.function === '' ? '' : shortName(row.function);
  const path = isNothing(share) ? 'not on the path' : `${formatShare(share)} ${textBar(share, barCharacters)}`;
  const onPath = isNothing(share)
    ? `Not on the critical path at ${formatCpus(cpus)}.`
    : `${formatShare(share)} of the critical path at ${formatCpus(cpus)} (${formatTime(row.criticalNs)} of ${formatTime(totalNs)}).`;
  const facts = [
    `computes ${formatTime(row.runningNs)}`,
    `blocked by other threads ${formatTime(row.blockedNs)}`,
    `asleep, or in input and output ${formatTime(row.waitingNs)}`,
  ];
  return {
    label: row.name,
    // A thread that the program gave no name is called after that function.
    description: started === '' || shortThread(row.name) === started || shortThread(row.name).startsWith(`${started}.`) ? path : `${path}  ${started}`,
    tooltip: [
      `${row.name}${row.function === '' ? '' : `, started with ${row.function}`}`,
      onPath,
      facts.join('\n'),
      `Lives from ${formatTime(row.startNs)} to ${formatTime(row.endNs)}, with a CPU for each thread.`,
    ],
    spoken: `thread ${row.name}: ${isNothing(share) ? path : `${formatShare(share)} of the critical path`}`,
  };
}

/** Why rows may be missing between a function and what it called, by the source of the samples; empty: none are. */
export function callersRemark(source: string): string {
  return source === 'portable'
    ? 'Samples of the portable source know one caller at most, and none without frame pointers: rows between may be missing.'
    : '';
}

/** `share` is the row's, or that of the row on behalf of the one above it, of the whole program's normalized time. */
export function quartzText(row: QuartzRow, share: number, callCount: bigint | undefined): RowText {
  const name = row.kind === 'program' ? 'the whole program' : row.kind === 'function' ? shortName(row.name) : row.name;
  const counted = callCount === undefined || row.kind === 'program' ? '' : row.kind === 'function' ? formatCountOf(callCount, 'call') : `${formatCount(callCount)}×`;
  const description = [`${formatShare(share)} ${textBar(share, barCharacters)}`, counted].filter((text) => text !== '').join('  ');
  const { self, total } = row;
  const facts: string[] = [];
  if (self !== undefined && total !== undefined && row.kind === 'function') {
    facts.push(`normalized time ${formatTime(total.normalizedNs)}, of that itself ${formatTime(self.normalizedNs)}`);
  } else if (total !== undefined) {
    facts.push(`normalized time ${formatTime(total.normalizedNs)}`);
  }
  facts.push(
    ...stateFacts('computes', total?.busy),
    ...stateFacts('spins', total?.spinning),
    ...stateFacts('waits for a CPU', total?.ready),
    ...stateFacts('blocked', total?.blocked),
  );
  return {
    label: name,
    description,
    tooltip: [
      `${row.kind === 'program' ? '' : `${row.kind} `}${row.kind === 'program' ? name : row.name}`,
      facts.join('\n'),
      'Normalized time: CPU time divided by the number of CPUs that are busy meanwhile. What runs while the others wait counts in full.',
    ],
    spoken: `${row.kind === 'program' ? '' : `${row.kind} `}${name}: ${formatShare(share)} of the normalized time`,
  };
}

function stateFacts(words: string, state: QuartzState | undefined): string[] {
  return state === undefined || state.timeNs <= 0
    ? []
    : [`${words} ${formatTime(state.timeNs)}, with ${state.averageRunnable.toFixed(1)} threads that run or could run`];
}

/** The place that a lock's row leads to: where most of the waiting is, else where it is used most. */
export function objectPlace(row: ObjectRow): Place | undefined {
  return row.uses.find(({ place }) => place !== undefined && place.file !== '')?.place;
}
