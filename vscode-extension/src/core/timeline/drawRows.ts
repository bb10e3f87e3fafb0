// The execution flow graph (Paper I, Figure 5, below): what each thread, or each CPU, does from moment to moment.
//
// States are told apart without their colours: running is a full bar, runnable a hatched one of half the height, I/O a dotted one,
// blocked a dashed line, sleeping a line of dots. The critical path is the thick line.
import { drawCalls, largestSign, type CallsDrawn } from './drawCalls';
import { CpuPainter, drawCpuName } from './drawCpus';
import { Fillings } from './fillings';
import { rowMiddle, visibleRows, type LaneLayout } from './layout';
import { State, type Row, type TimelineData } from './model';
import { RowPlaces } from './rowPlaces';
import { lengthOf } from './scale';
import { rowCount, type Lane, type Scene } from './scene';
import type { Surface, Texture } from './surface';
import { outline } from './symbols';
import { categoryOf, heatOf, type Theme } from './theme';

const overhang = largestSign + 1;

/** Returns how many calls it has signs for. */
export function drawRows(surface: Surface, scene: Scene, index: number, theme: Theme): CallsDrawn {
  const lane = scene.lanes[index];
  const layout = scene.layout.lanes[index];
  if (lane === undefined || layout === undefined) {
    return { signs: 0, calls: 0 };
  }
  drawNames(surface, scene, lane, layout, theme);
  const { rows } = layout;
  const painter = new RowPainter(surface, scene, lane, layout, theme);
  surface.clipped(rows.x, rows.y, rows.width, rows.height, () => painter.paint());
  // A call where the run begins, or ends, is whole.
  let drawn: CallsDrawn = { signs: 0, calls: 0 };
  surface.clipped(rows.x - overhang, rows.y, rows.width + 2 * overhang, rows.height, () => (drawn = painter.paintCalls()));
  surface.clipped(rows.x, rows.y, rows.width, rows.height, () => painter.paintSelection());
  if (layout.contentHeight > rows.height) {
    const size = Math.max(16, (rows.height / layout.contentHeight) * rows.height);
    const at = rows.y + (layout.scroll / (layout.contentHeight - rows.height)) * (rows.height - size);
    surface.rects([rows.x + rows.width + 6, at, 5, size], theme.blocked);
  }
  return drawn;
}

function drawNames(surface: Surface, scene: Scene, lane: Lane, layout: LaneLayout, theme: Theme): void {
  const { names } = layout;
  const { first, last } = visibleRows(layout, rowCount(lane, scene.rowsAre));
  const size = layout.rowHeight >= 17 ? 12 : 11;
  surface.clipped(names.x, names.y, names.width, names.height, () => {
    for (let row = first; row < last; row++) {
      const y = rowMiddle(layout, row) + size * 0.36;
      if (scene.rowsAre === 'cpus') {
        drawCpuName(surface, scene, lane, layout, theme, row);
        continue;
      }
      const shown = lane.threads[row];
      if (shown !== undefined) {
        const x = 12 + Math.min(4, shown.depth) * 8;
        const isSelected = lane.selection?.thread.thread === shown.thread.thread;
        const colour = isSelected ? theme.selection : theme.foreground;
        surface.text(x, y, shown.thread.name, { colour, size, bold: isSelected }, names.width - x - 8);
      }
    }
  });
}

/** Where the path goes from one row to another. */
interface Crossing {
  readonly x: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * Those that can be told apart: one after the other without end, closer than `room`, they are a thicket that hides all that is below
 * it, and says no more than the parts of the path in their rows do. A few in one place are as good as one.
 */
function withRoom(crossings: readonly Crossing[], room: number): Crossing[] {
  const drawn: Crossing[] = [];
  for (let first = 0; first < crossings.length; ) {
    let last = first;
    while (last + 1 < crossings.length && (crossings[last + 1]?.x ?? 0) - (crossings[last]?.x ?? 0) < room) {
      last++;
    }
    if ((crossings[last]?.x ?? 0) - (crossings[first]?.x ?? 0) < room) {
      drawn.push(...crossings.slice(first, last + 1));
    }
    first = last + 1;
  }
  return drawn;
}

class RowPainter {
  private readonly fillings = new Fillings();
  private readonly places: RowPlaces;
  private readonly bar: number;

  constructor(
    private readonly surface: Surface,
    private readonly scene: Scene,
    private readonly lane: Lane,
    private readonly layout: LaneLayout,
    private readonly theme: Theme,
  ) {
    this.places = new RowPlaces(scene, lane, layout);
    this.bar = this.places.bar;
  }

