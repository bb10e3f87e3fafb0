// Rows of CPUs: whose turn it is, in the colours of the threads. Pixels of several turns are told by how much of them the CPU is busy, in
// the colour of the thread that has it longest, with marks above for threads that come from another CPU.
import { formatShare } from '../format';
import { Fillings } from './fillings';
import { rowMiddle, xInRows, type LaneLayout } from './layout';
import { State, type CpuRow, type TimelineData } from './model';
import { lengthOf } from './scale';
import type { Lane, Scene } from './scene';
import type { Surface } from './surface';
import { categoryCount, categoryOf, tellApart, type Colouring, type Theme } from './theme';

/** "CPU 3", and how much of the visible interval it is busy. */
export function drawCpuName(surface: Surface, scene: Scene, lane: Lane, layout: LaneLayout, theme: Theme, row: number): void {
  const size = layout.rowHeight >= 17 ? 12 : 11;
  const y = rowMiddle(layout, row) + size * 0.36;
  surface.text(12, y, lane.hasCpus ? `CPU ${row}` : 'all CPUs', { colour: theme.foreground, size });
  const total = lane.cpuTotals.find(({ cpu }) => cpu === row);
  if (lane.hasCpus && total !== undefined) {
    const share = total.busyNs === 0 ? '–' : formatShare(Math.min(1, total.busyNs / lengthOf(scene.view)));
    surface.text(layout.names.width - 10, y, share, { colour: theme.quiet, size, align: 'right' });
  }
}

/** Of a small letter, in pixels; a longer name is cut. A name that is cut sooner tells nothing: those of a pool begin alike. */
const [letterWidth, mostLetters] = [5.8, 24];

export class CpuPainter {
  private readonly fillings = new Fillings();
  /** Where what reaches into a pixel that is told by its sums is taken away again. */
  private readonly emptied = new Fillings();
  private readonly bar: number;
  private readonly colours = new Map<number, string>();
  private readonly names: ReadonlyMap<number, string>;
  /** Of threads so few that each can have a colour of its own. */
  private readonly colouring: Colouring | undefined;

  constructor(
    private readonly surface: Surface,
    private readonly scene: Scene,
    private readonly lane: Lane,
    private readonly layout: LaneLayout,
    private readonly theme: Theme,
  ) {
    this.bar = Math.round(layout.rowHeight * 0.52);
    this.names = threadNames(lane);
    this.colouring = this.names.size <= categoryCount ? tellApart([...this.names.values()]) : undefined;
  }

  /** From row `first` up to but not including row `last`. */
  paint(data: TimelineData, first: number, last: number): void {
    if (!this.lane.hasCpus) {
      this.paintAll(data);
    }
    const seen = data.cpuRows.filter(({ cpu }) => cpu >= first && cpu < last);
    seen.forEach((row) => this.paintTurns(row));
    this.fillings.fill(this.surface);
    this.paintNames(seen);
    seen.forEach((row) => this.paintSummaries(row, data));
    this.emptied.fill(this.surface);
    this.fillings.fill(this.surface);
    this.paintSelection();
  }

  private colourOf(thread: number): string {
    let colour = this.colours.get(thread);
    if (colour === undefined) {
      colour = categoryOf(this.names.get(thread) ?? String(thread), this.theme, this.colouring);
      this.colours.set(thread, colour);
    }
    return colour;
  }

  private x(ns: number): number {
    return xInRows(ns, this.scene.view, this.layout);
  }

  private isOutside(from: number, to: number): boolean {
    const { rows } = this.layout;
    return to < rows.x || from > rows.x + rows.width;
  }

  private paintTurns({ cpu, turns }: CpuRow): void {
    const y = rowMiddle(this.layout, cpu);
    for (let at = 0; at < turns.thread.length; at++) {
      const [from, to] = [this.x(turns.startNs[at] ?? 0), this.x(turns.endNs[at] ?? 0)];
      if (this.isOutside(from, to)) {
        continue;
      }
      // Turns that follow each other at once are told apart by a gap, whatever their colours.
      const gap = to - from > 3 ? 1 : 0;
      this.fillings.add(this.colourOf(turns.thread[at] ?? 0), 'solid', from, y - this.bar / 2, Math.max(to - from - gap, 0.7), this.bar);
      if (turns.migrated[at] === 1) {
        this.fillings.add(this.theme.foreground, 'solid', from, y - this.bar / 2 - 3, 1.4, 3);
      }
    }
  }

