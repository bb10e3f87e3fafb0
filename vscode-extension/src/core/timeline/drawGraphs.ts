// The parts of the timeline that show time as such: overview, axis, parallelism graph and its histogram.
import { formatCpus, formatTime } from '../format';
import type { Box } from './layout';
import type { Parallelism, TimelineData, View } from './model';
import { lengthOf, ticks, timeAt, xOf } from './scale';
import { wholeOf, type Lane, type Scene } from './scene';
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
  const whole = wholeOf(scene);
  surface.clipped(box.x, box.y, box.width, box.height, () => drawArea(surface, data, whole, box, top, theme, false));
  const from = box.x + xOf(scene.view.fromNs, whole, box.width);
  const to = Math.max(from + 2, box.x + xOf(scene.view.toNs, whole, box.width));
  const left = Math.max(box.x, from);
  const right = Math.min(box.x + box.width, to);
  surface.polygons([[left, box.y, right, box.y, right, box.y + box.height, left, box.y + box.height]], undefined, {
    colour: theme.foreground,
    width: 1.4,
  });
  surface.text(box.x - 10, box.y + 12, 'whole run', { colour: theme.quiet, size: 11, align: 'right' }, box.x - 16);
}

/** Of the axis' small letters, in pixels; some are narrower. */
const tickLetterWidth = 6.6;

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
    // Left of its line only where it would be cut off.
    const isLast = x + 3 + text.length * tickLetterWidth > scene.layout.width;
    surface.text(x + (isLast ? 0 : 3), axis.y + 14, text, { colour: theme.quiet, size: 11, align: isLast ? 'right' : 'left' });
  }
}

/** Which run a lane is of, and how long it takes, where there is another one. */
export function drawTitle(surface: Surface, scene: Scene, index: number, theme: Theme): void {
  const lane = scene.lanes[index];
  const box = scene.layout.lanes[index]?.title;
  if (lane === undefined || box === undefined || box.height === 0) {
    return;
  }
  if (index > 0) {
    surface.lines([box.x, box.y + 0.5, box.x + box.width, box.y + 0.5], { colour: theme.grid, width: 1 });
  }
  const time = lane.overview === undefined ? '' : ` · ${formatTime(lane.overview.totalNs)}`;
  surface.text(12, box.y + box.height - 4, `${lane.title}${time}`, { colour: theme.foreground, size: 12, bold: true }, box.width - 24);
}

/** The parallelism graph of one lane (Paper I, Figure 5, above), and left of it how long each level lasts. */
export function drawParallelism(surface: Surface, scene: Scene, index: number, theme: Theme): void {
  const lane = scene.lanes[index];
  const box = scene.layout.lanes[index]?.graph;
  if (lane === undefined || box === undefined) {
    return;
  }
  const { data } = lane;
  const { peak, top } = heightOf(lane);
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
  // What is cut off reaches up there; or the line of the CPUs would be there.
  const above = Math.max(peak, lane.cpus);
  if (above > top) {
    surface.text(scene.layout.width - 2, box.y + 8, `↑${above}`, { colour: theme.quiet, size: 10, align: 'right' });
  }
  surface.text(12, box.y + 9, 'running', { colour: theme.foreground, size: 12 }, box.x - 74);
  if (scene.lanes.length === 1) {
    surface.text(12, box.y + 24, `on ${formatCpus(lane.cpus)}`, { colour: theme.quiet, size: 11 }, 70);
  }
}

/** The most threads that run or could in what is shown, and how many the graph has room for. */
export function heightOf({ cpus, data }: Pick<Lane, 'cpus' | 'data'>): { readonly peak: number; readonly top: number } {
  const peak = data === undefined ? cpus : peakOf(data);
  return { peak, top: Math.min(Math.max(peak, Math.min(cpus, Math.max(8, peak * 2))), mostShown(cpus)) };
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

/** Where the histogram of a graph is. */
export function histogramBox({ x, y, height }: Box): Box {
  const width = Math.min(54, x / 2.6);
  return { x: x - 4 - width, y, width, height: height + 2 };
}

/** Whose bar is there: the one of level 0 lies on the axis. */
export function levelAt(graph: Box, top: number, y: number): number {
  const above = graph.y + graph.height - y;
  return above < 2 ? 0 : Math.ceil((above / graph.height) * top);
}

/** How long so many threads run or could, in the interval. */
export function timesByLevel({ levels }: Pick<TimelineData, 'levels'>): Map<number, number> {
  const times = new Map<number, number>();
  for (const { running, runnable, timeNs } of levels) {
    times.set(running + runnable, (times.get(running + runnable) ?? 0) + timeNs);
  }
  return times;
}

/** The same as bars that grow out of the graph's own axis. */
function drawHistogram(surface: Surface, data: TimelineData, lane: Lane, box: Box, top: number, theme: Theme): void {
  const times = timesByLevel(data);
  const longest = Math.max(...times.values(), 1);
  const room = histogramBox(box).width;
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
function peakOf(data: TimelineData): number {
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

/** In which of its pixels a moment is; of one before or after them, none that there is. */
export function pixelAt(ns: number, data: Pick<TimelineData, 'view' | 'pixels'>): number {
  return Math.floor(((ns - data.view.fromNs) / lengthOf(data.view)) * data.pixels);
}

/** An interval while it is being marked: the rest is veiled. */
export function drawMarked(surface: Surface, scene: Scene, theme: Theme): void {
  const { marked, layout, view } = scene;
  if (marked === undefined) {
    return;
  }
  const { plotX, plotWidth } = layout;
  const inPlot = (ns: number): number => plotX + Math.min(Math.max(xOf(ns, view, plotWidth), 0), plotWidth);
  const [from, to] = [inPlot(marked.fromNs), inPlot(marked.toNs)];
  const bottom = layout.axis.y;
  const top = layout.overview.y + layout.overview.height + 4;
  // Of one that has no end yet, all can be looked at for one.
  if (lengthOf(marked) > 0) {
    surface.rects([plotX, top, from - plotX, bottom - top, to, top, plotX + plotWidth - to, bottom - top], theme.background, 'veil');
  }
  surface.lines([from, top, from, bottom, to, top, to, bottom], { colour: theme.selection, width: 1 });
  if (lengthOf(marked) > 0) {
    const isLeft = to > plotX + plotWidth - 80;
    const text = { colour: theme.selection, size: 11, bold: true, align: isLeft ? 'right' : 'left' } as const;
    surface.text(isLeft ? from - 6 : to + 6, top + 12, formatTime(lengthOf(marked)), text);
  }
}

/** The time below a place of the plot. */
export function timeBelow(scene: Pick<Scene, 'layout' | 'view'>, x: number): number {
  return timeAt(x - scene.layout.plotX, scene.view, scene.layout.plotWidth);
}
