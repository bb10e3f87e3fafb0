// Numbers as a person reads them, and the sentences around them. Nothing here rounds a number up into a promise.
import type { FunctionAt } from '../protocol/longpole/v1/lines';

/** A share: 38%, 6.1%, 0.4%, −3.2%. Two digits, three from 100% on. */
export function formatShare(share: number): string {
  const percent = Math.abs(share) * 100;
  const digits = percent >= 9.95 ? percent.toFixed(0) : percent.toFixed(1);
  const sign = share < 0 && Number(digits) !== 0 ? '−' : '';
  return `${sign}${digits}%`;
}

/** A time of three digits: 11.6 s, 1.75 s, 174 ms, 3.21 µs. */
export function formatTime(ns: number): string {
  const units: readonly [number, string][] = [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'µs'],
  ];
  for (const [size, unit] of units) {
    // 999.6 ms would print as 1000 ms.
    if (Math.abs(ns) >= size * 0.9995) {
      return `${threeDigits(ns / size)} ${unit}`;
    }
  }
  return `${ns.toFixed(0)} ns`;
}

/** A speed-up: 6.6×, 12×. */
export function formatSpeedup(speedup: number): string {
  return `${speedup >= 9.95 ? speedup.toFixed(0) : speedup.toFixed(1)}×`;
}

export function formatCpus(cpus: number): string {
  return formatCountOf(cpus, 'CPU');
}

/** What 10% off a place with this share of the critical path does to the whole program, in percent: 3.8%. */
export function formatEffect(share: number): string {
  return formatShare(share * 0.1);
}

/** "10% faster here makes the whole program 5.8% faster." */
export function effectSentence(share: number, faster = '10% faster here'): string {
  if (isNothing(share)) {
    return 'Making it faster changes nothing for the whole program.';
  }
  if (share < 0) {
    return `${faster} makes the whole program ${formatEffect(-share)} slower.`;
  }
  return `${faster} makes the whole program ${formatEffect(share)} faster.`;
}

/** How sure a share is: half the 95% confidence interval of its time, by so many samples. */
export interface Margin {
  readonly ns: number;
  readonly samples: bigint;
}

/** "58% of the critical path at 8 CPUs (1.03 s of 1.75 s)."; with a margin that can be seen "58% ± 4.0% of … (…, 34 samples)." */
export function shareSentence(criticalNs: number, totalNs: number, cpus: number, margin?: Margin): string {
  const share = totalNs > 0 ? criticalNs / totalNs : 0;
  if (isNothing(share)) {
    return `Not on the critical path at ${formatCpus(cpus)}.`;
  }
  const rests = margin === undefined || isNothing(margin.ns / totalNs) ? '' : `, ${formatCountOf(margin.samples, 'sample')}`;
  return `${withMargin(share, margin, totalNs)} of the critical path at ${formatCpus(cpus)} (${formatTime(criticalNs)} of ${formatTime(totalNs)}${rests}).`;
}

/** What there is to be gained by a function: in itself and, where that is something else, with all that it calls. */
export function functionVerdict(
  { criticalSelfNs, criticalTotalNs }: Pick<FunctionAt, 'criticalSelfNs' | 'criticalTotalNs'>,
  totalNs: number,
  cpus: number,
  margin?: Margin,
): { readonly share: string; readonly effect: string } {
  const [self, withCallees] = totalNs > 0 ? [criticalSelfNs / totalNs, criticalTotalNs / totalNs] : [0, 0];
  if (isNothing(withCallees - self)) {
    return { share: shareSentence(criticalSelfNs, totalNs, cpus, margin), effect: effectSentence(self) };
  }
  const times = `(${formatTime(criticalTotalNs)} of ${formatTime(totalNs)})`;
  if (isNothing(self)) {
    return {
      share: `${formatShare(withCallees)} of the critical path at ${formatCpus(cpus)} with what it calls ${times}, nothing in itself.`,
      effect: effectSentence(withCallees, '10% faster with what it calls'),
    };
  }
  const effect = effectSentence(self, '10% faster in itself');
  return {
    share: `${withMargin(self, margin, totalNs)} of the critical path at ${formatCpus(cpus)} in itself, ${formatShare(withCallees)} with what it calls ${times}.`,
    effect: self > 0 && withCallees > 0 ? `${effect.slice(0, -1)}, with what it calls ${formatEffect(withCallees)}.` : effect,
  };
}

function withMargin(share: number, margin: Margin | undefined, totalNs: number): string {
  const open = margin === undefined ? 0 : margin.ns / totalNs;
  return isNothing(open) ? formatShare(share) : `${formatShare(share)} ± ${formatShare(open)}`;
}

/** An error in the words of the command line, where they follow a name: "cannot open x: …". */
export function asSentence(error: string): string {
  return error.replace(/^(?:cannot|there|nothing|no|the|this|it|its)\b/, (word) => word.charAt(0).toUpperCase() + word.slice(1));
}

/** What went wrong, whatever was thrown. */
export function errorSentence(error: unknown): string {
  return asSentence(error instanceof Error ? error.message : String(error));
}

/** Whether a share would be shown as 0.0%. */
export function isNothing(share: number): boolean {
  return Math.abs(share) < 0.0005;
}

/** 57,337: with a separator that does not depend on the machine's language. */
export function formatCount(count: bigint | number): string {
  return count.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}

/** 1 thread, 2 threads, 57,337 calls. */
export function formatCountOf(count: bigint | number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${BigInt(count) === 1n ? one : many}`;
}

function threeDigits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/** How long something has been going on: 0:07, 12:40, 1:02:03. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (number: number): string => String(number).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}

/** How long ago: "just now", "2 min ago", "3 hours ago", "5 days ago". */
export function formatAge(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (minutes < 1) {
    return 'just now';
  }
  if (hours < 1) {
    return `${minutes} min ago`;
  }
  const [count, unit] = days < 1 ? [hours, 'hour'] : [days, 'day'];
  return `${formatCountOf(count, unit)} ago`;
}
