// One simulated run as the panel knows it, and what it still has to ask for.
//
// Three questions: `rows` fills the view and as much again on each side, so that moving finds pixels that are there already;
// `interval` says what is true of the visible interval exactly, once it rests; `overview` is the whole run, once.
import type { DataRequest, LaneInfo } from '../core/timeline/messages';
import type { Found, Item, TimelineData, View } from '../core/timeline/model';
import { isRounded, lengthOf, within, wholeRun } from '../core/timeline/scale';
import { cpuRows, type Lane, type Scene } from '../core/timeline/scene';
import type { ColourBy } from '../core/timeline/theme';
import { shownThreads, type ShownThread, type ThreadChoice } from '../core/timeline/threads';

const mostPixels = 16_000;
const overviewPixels = 600;
/** Rows that are asked for beyond those that can be seen. */
const moreRows = 12;
const mostRows = 500;

/** What the screen shows of a lane. */
export interface Viewport {
  readonly view: View;
  /** Of the longest of the runs that are shown. */
  readonly totalNs: number;
  /** Of the view, in pixels. */
  readonly width: number;
  readonly rowsAre: Scene['rowsAre'];
  /** The rows that can be seen, from the first up to but not including the last. */
  readonly first: number;
  readonly last: number;
  readonly colourBy: ColourBy;
}

type Question = Omit<DataRequest, 'generation' | 'lane'>;
/** Threads, or CPUs. */
type Rows = Pick<DataRequest, 'rows' | 'cpus'>;

export class LaneState {
  data: TimelineData | undefined;
  interval: TimelineData | undefined;
  overview: TimelineData | undefined;
  selection: Item | undefined;
  found: Found | undefined;
  boundNs: number | undefined;
  scroll = 0;
  /** What the summaries that are there can be coloured by, beside the states; and those that are asked for. */
  private colourBy: ColourBy = 'state';
  private asksColourBy: ColourBy = 'state';
  /** Those that are drawn, and those that are chosen: there may be no rows of the chosen ones yet. */
  threads: readonly ShownThread[] = [];
  private chosen: readonly ShownThread[] = [];
  /** A thread was selected that is chosen, but not drawn yet: its row is to be seen once it is. */
  isToShowSelection = false;
  private readonly asked = new Set<DataRequest['what']>();
  /** The last questions: one that was answered is not asked again, whatever the answer was. */
  private readonly last = new Map<DataRequest['what'], string>();

  /** `before`: the picture of the run that was shown in its place, which is drawn until there is one of this run. */
  constructor(
    readonly info: LaneInfo,
    private before?: Lane,
  ) {}

  forgetBefore(): void {
    this.before = undefined;
  }

  get totalNs(): number {
    return this.overview?.totalNs ?? 0;
  }

  /** Which threads there are is learnt with the interval; before that, from the whole run. They are drawn by `showChosen`. */
  chooseThreads(choice: ThreadChoice): void {
    this.chosen = shownThreads((this.interval ?? this.overview)?.threads ?? [], choice);
    if (this.data === undefined) {
      this.showChosen();
    }
  }

  /** Draws the threads that are chosen, whether or not there are their rows. */
  showChosen(): void {
    this.threads = this.chosen;
    this.isToShowSelection = false;
  }

  /** Whether the threads that are drawn are those that are chosen. */
  get isAsChosen(): boolean {
    return this.threads === this.chosen;
  }

  /** How many rows the chosen threads, or the CPUs, take. */
  chosenRows(rowsAre: Scene['rowsAre']): number {
    return rowsAre === 'threads' ? this.chosen.length : cpuRows(this.info);
  }

  /** In which of the chosen rows the selected thread is, when that is to be seen: where it was seen before, and where it was asked for. */
  selectedRowToShow(isSeen: (row: number) => boolean): number | undefined {
    const rowIn = (threads: readonly ShownThread[]): number => threads.findIndex(({ thread }) => thread.thread === this.selection?.thread.thread);
    const before = rowIn(this.threads);
    const row = rowIn(this.chosen);
    return row >= 0 && (this.isToShowSelection || (before >= 0 && isSeen(before))) ? row : undefined;
  }

  /** Whether the threads are those of this view, and no longer those of the one before it. */
  isOf(view: View): boolean {
    return this.interval !== undefined && isRounded(this.interval.view, view);
  }

  take(what: DataRequest['what'], data: TimelineData): void {
    this.asked.delete(what);
    if (what === 'rows') {
      this.data = data;
      this.colourBy = this.asksColourBy;
    } else if (what === 'interval') {
      this.interval = data;
    } else {
      this.overview = data;
    }
  }

