// The parts of the timeline that show time as such: overview, axis, parallelism graph and its histogram.
import { formatCpus } from '../format';
import type { Box } from './layout';
import type { Parallelism, TimelineData, View } from './model';
import { lengthOf, ticks, timeAt, xOf } from './scale';
import type { Lane, Scene } from './scene';
import type { Surface } from './surface';
import type { Theme } from './theme';

export function drawOverview(surface: Surface, scene: Scene, theme: Theme): void {
  const box = scene.layout.overview;
  const data = scene.lanes[0]?.overview;
  surface.rects([box.x, box.y, box.width, box.height], theme.grid);
  if (data === undefined) {
    return;
  }
  const top = Math.min(meanPeakOf(data), mostShown(scene.lanes[0]?.cpus ?? 1));
  surface.clipped(box.x, box.y, box.width, box.height, () => drawArea(surface, data, data.view, box, top, theme, false));
  const from = box.x + xOf(scene.view.fromNs, data.view, box.width);
  const to = Math.max(from + 2, box.x + xOf(scene.view.toNs, data.view, box.width));
  const left = Math.max(box.x, from);
  const right = Math.min(box.x + box.width, to);
  surface.polygons([[left, box.y, right, box.y, right, box.y + box.height, left, box.y + box.height]], undefined, {
    colour: theme.foreground,
    width: 1.4,
  });
  surface.text(box.x - 10, box.y + 12, 'whole run', { colour: theme.quiet, size: 11, align: 'right' }, box.x - 16);
}

export function drawAxis(surface: Surface, scene: Scene, theme: Theme): void {
  const { axis, lanes, plotX, plotWidth } = scene.layout;
  const marks = ticks(scene.view, plotWidth);
  const segments: number[] = [];
  for (const { ns } of marks) {
    const x = plotX + xOf(ns, scene.view, plotWidth);
    for (const lane of lanes) {
      segments.push(x, lane.graph.y, x, lane.rows.y + lane.rows.height);
    }
  }
  surface.lines(segments, { colour: theme.grid, width: 1 });
  for (const { ns, text } of marks) {
    const x = plotX + xOf(ns, scene.view, plotWidth);
    const isLast = x > plotX + plotWidth - 40;
    surface.text(x + (isLast ? 0 : 3), axis.y + 14, text, { colour: theme.quiet, size: 11, align: isLast ? 'right' : 'left' });
  }
}

/** The parallelism graph of one lane (Paper I, Figure 5, above), and left of it how long each level lasts. */
export function drawParallelism(surface: Surface, scene: Scene, index: number, theme: Theme): void {
  const lane = scene.lanes[index];
  const box = scene.layout.lanes[index]?.graph;
  if (lane === undefined || box === undefined) {
    return;
  }
  const { data } = lane;
  const peak = data === undefined ? lane.cpus : peakOf(data);
  const top = Math.min(Math.max(peak, Math.min(lane.cpus, Math.max(4, peak * 2))), mostShown(lane.cpus));
  if (data !== undefined) {
    surface.clipped(box.x, box.y - 2, box.width, box.height + 4, () => drawArea(surface, data, scene.view, box, top, theme, true));
    surface.clipped(0, box.y - 2, box.x, box.height + 6, () => drawHistogram(surface, data, lane, box, top, theme));
  }
  const baseline = box.y + box.height;
  surface.lines([box.x, baseline + 0.5, box.x + box.width, baseline + 0.5], { colour: theme.blocked, width: 1 });
  if (lane.cpus <= top) {
    const y = baseline - (lane.cpus / top) * box.height;
    surface.lines([box.x, y, box.x + box.width, y], { colour: theme.quiet, width: 1, dash: [3, 4] });
    surface.text(box.x + box.width + 4, y + 4, String(lane.cpus), { colour: theme.quiet, size: 11 });
  }
  if (lane.cpus > top || peak > top) {
    surface.text(box.x + box.width + 3, box.y + 8, peak > top ? `${peak}` : String(top), { colour: theme.quiet, size: 10 }, 22);
  }
  const isAlone = scene.lanes.length === 1;
  surface.text(12, box.y + 9, isAlone ? 'running' : lane.title, { colour: theme.foreground, size: 12, bold: !isAlone }, box.x - 74);
  if (isAlone) {
    surface.text(12, box.y + 24, `on ${formatCpus(lane.cpus)}`, { colour: theme.quiet, size: 11 }, 70);
  }
}

/** Of hundreds that wait for a few CPUs, the CPUs must still be seen: what reaches higher is cut off, and its height written beside. */
function mostShown(cpus: number): number {
  return Math.max(8, cpus * 3);
}

/** The bound on what binding threads to CPUs can bring (Paper VII), where the view shows that moment. */
export function drawBound(surface: Surface, scene: Scene, index: number, theme: Theme): void {
  const ns = scene.lanes[index]?.boundNs;
  const layout = scene.layout.lanes[index];
  if (ns === undefined || layout === undefined || ns < scene.view.fromNs || ns > scene.view.toNs) {
    return;
  }
  const { plotX, plotWidth } = scene.layout;
  const x = plotX + xOf(ns, scene.view, plotWidth);
  const { graph, rows } = layout;
  surface.lines([x, graph.y, x, rows.y + rows.height], { colour: theme.foreground, width: 1.4, dash: [7, 4] });
  const isRight = x > plotX + plotWidth - 60;
  surface.text(x + (isRight ? -5 : 5), graph.y + 10, 'bound', { colour: theme.foreground, size: 11, align: isRight ? 'right' : 'left' });
}

