// A timeline to be kept: the view with what the panel around it says, so that it can be read where there is no panel. Above it the
// program, the machine and the part of the run; below it what colours and signs mean. Rows that are cut in two on the screen are left out.
import { formatTime } from '../format';
import { drawTimeline } from './draw';
import type { LaneLayout, Layout } from './layout';
import { colouringOf, legendOf, swatchHeight, swatchWidth, type Entry } from './legend';
import { formatMoment, isSame } from './scale';
import { rowCount, wholeOf, type Scene } from './scene';
import type { Surface } from './surface';
import type { Theme } from './theme';

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly draw: (surface: Surface, theme: Theme) => void;
}

const headHeight = 48;
const margin = 12;
const legendSize = 12;
const legendRow = 20;
/** Of a small letter, in pixels: some are narrower. */
const letterWidth = 6.4;
const entryGap = 18;

/** `title`: of the recording. */
export function pictureOf(scene: Scene, title: string): Picture {
  const layout = wholeRows(scene);
  const colouring = colouringOf(scene);
  const entries = placed(legendOf(scene), layout.width);
  const legendY = headHeight + layout.height + 10;
  const height = legendY + (entries.at(-1)?.y ?? 0) + legendRow + margin;
  return {
    width: layout.width,
    height,
    draw: (surface, theme) => {
      surface.text(margin, 22, title, { colour: theme.foreground, size: 15, bold: true }, layout.width - 2 * margin);
      surface.text(margin, 40, subtitle(scene, layout), { colour: theme.quiet, size: legendSize }, layout.width - 2 * margin);
      surface.shifted(0, headHeight, () => drawTimeline(surface, { ...scene, layout, colouring }, theme));
      surface.lines([margin, legendY - 4.5, layout.width - margin, legendY - 4.5], { colour: theme.grid, width: 1 });
      for (const { entry, x, y } of entries) {
        const top = legendY + y + (legendRow - swatchHeight) / 2;
        surface.shifted(x, top, () => entry.draw(surface, theme));
        surface.text(x + swatchWidth + 6, top + swatchHeight / 2 + legendSize * 0.36, entry.text, { colour: theme.foreground, size: legendSize }, longest);
      }
    },
  };
}

/** A name of ten thousand characters is not to be the whole legend. */
const longest = 300;

function placed(entries: readonly Entry[], width: number): { readonly entry: Entry; readonly x: number; readonly y: number }[] {
  let [x, y] = [margin, 0];
  return entries.map((entry) => {
    const wide = swatchWidth + 6 + Math.min(longest, entry.text.length * letterWidth);
    if (x > margin && x + wide > width - margin) {
      [x, y] = [margin, y + legendRow];
    }
    const place = { entry, x, y };
    x += wide + entryGap;
    return place;
  });
}

/** "8 CPUs, linux · 20 ms to 40 ms of 146 ms · 43 of 64 threads" */
function subtitle(scene: Scene, layout: Layout): string {
  const { view, lanes } = scene;
  const whole = wholeOf(scene);
  const part = isSame(view, whole) ? `whole run, ${formatTime(whole.toNs)}` : `${formatMoment(view.fromNs, view)} to ${formatMoment(view.toNs, view)} of ${formatTime(whole.toNs)}`;
  const rows = lanes.map((lane, index) => {
    const { rows: box, rowHeight } = layout.lanes[index] ?? { rows: { height: 0 }, rowHeight: 1 };
    return { shown: Math.round(box.height / rowHeight), all: rowCount(lane, scene.rowsAre) };
  });
  const what = scene.rowsAre === 'cpus' ? 'CPUs' : 'threads';
  const cut = rows.some(({ shown, all }) => shown < all) ? [rows.map(({ shown, all }) => `${Math.min(shown, all)} of ${all} ${what}`).join(' and ')] : [];
  return [lanes.map((lane) => lane.title).join(' ↔ '), part, ...cut].join(' · ');
}

/** As it is on the screen, without the rows that are cut and without what stays empty below the last one. */
function wholeRows({ layout, lanes, rowsAre }: Scene): Layout {
  let saved = 0;
  const cut = layout.lanes.map((lane, index): LaneLayout => {
    const count = lanes[index] === undefined ? 0 : rowCount(lanes[index], rowsAre);
    const shown = Math.max(1, Math.min(count, Math.floor(lane.rows.height / lane.rowHeight)));
    const height = shown * lane.rowHeight;
    const up = (box: LaneLayout['rows']): LaneLayout['rows'] => ({ ...box, y: box.y - saved });
    const first = Math.min(Math.round(lane.scroll / lane.rowHeight), Math.max(0, count - shown));
    const placed: LaneLayout = {
      ...lane,
      title: up(lane.title),
      graph: up(lane.graph),
      names: { ...up(lane.names), height },
      rows: { ...up(lane.rows), height },
      scroll: first * lane.rowHeight,
      // Nothing can be scrolled here.
      contentHeight: height,
    };
    saved += lane.rows.height - height;
    return placed;
  });
  return { ...layout, height: layout.height - saved, axis: { ...layout.axis, y: layout.axis.y - saved }, lanes: cut };
}
