// Where threads' rows and their moments are in the picture of a lane.
import { rowMiddle, visibleRows, xInRows, type LaneLayout } from './layout';
import type { Row, TimelineData } from './model';
import type { Lane, Scene } from './scene';

export class RowPlaces {
  /** The row of each thread that is shown. */
  private readonly rowOf: ReadonlyMap<number, number>;
  /** How high what is drawn in a row is. */
  readonly bar: number;

  constructor(
    private readonly scene: Scene,
    lane: Lane,
    readonly layout: LaneLayout,
  ) {
    this.rowOf = new Map(lane.threads.map(({ thread }, row) => [thread.thread, row]));
    this.bar = Math.round(layout.rowHeight * 0.52);
  }

  has(thread: number): boolean {
    return this.rowOf.has(thread);
  }

  /** Of the answer those that can be seen. */
  seen({ rows }: Pick<TimelineData, 'rows'>): Row[] {
    const { first, last } = visibleRows(this.layout, this.rowOf.size);
    return rows.filter(({ thread }) => {
      const row = this.rowOf.get(thread);
      return row !== undefined && row >= first && row < last;
    });
  }

  x(ns: number): number {
    return xInRows(ns, this.scene.view, this.layout);
  }

  /** The middle of a thread's row. */
  y(thread: number): number {
    return rowMiddle(this.layout, this.rowOf.get(thread) ?? -1);
  }

  isOutside(fromX: number, toX: number): boolean {
    return toX < this.layout.rows.x || fromX > this.layout.rows.x + this.layout.rows.width;
  }
}
