// What is chosen, as it is going to be drawn: where it will be, and what that takes. Until it is there, all stays as it was.
import { layOut, scrollTo, visibleRows, type Layout } from '../core/timeline/layout';
import { rowCount, type Scene } from '../core/timeline/scene';
import type { LaneState, Viewport } from './lane';
import { page, type Kept } from './page';
import type { Timeline } from './timeline';

/** A screen has no more: an answer is to have room for some beyond its edges. */
const mostRowsSeen = 480;

/** What is drawn in another way as soon as there is what that needs. */
export const lookOf = ({ rowsAre, colourBy }: Kept): Pick<Scene, 'rowsAre' | 'colourBy'> => ({ rowsAre, colourBy });

/** On the page as large as it is. */
export function layoutOf(lanes: readonly LaneState[], rows: (lane: LaneState) => number): Layout {
  const { clientWidth: width, clientHeight: height } = page.stage;
  return layOut({ width, height, lanes: lanes.map((lane) => ({ rows: rows(lane), scroll: lane.scroll })) });
}

/** What the screen is to show of a lane. */
export function chosenViewport(timeline: Timeline, index: number): Viewport | undefined {
  const { rowsAre, colourBy } = timeline.kept;
  const lane = timeline.lanes[index];
  const layout = layoutOf(timeline.lanes, (each) => each.chosenRows(rowsAre));
  const box = layout.lanes[index];
  if (lane === undefined || box === undefined) {
    return undefined;
  }
  const { first, last } = visibleRows({ ...box, scroll: chosenScroll(timeline, lane, index) }, lane.chosenRows(rowsAre));
  const width = Math.max(1, Math.floor(layout.plotWidth));
  return { view: timeline.view, totalNs: timeline.totalNs, width, rowsAre, first, last: Math.min(last, first + mostRowsSeen), colourBy };
}

/** A selection that could be seen stays so, wherever another order puts it. */
function chosenScroll(timeline: Timeline, lane: LaneState, index: number): number {
  const { rowsAre } = timeline.kept;
  const box = layoutOf(timeline.lanes, (each) => each.chosenRows(rowsAre)).lanes[index];
  const drawn = timeline.layout().lanes[index];
  if (box === undefined || drawn === undefined || rowsAre === 'cpus' || timeline.drawnAs.rowsAre === 'cpus') {
    return box?.scroll ?? lane.scroll;
  }
  const { first, last } = visibleRows(drawn, rowCount(lane.scene(), 'threads'));
  const row = lane.selectedRowToShow((before) => before >= first && before < last);
  return row === undefined ? box.scroll : scrollTo(box, row);
}

/** Draws as it is chosen, when all that takes is there, or when it is not going to come. */
export function drawAsChosen(timeline: Timeline, isForced = false): void {
  const { lanes } = timeline;
  const isThere = lanes.every((lane, index) => {
    const viewport = chosenViewport(timeline, index);
    return lane.data === undefined || viewport === undefined || lane.canShow(viewport);
  });
  if (isThere || isForced) {
    const scrolls = lanes.map((lane, index) => chosenScroll(timeline, lane, index));
    lanes.forEach((lane, index) => {
      lane.showChosen();
      // Of a table that hides the picture, nothing is seen that is to stay.
      lane.scroll = page.stage.clientHeight === 0 ? lane.scroll : (scrolls[index] ?? lane.scroll);
    });
    timeline.drawnAs = lookOf(timeline.kept);
  }
}