  paint(): void {
    const { data } = this.lane;
    const { first, last } = visibleRows(this.layout, rowCount(this.lane, this.scene.rowsAre));
    const middles: number[] = [];
    for (let row = first; row < last; row++) {
      const y = rowMiddle(this.layout, row);
      middles.push(this.layout.rows.x, y, this.layout.rows.x + this.layout.rows.width, y);
    }
    this.surface.lines(middles, { colour: this.theme.grid, width: 1 });
    if (data === undefined) {
      return;
    }
    if (this.scene.rowsAre === 'cpus') {
      new CpuPainter(this.surface, this.scene, this.lane, this.layout, this.theme).paint(data, first, last);
      return;
    }
    const seen = this.places.seen(data);
    this.paintStretches(seen, data);
    this.paintSummaries(seen, data);
    this.paintFound();
    this.paintPath(data);
  }

  /** What lies on the stretches. */
  paintCalls(): CallsDrawn {
    const { data } = this.lane;
    return data === undefined || this.scene.rowsAre === 'cpus' ? { signs: 0, calls: 0 } : drawCalls(this.surface, data, this.places, this.theme);
  }

  private paintStretches(rows: readonly Row[], data: TimelineData): void {
    const { theme, fillings, bar } = this;
    const byLock = this.scene.colourBy === 'lock';
    const waits = new Map<string, number[]>();
    const sleeps: number[] = [];
    for (const { thread, stretches } of rows) {
      const y = this.places.y(thread);
      for (let at = 0; at < stretches.state.length; at++) {
        const from = this.places.x(stretches.startNs[at] ?? 0);
        const to = this.places.x(stretches.endNs[at] ?? 0);
        if (this.places.isOutside(from, to)) {
          continue;
        }
        // Half a pixel is to be seen, too.
        const width = Math.max(to - from, 0.7);
        switch (stretches.state[at]) {
          case State.running:
            fillings.add(this.colourOfRunning(data, stretches.place[at], stretches.weight[at]), 'solid', from, y - bar / 2, width, bar);
            break;
          case State.runnable:
            fillings.add(theme.runnable, 'hatched', from, y - bar / 4, width, bar / 2);
            break;
          case State.io:
            fillings.add(theme.io, 'dotted', from, y - bar / 2, width, bar);
            break;
          case State.sleeping:
            sleeps.push(from, y, to, y);
            break;
          case undefined:
          default: {
            const colour = this.colourOfWaiting(data, stretches.object[at]);
            const segments = waits.get(colour) ?? [];
            segments.push(from, y, Math.max(to, from + 0.7), y);
            waits.set(colour, segments);
          }
        }
      }
    }
    for (const [colour, segments] of waits) {
      this.surface.lines(segments, { colour, width: byLock && colour !== theme.blocked ? 3 : 1.2, dash: [3, 3] });
    }
    this.surface.lines(sleeps, { colour: theme.quiet, width: 1.4, dash: [1.4, 5] });
    fillings.fill(this.surface);
  }

  private colourOfRunning(data: TimelineData, place: number | undefined, weight: number | undefined): string {
    switch (this.scene.colourBy) {
      case 'state':
        return this.theme.running;
      case 'weight':
        return heatOf(weight ?? 0, this.theme);
      case 'function':
        return categoryOf(data.places[(place ?? 0) - 1]?.function ?? '', this.theme, this.scene.colouring, this.theme.quiet);
      case 'lock':
        return this.theme.quiet;
    }
  }

  private colourOfWaiting({ objects }: TimelineData, object: number | undefined): string {
    const { scene, theme } = this;
    const { kind, name } = objects[(object ?? 0) - 1] ?? { kind: 'device', name: '' };
    return scene.colourBy !== 'lock' || kind === 'device' ? theme.blocked : categoryOf(`${kind} ${name}`, theme, scene.colouring, theme.blocked);
  }

  /** Each summarised pixel from the bottom up: what it ran, what it waited for a CPU, what it was in I/O, and for a lock that has a colour. */
  private paintSummaries(rows: readonly Row[], data: TimelineData): void {
    const { theme, fillings, bar } = this;
    const pixelNs = lengthOf(data.view) / Math.max(1, data.pixels);
    for (const { thread, summaries } of rows) {
      const bottom = this.places.y(thread) + bar / 2;
      for (let at = 0; at < summaries.pixel.length; at++) {
        const startNs = data.view.fromNs + (summaries.pixel[at] ?? 0) * pixelNs;
        const from = this.places.x(startNs);
        const to = this.places.x(startNs + pixelNs);
        if (this.places.isOutside(from, to)) {
          continue;
        }
        const share = (state: number): number => (summaries.shares[at * 5 + state - 1] ?? 0) / 255;
        const height = (part: number): number => (part > 0 ? Math.max(1, part * bar) : 0);
        const width = Math.max(to - from, 0.7);
        let top = bottom;
        const stack = (colour: string, texture: Texture, part: number): void => {
          if (part > 0) {
            top -= height(part);
            fillings.add(colour, texture, from, top, width, height(part));
          }
        };
        stack(this.colourOfRunning(data, summaries.place[at], summaries.weight[at]), 'solid', share(State.running));
        stack(theme.runnable, 'solid', share(State.runnable));
        stack(theme.io, 'solid', share(State.io));
        const waits = this.colourOfWaiting(data, summaries.object[at]);
        if (waits !== theme.blocked) {
          stack(waits, 'solid', share(State.blocked));
        }
        if (top === bottom) {
          fillings.add(theme.blocked, 'solid', from, bottom - bar / 2, width, 1.2);
        }
      }
    }
    fillings.fill(this.surface);
  }