  /** Whose turn it is, where there is room for that. */
  private paintNames(rows: readonly CpuRow[]): void {
    const { x: left, width } = this.layout.rows;
    if (this.bar < 9) {
      return;
    }
    for (const { cpu, turns } of rows) {
      const baseline = rowMiddle(this.layout, cpu) + 3.2;
      for (let at = 0; at < turns.thread.length; at++) {
        const from = Math.max(this.x(turns.startNs[at] ?? 0), left);
        const room = Math.min(this.x(turns.endNs[at] ?? 0), left + width) - from;
        const name = this.names.get(turns.thread[at] ?? 0) ?? '';
        if (name !== '' && room >= Math.min(name.length, mostLetters) * letterWidth + 8) {
          this.surface.text(from + 4, baseline, name, { colour: this.theme.background, size: 9, bold: true }, room - 8);
        }
      }
    }
  }

  private paintSummaries({ cpu, summaries }: CpuRow, data: TimelineData): void {
    const pixelNs = lengthOf(data.view) / Math.max(1, data.pixels);
    const bottom = rowMiddle(this.layout, cpu) + this.bar / 2;
    for (let at = 0; at < summaries.pixel.length; at++) {
      const startNs = data.view.fromNs + (summaries.pixel[at] ?? 0) * pixelNs;
      const [from, to] = [this.x(startNs), this.x(startNs + pixelNs)];
      if (this.isOutside(from, to)) {
        continue;
      }
      const width = Math.max(to - from, 0.7);
      const height = Math.max(1, ((summaries.busy[at] ?? 0) / 255) * this.bar);
      this.emptied.add(this.theme.background, 'solid', from, bottom - this.bar, width, this.bar - height);
      this.fillings.add(this.colourOf(summaries.thread[at] ?? 0), 'solid', from, bottom - height, width, height);
      const moves = summaries.migrations[at] ?? 0;
      if (moves > 0) {
        const rise = Math.min(this.bar / 2, 1 + Math.log2(1 + moves) * 0.7);
        this.fillings.add(this.theme.foreground, 'solid', from, bottom - this.bar - rise, width, rise);
      }
    }
  }

  /** Where threads share the CPUs: how many are busy, of all. */
  private paintAll({ parallelism, view, pixels }: TimelineData): void {
    const pixelNs = lengthOf(view) / Math.max(1, pixels);
    const bottom = rowMiddle(this.layout, 0) + this.bar / 2;
    for (let pixel = 0; pixel < parallelism.meanRunning.length; pixel++) {
      const [from, to] = [this.x(view.fromNs + pixel * pixelNs), this.x(view.fromNs + (pixel + 1) * pixelNs)];
      const running = parallelism.meanRunning[pixel] ?? 0;
      if (running > 0 && !this.isOutside(from, to)) {
        const height = Math.max(1, Math.min(1, running / this.lane.cpus) * this.bar);
        this.fillings.add(this.theme.running, 'solid', from, bottom - height, Math.max(to - from, 0.7), height);
      }
    }
  }

  private paintSelection(): void {
    const { selection } = this.lane;
    if (selection?.cpu === undefined || selection.state !== State.running || !this.lane.hasCpus) {
      return;
    }
    const y = rowMiddle(this.layout, selection.cpu);
    const from = this.x(selection.startNs) - 1.5;
    const to = Math.max(this.x(selection.endNs) + 1.5, from + 5);
    const half = this.bar / 2 + 3;
    const colour = this.scene.bright ? this.theme.selection : this.theme.quiet;
    this.surface.polygons([[from, y - half, to, y - half, to, y + half, from, y + half]], undefined, { colour, width: 1.6 });
  }
}

/** As far as they are known: of all threads once the interval is, before that of those that are listed. */
export function threadNames(lane: Pick<Lane, 'data' | 'threads'>): ReadonlyMap<number, string> {
  const listed = lane.threads.map(({ thread }) => thread);
  return new Map([...listed, ...(lane.data?.threads ?? [])].map(({ thread, name }) => [thread, name]));
}