  /** Whether what is there can be drawn so, wherever the view is by now. */
  canShow({ rowsAre, first, last, colourBy }: Pick<Viewport, 'rowsAre' | 'first' | 'last' | 'colourBy'>): boolean {
    const { data } = this;
    if (data === undefined) {
      return false;
    }
    const { rows, cpus } = this.rowsBetween(first, last, rowsAre);
    const there = hasAll(data.rows.map(({ thread }) => thread), rows) && hasAll(data.cpuRows.map(({ cpu }) => cpu), cpus);
    return there && (colourBy === 'state' || colourBy === this.colourBy);
  }

  /** An answer did not come. */
  fail(): void {
    this.asked.clear();
    this.last.clear();
  }

  /** The next question, when there is one that is not on its way. */
  question(what: DataRequest['what'], viewport: Viewport): Question | undefined {
    if (this.asked.has(what)) {
      return undefined;
    }
    switch (what) {
      case 'overview':
        return this.overview === undefined ? this.ask({ what, view: { fromNs: 0, toNs: 0 }, pixels: overviewPixels, rows: [], cpus: [], colourBy: 'state' }) : undefined;
      case 'interval': {
        const { view, rowsAre } = viewport;
        // Of all of them, whatever can be seen: the table lists them.
        const cpus = rowsAre === 'cpus' ? this.cpus(0, mostRows) : [];
        const known = this.isOf(view) && hasAll(this.interval?.cpuRows.map(({ cpu }) => cpu) ?? [], cpus);
        return known ? undefined : this.ask({ what, view, pixels: 16, rows: [], cpus, colourBy: 'state' });
      }
      case 'rows': {
        const { colourBy } = viewport;
        if (this.covers(viewport)) {
          return undefined;
        }
        const question = this.ask({ ...this.rowsQuestion(viewport), colourBy });
        this.asksColourBy = question === undefined ? this.asksColourBy : colourBy;
        return question;
      }
    }
  }

  private ask(question: Omit<Question, 'kind'>): Question | undefined {
    const words = JSON.stringify(question);
    if (this.last.get(question.what) === words) {
      return undefined;
    }
    this.last.set(question.what, words);
    this.asked.add(question.what);
    return { kind: 'data', ...question };
  }

  private cpus(first: number, last: number): number[] {
    const to = this.info.hasCpus ? Math.min(last, this.info.cpus) : 0;
    return Array.from({ length: Math.max(0, to - first) }, (_unused, at) => first + at);
  }

  private rowsBetween(first: number, last: number, rowsAre: Scene['rowsAre']): Rows {
    return rowsAre === 'cpus'
      ? { rows: [], cpus: this.cpus(first, last) }
      : { rows: this.chosen.slice(first, last).map(({ thread }) => thread.thread), cpus: [] };
  }

  /** Whether what is there shows what the screen does, at its resolution. */
  private covers(viewport: Viewport): boolean {
    const { data } = this;
    const { view, width } = viewport;
    if (data === undefined || !this.canShow(viewport)) {
      return false;
    }
    const ratio = lengthOf(data.view) / data.pixels / (lengthOf(view) / width);
    // Half a nanosecond may be lost in the arithmetic.
    const inside = data.view.fromNs <= view.fromNs + 1 && data.view.toNs >= view.toNs - 1;
    return inside && Math.abs(ratio - 1) < 0.01;
  }

  private rowsQuestion({ view, totalNs, width, rowsAre, first, last }: Viewport): Omit<Question, 'kind' | 'colourBy'> {
    // Of two runs the shorter one is empty behind its end.
    const run = wholeRun(totalNs);
    const length = lengthOf(view);
    const wanted: View = {
      fromNs: Math.max(run.fromNs, view.fromNs - length / 2),
      toNs: Math.min(run.toNs, view.toNs + length / 2),
    };
    const pixels = Math.max(1, Math.min(mostPixels, Math.round((lengthOf(wanted) / length) * width)));
    const rows = this.rowsBetween(Math.max(0, first - moreRows), Math.min(last + moreRows, first - moreRows + mostRows), rowsAre);
    return { what: 'rows', view: within(wanted, run.toNs), pixels, ...rows };
  }

  scene(): Lane {
    const { data, interval, before } = this;
    if (data === undefined && before !== undefined) {
      return { ...before, title: this.info.title };
    }
    return {
      title: this.info.title,
      cpus: this.info.cpus,
      hasCpus: this.info.hasCpus,
      cpuTotals: interval?.cpuRows ?? [],
      data: data && interval ? { ...data, threads: interval.threads, levels: interval.levels, classes: interval.classes } : data,
      overview: this.overview,
      threads: this.threads,
      selection: this.selection,
      found: this.found,
      boundNs: this.boundNs,
    };
  }
}

function hasAll(there: readonly number[], wanted: readonly number[]): boolean {
  const known = new Set(there);
  return wanted.every((each) => known.has(each));
}
