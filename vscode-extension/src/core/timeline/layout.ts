// Where what is: from the size of the canvas to the places of graphs and rows. Everything is in pixels from the top left.
//
//              ┌ overview: the whole run, and which part is shown ┐
//    title (of two lanes only)
//    histogram │ parallelism graph                                │
//    ──────────┼──────────────────────────────────────────────────┤   a lane; two of them when two runs are compared
//    names     │ execution flow graph, a row a thread or CPU      │
//    ──────────┴──────────────────────────────────────────────────┘
//                axis
import type { View } from './model';
import { xOf } from './scale';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface LaneLayout {
  /** As wide as the picture; without height where there is one lane alone. */
  readonly title: Box;
  readonly graph: Box;
  readonly names: Box;
  readonly rows: Box;
  readonly rowHeight: number;
  /** Pixels that the rows are scrolled down. */
  readonly scroll: number;
  /** All rows, one below the other. */
  readonly contentHeight: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly plotX: number;
  readonly plotWidth: number;
  readonly overview: Box;
  readonly axis: Box;
  readonly lanes: readonly LaneLayout[];
}

export interface LayoutInput {
  readonly width: number;
  readonly height: number;
  /** How many rows each lane has, and how far down each is scrolled. */
  readonly lanes: readonly { readonly rows: number; readonly scroll: number }[];
}

const overviewHeight = 16;
const axisHeight = 22;
const titleHeight = 16;
const gap = 6;
const rightMargin = 26;
const namesWidth = 150;
/** The first of which all rows fit; such ones that bars begin at whole pixels, except the last. */
const rowHeights: readonly number[] = [30, 26, 24, 20, 17, 14];

export function layOut({ width, height, lanes }: LayoutInput): Layout {
  const plotX = Math.min(namesWidth, Math.floor(width / 4));
  const plotWidth = Math.max(1, width - plotX - rightMargin);
  const top = 2 + overviewHeight + gap;
  const each = Math.max(40, (height - top - axisHeight) / Math.max(1, lanes.length));
  const isAlone = lanes.length < 2;
  const titled = isAlone ? 0 : titleHeight;
  const graphHeight = Math.round(Math.min(128, Math.max(isAlone ? 36 : 26, (each - titled) * 0.26)));
  return {
    width,
    height,
    plotX,
    plotWidth,
    overview: { x: plotX, y: 2, width: plotWidth, height: overviewHeight },
    axis: { x: plotX, y: height - axisHeight, width: plotWidth, height: axisHeight },
    lanes: lanes.map(({ rows, scroll }, index) => {
      const titleY = top + index * each;
      const y = titleY + titled;
      const rowsY = y + graphHeight + gap + 4;
      const rowsHeight = Math.max(0, titleY + each - rowsY - 2);
      const rowHeight = rowHeights.find((candidate) => rows * candidate <= rowsHeight) ?? rowHeights.at(-1) ?? 14;
      const contentHeight = rows * rowHeight;
      return {
        title: { x: 0, y: titleY, width, height: titled },
        graph: { x: plotX, y: y + 4, width: plotWidth, height: graphHeight - 4 },
        names: { x: 0, y: rowsY, width: plotX, height: rowsHeight },
        rows: { x: plotX, y: rowsY, width: plotWidth, height: rowsHeight },
        rowHeight,
        scroll: Math.min(Math.max(0, scroll), Math.max(0, contentHeight - rowsHeight)),
        contentHeight,
      };
    }),
  };
}

/** The rows that can be seen, from the first up to but not including the last. */
export function visibleRows(lane: LaneLayout, count: number): { first: number; last: number } {
  const first = Math.max(0, Math.floor(lane.scroll / lane.rowHeight));
  return { first, last: Math.min(count, Math.ceil((lane.scroll + lane.rows.height) / lane.rowHeight)) };
}

/** Far outside is outside: a canvas loses precision in coordinates that are large. */
const farAway = 4000;

/** Where a moment is in the rows, or somewhere outside of them. */
export function xInRows(ns: number, view: View, { rows }: LaneLayout): number {
  return rows.x + Math.min(Math.max(xOf(ns, view, rows.width), -farAway), rows.width + farAway);
}

/** The middle of a row, which may be outside of what can be seen. */
export function rowMiddle(lane: LaneLayout, row: number): number {
  return lane.rows.y - lane.scroll + (row + 0.5) * lane.rowHeight;
}

/** The scroll position that brings a row into the middle, when it cannot be seen. */
export function scrollTo(lane: LaneLayout, row: number): number {
  const top = row * lane.rowHeight;
  const seen = top >= lane.scroll && top + lane.rowHeight <= lane.scroll + lane.rows.height;
  return seen ? lane.scroll : Math.max(0, top - (lane.rows.height - lane.rowHeight) / 2);
}

export function isInside(box: Box, x: number, y: number): boolean {
  return x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;
}
