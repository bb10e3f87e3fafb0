// What is under the pointer.
import { isInside, rowMiddle } from './layout';
import type { Stretches, TimelineData } from './model';
import { lengthOf, xOf } from './scale';
import { heightOf, histogramBox, levelAt, timeBelow } from './drawGraphs';
import type { Scene } from './scene';

export type Hit =
  | { readonly kind: 'overview' | 'axis' | 'none' }
  | { readonly kind: 'graph'; readonly lane: number; readonly timeNs: number }
  /** In the histogram: so many threads run or could. */
  | { readonly kind: 'level'; readonly lane: number; readonly level: number }
  | { readonly kind: 'name'; readonly lane: number; readonly thread: number }
  | {
      readonly kind: 'cpu';
      readonly lane: number;
      readonly cpu: number;
      readonly timeNs: number;
      /** Index of the turn, in the row's turns; of a pixel that is told by its sums, in its summaries. */
      readonly turn: number | undefined;
      readonly summary: number | undefined;
    }
  | {
      readonly kind: 'row';
      readonly lane: number;
      readonly thread: number;
      readonly timeNs: number;
      /** Index of a call that is drawn near, in the row's events. */
      readonly event: number | undefined;
      /** Index of the stretch, in the row's stretches. */
      readonly stretch: number | undefined;
    };

/** A call is hit from so far. */
export const nearPixels = 6;

export function hitTest(scene: Scene, x: number, y: number): Hit {
  const { layout } = scene;
  if (isInside(layout.overview, x, y)) {
    return { kind: 'overview' };
  }
  if (isInside(layout.axis, x, y)) {
    return { kind: 'axis' };
  }
  for (const [index, lane] of layout.lanes.entries()) {
    if (isInside(lane.graph, x, y)) {
      return { kind: 'graph', lane: index, timeNs: timeBelow(scene, x) };
    }
    const shown = scene.lanes[index];
    if (shown !== undefined && isInside(histogramBox(lane.graph), x, y)) {
      return { kind: 'level', lane: index, level: levelAt(lane.graph, heightOf(shown).top, y) };
    }
    const row = Math.floor((y - lane.rows.y + lane.scroll) / lane.rowHeight);
    const thread = shown?.threads[row]?.thread.thread;
    if (isInside(lane.names, x, y) && thread !== undefined && scene.rowsAre === 'threads') {
      return { kind: 'name', lane: index, thread };
    }
    if (!isInside(lane.rows, x, y)) {
      continue;
    }
    const timeNs = timeBelow(scene, x);
    if (scene.rowsAre === 'cpus') {
      return cpuAt(shown?.data, index, row, timeNs);
    }
    if (thread !== undefined) {
      const data = shown?.data;
      const isNear = Math.abs(y - rowMiddle(lane, row)) <= lane.rowHeight / 2;
      return {
        kind: 'row',
        lane: index,
        thread,
        timeNs,
        event: isNear ? eventNear(scene, data, thread, x) : undefined,
        stretch: stretchAt(data, thread, timeNs),
      };
    }
  }
  return { kind: 'none' };
}

function cpuAt(data: TimelineData | undefined, lane: number, cpu: number, timeNs: number): Hit {
  const row = data?.cpuRows.find((each) => each.cpu === cpu);
  if (data === undefined || row === undefined) {
    return { kind: 'none' };
  }
  const pixel = Math.floor(((timeNs - data.view.fromNs) / lengthOf(data.view)) * data.pixels);
  const summary = row.summaries.pixel.indexOf(pixel);
  return { kind: 'cpu', lane, cpu, timeNs, turn: indexAt(row.turns, timeNs), summary: summary < 0 ? undefined : summary };
}

function eventNear(scene: Scene, data: TimelineData | undefined, thread: number, x: number): number | undefined {
  const events = data?.rows.find((row) => row.thread === thread)?.events;
  let best: number | undefined;
  let nearest = nearPixels;
  events?.timeNs.forEach((ns, at) => {
    const distance = Math.abs(scene.layout.plotX + xOf(ns, scene.view, scene.layout.plotWidth) - x);
    if (distance <= nearest) {
      nearest = distance;
      best = at;
    }
  });
  return best;
}

function stretchAt(data: TimelineData | undefined, thread: number, ns: number): number | undefined {
  const stretches = data?.rows.find((row) => row.thread === thread)?.stretches;
  return stretches === undefined ? undefined : indexAt(stretches, ns);
}

/** The stretch, or turn, that covers a moment; they are in order and do not overlap. */
export function indexAt(stretches: Pick<Stretches, 'startNs' | 'endNs'>, ns: number): number | undefined {
  let [low, high] = [0, stretches.startNs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((stretches.startNs[middle] ?? 0) <= ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const at = low - 1;
  return at >= 0 && (stretches.endNs[at] ?? 0) >= ns ? at : undefined;
}