/** Running threads, and on top of them those that could run. `exact`: with the most and the least of a pixel, not only its mean. */
function drawArea(surface: Surface, data: TimelineData, view: View, box: Box, top: number, theme: Theme, exact: boolean): void {
  const { parallelism, pixels } = data;
  const running: number[] = [];
  const brief: number[] = [];
  const runnable: number[] = [];
  const unit = box.height / Math.max(1, top);
  const baseline = box.y + box.height;
  const width = (lengthOf(data.view) / Math.max(1, pixels) / lengthOf(view)) * box.width;
  const first = Math.max(0, pixelAt(view.fromNs, data) - 1);
  const last = Math.min(pixels, pixelAt(view.toNs, data) + 2);
  for (let from = first; from < last; ) {
    // Equal neighbours are one rectangle: a quiet stretch costs no more than a pixel.
    let to = from + 1;
    while (to < last && isSamePixel(parallelism, from, to)) {
      to++;
    }
    const x = box.x + xOf(data.view.fromNs + (lengthOf(data.view) * from) / pixels, view, box.width);
    const wide = (to - from) * width + (width < 2 ? 0.35 : 0);
    const mean = parallelism.meanRunning[from] ?? 0;
    const most = exact ? (parallelism.mostRunning[from] ?? mean) : mean;
    const waiting = parallelism.meanRunnable[from] ?? 0;
    running.push(x, baseline - mean * unit, wide, mean * unit);
    if (most > mean) {
      brief.push(x, baseline - most * unit, wide, (most - mean) * unit);
    }
    if (waiting > 0) {
      const height = Math.max(1, waiting * unit);
      runnable.push(x, baseline - mean * unit - height, wide, height);
    }
    from = to;
  }
  surface.rects(running, theme.running);
  surface.rects(brief, theme.running, 'dotted');
  surface.rects(runnable, theme.runnable, exact ? 'hatched' : 'solid');
}

function isSamePixel(parallelism: Parallelism, a: number, b: number): boolean {
  return (
    parallelism.meanRunning[a] === parallelism.meanRunning[b] &&
    parallelism.mostRunning[a] === parallelism.mostRunning[b] &&
    parallelism.meanRunnable[a] === parallelism.meanRunnable[b]
  );
}

/** How long so many threads run or could: bars that grow out of the graph's own axis. */
function drawHistogram(surface: Surface, data: TimelineData, lane: Lane, box: Box, top: number, theme: Theme): void {
  const times = new Map<number, number>();
  for (const { running, runnable, timeNs } of data.levels) {
    times.set(running + runnable, (times.get(running + runnable) ?? 0) + timeNs);
  }
  const longest = Math.max(...times.values(), 1);
  const room = Math.min(54, box.x / 2.6);
  const unit = box.height / Math.max(1, top);
  const within: number[] = [];
  const beyond: number[] = [];
  for (const [level, timeNs] of times) {
    const length = Math.max(1, (timeNs / longest) * room);
    const height = Math.max(1.5, Math.min(unit - 1, 9));
    const y = box.y + box.height - level * unit;
    (level > lane.cpus ? beyond : within).push(box.x - 4 - length, y + (level === 0 ? -height / 2 : (Math.min(unit, 9) - height) / 2), length, height);
  }
  surface.rects(within, theme.quiet);
  surface.rects(beyond, theme.runnable, 'hatched');
}

/** The most threads that run or could at once. */
export function peakOf(data: TimelineData): number {
  const { mostRunning, mostRunnable, meanRunning, meanRunnable } = data.parallelism;
  let peak = 1;
  for (let pixel = 0; pixel < meanRunning.length; pixel++) {
    const mean = (meanRunning[pixel] ?? 0) + (meanRunnable[pixel] ?? 0);
    peak = Math.max(peak, mostRunning[pixel] ?? 0, mostRunnable[pixel] ?? 0, Math.ceil(mean));
  }
  return peak;
}

/** For a picture of means: a moment with many threads must not flatten all the rest. */
function meanPeakOf({ parallelism: { meanRunning, meanRunnable } }: TimelineData): number {
  return meanRunning.reduce((peak, mean, pixel) => Math.max(peak, mean + (meanRunnable[pixel] ?? 0)), 1);
}

function pixelAt(ns: number, data: TimelineData): number {
  return Math.floor(((ns - data.view.fromNs) / lengthOf(data.view)) * data.pixels);
}

/** An interval while it is being marked. */
export function drawMarked(surface: Surface, scene: Scene, theme: Theme): void {
  const { marked, layout, view } = scene;
  if (marked === undefined) {
    return;
  }
  const from = layout.plotX + xOf(marked.fromNs, view, layout.plotWidth);
  const to = layout.plotX + xOf(marked.toNs, view, layout.plotWidth);
  const bottom = layout.axis.y;
  const top = layout.overview.y + layout.overview.height + 4;
  surface.rects([from, top, to - from, bottom - top], theme.selection, 'dotted');
  surface.lines([from, top, from, bottom, to, top, to, bottom], { colour: theme.selection, width: 1 });
}

/** The time below a place of the plot. */
export function timeBelow(scene: Pick<Scene, 'layout' | 'view'>, x: number): number {
  return timeAt(x - scene.layout.plotX, scene.view, scene.layout.plotWidth);
}