  private paintFound(): void {
    const { found } = this.lane;
    if (found === undefined) {
      return;
    }
    const pixelNs = lengthOf(found.view) / Math.max(1, found.pixels);
    const marks: number[] = [];
    for (const { thread, pixel } of found.rows) {
      if (this.places.has(thread)) {
        const y = this.places.y(thread) + this.bar / 2 + 1;
        for (const each of pixel) {
          const from = this.places.x(found.view.fromNs + each * pixelNs);
          const to = this.places.x(found.view.fromNs + (each + 1) * pixelNs);
          marks.push(from - 0.5, y, Math.max(to - from, 1) + 1, 3);
        }
      }
    }
    this.surface.rects(marks, this.theme.found);
  }

  /** Along the rows and across them, so of rectangles; dashed where time passes between two parts. */
  private paintPath({ path }: TimelineData): void {
    const { theme, surface } = this;
    const { rows } = this.layout;
    const width = this.layout.rowHeight >= 17 ? 3.2 : 2.6;
    const line: number[] = [];
    const gaps: number[] = [];
    const crossings: Crossing[] = [];
    let before: { readonly x: number; readonly y: number } | undefined;
    for (let at = 0; at < path.thread.length; at++) {
      const thread = path.thread[at] ?? 0;
      if (!this.places.has(thread)) {
        before = undefined;
        continue;
      }
      const from = this.places.x(path.startNs[at] ?? 0);
      const to = Math.max(this.places.x(path.endNs[at] ?? 0), from);
      const y = this.places.y(thread);
      if (before !== undefined && from > before.x + 1.5) {
        gaps.push(before.x, before.y, from, y);
      } else if (before !== undefined && before.y !== y && !this.places.isOutside(from, from)) {
        const top = Math.max(Math.min(before.y, y), rows.y - width);
        const bottom = Math.min(Math.max(before.y, y), rows.y + rows.height + width);
        crossings.push({ x: from, top, bottom });
      }
      if (y > rows.y - width && y < rows.y + rows.height + width && !this.places.isOutside(from, to)) {
        line.push(from - width / 2, y - width / 2, to - from + width, width);
      }
      before = { x: to, y };
    }
    for (const { x, top, bottom } of withRoom(crossings, 4 * width)) {
      if (bottom > top) {
        line.push(x - width / 2, top - width / 2, width, bottom - top + width);
      }
    }
    surface.rects(line, theme.path);
    surface.lines(gaps, { colour: theme.path, width: 1.6, dash: [1.6, 3] });
  }

  paintSelection(): void {
    const { surface, theme, bar } = this;
    const { data, selection: item } = this.lane;
    const thread = item?.thread.thread;
    if (data === undefined || item === undefined || thread === undefined || !this.places.has(thread) || this.scene.rowsAre === 'cpus') {
      return;
    }
    const y = this.places.y(thread);
    const from = this.places.x(item.startNs) - 1.5;
    const to = Math.max(this.places.x(item.endNs) + 1.5, from + 5);
    const colour = this.scene.bright ? theme.selection : theme.quiet;
    const half = bar / 2 + 3;
    surface.polygons([[from, y - half, to, y - half, to, y + half, from, y + half]], undefined, { colour, width: 1.6 });
    if (item.made) {
      const at = this.places.x(item.callNs);
      surface.polygons([outline('circle', at, y, bar)], undefined, { colour, width: this.scene.bright ? 2 : 1.2 });
    }
    for (const [waker, dash] of [
      [item.wokenBy, undefined],
      [item.cpuFrom, [4, 3]],
    ] as const) {
      if (waker !== undefined && this.places.has(waker.thread)) {
        this.arrow(this.places.x(waker.timeNs), this.places.y(waker.thread), this.places.x(Math.max(waker.timeNs, item.endNs)), y, colour, dash);
      }
    }
  }

  private arrow(x1: number, y1: number, x2: number, y2: number, colour: string, dash: readonly number[] | undefined): void {
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 1) {
      return;
    }
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const head = 7;
    const [bx, by] = [x2 - dx * head, y2 - dy * head];
    this.surface.lines([x1, y1, bx, by], { colour, width: 1.6, ...(dash !== undefined && { dash }) });
    this.surface.polygons([[x2, y2, bx - dy * 3.6, by + dx * 3.6, bx + dy * 3.6, by - dx * 3.6]], colour);
  }
}
