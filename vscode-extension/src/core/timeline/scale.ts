// The time axis: which part of a run a width of pixels shows, how that moves, and how its times are written.
import type { View } from './model';

/** VPPB's steps (Paper I, section 3.3). */
export const zoomSteps = { small: 1.5, large: 3 } as const;

/** No view is shorter: recordings count whole nanoseconds. */
const shortestNs = 10;

export function lengthOf(view: View): number {
  return view.toNs - view.fromNs;
}

export function xOf(ns: number, view: View, width: number): number {
  return ((ns - view.fromNs) / lengthOf(view)) * width;
}

export function timeAt(x: number, view: View, width: number): number {
  return view.fromNs + (x / width) * lengthOf(view);
}

/** The whole run. */
export function wholeRun(totalNs: number): View {
  return { fromNs: 0, toNs: Math.max(totalNs, shortestNs) };
}

/** The view of this length that is nearest, within the run. */
export function within(view: View, totalNs: number): View {
  const run = Math.max(totalNs, shortestNs);
  const length = Math.min(Math.max(lengthOf(view), shortestNs), run);
  const fromNs = Math.min(Math.max(view.fromNs, 0), run - length);
  return { fromNs, toNs: fromNs + length };
}

/** Magnifies by `factor` (below 1: the other way); the time `anchorNs` stays where it is. */
export function zoom(view: View, factor: number, anchorNs: number, totalNs: number): View {
  const length = Math.min(Math.max(lengthOf(view) / factor, shortestNs), Math.max(totalNs, shortestNs));
  const part = (anchorNs - view.fromNs) / lengthOf(view);
  const fromNs = anchorNs - part * length;
  return within({ fromNs, toNs: fromNs + length }, totalNs);
}

/** Magnifies by one of VPPB's steps: the left-most time stays. */
export function zoomStep(view: View, factor: number, totalNs: number): View {
  return zoom(view, factor, view.fromNs, totalNs);
}

export function pan(view: View, byNs: number, totalNs: number): View {
  return within({ fromNs: view.fromNs + byNs, toNs: view.toNs + byNs }, totalNs);
}

export function centred(view: View, atNs: number, totalNs: number): View {
  const half = lengthOf(view) / 2;
  return within({ fromNs: atNs - half, toNs: atNs + half }, totalNs);
}

/** The view that shows this stretch with some room on both sides. */
export function around(startNs: number, endNs: number, totalNs: number): View {
  const room = Math.max((endNs - startNs) * 0.15, shortestNs);
  return within({ fromNs: startNs - room, toNs: endNs + room }, totalNs);
}

export function isSame(a: View, b: View): boolean {
  return a.fromNs === b.fromNs && a.toNs === b.toNs;
}

/** Views are told in whole nanoseconds: what was asked for comes back with its ends rounded. */
export function isRounded(told: View, asked: View): boolean {
  return Math.abs(told.fromNs - asked.fromNs) < 1 && Math.abs(told.toNs - asked.toNs) < 1;
}

/** "82.09 ms → 82.48 ms": the ends of a stretch as finely as a view needs, or as it takes to tell them apart. */
export function formatSpan(startNs: number, endNs: number, view: View): string {
  const whole = { fromNs: view.fromNs, toNs: Math.max(view.toNs, endNs) };
  const [start, end] = [formatMoment(startNs, whole), formatMoment(endNs, whole)];
  if (start !== end || startNs >= endNs) {
    return `${start} → ${end}`;
  }
  const step = 10 ** Math.floor(Math.log10(Math.max((endNs - startNs) / 10, 1)));
  return `${formatAt(startNs, step, endNs)} → ${formatAt(endNs, step, endNs)}`;
}

/** What of a view is in a run, which may end before it, as that of a longer run beside it; undefined: it has ended by then. */
export function partInRun(view: View, totalNs: number): View | undefined {
  return view.fromNs < totalNs ? { fromNs: view.fromNs, toNs: Math.min(view.toNs, totalNs) } : undefined;
}

export interface Tick {
  readonly ns: number;
  readonly text: string;
}

/** Round times of a view, at least `leastPixels` apart, each written as finely as they lie apart. */
export function ticks(view: View, width: number, leastPixels = 90): Tick[] {
  const least = (lengthOf(view) * leastPixels) / Math.max(width, 1);
  const magnitude = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  const step = [1, 2, 5, 10].map((factor) => factor * magnitude).find((candidate) => candidate >= least) ?? magnitude * 10;
  const result: Tick[] = [];
  for (let at = Math.ceil(view.fromNs / step); at * step <= view.toNs; at++) {
    result.push({ ns: at * step, text: formatAt(at * step, step, view.toNs) });
  }
  return result;
}

const units: readonly [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];

/** A moment: in the unit of the end of the view, with the digits that tell two ticks apart. */
export function formatAt(ns: number, stepNs: number, largestNs: number): string {
  const [size, unit] = units.find(([candidate]) => largestNs >= candidate) ?? [1, 'ns'];
  const digits = Math.max(0, Math.ceil(Math.log10(size / Math.max(stepNs, 1)) - 1e-9));
  return `${(ns / size).toFixed(Math.min(digits, 9))} ${unit}`;
}

/** A moment within a view, to a hundredth of the view. */
export function formatMoment(ns: number, view: View): string {
  return formatAt(ns, 10 ** Math.floor(Math.log10(Math.max(lengthOf(view) / 100, 1))), view.toNs);
}
