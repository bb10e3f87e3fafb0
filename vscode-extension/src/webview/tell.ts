// What a test, or a person with the developer tools, can see of a canvas: its data attributes.
import { rowMiddle, visibleRows } from '../core/timeline/layout';
import { rowCount, type Scene } from '../core/timeline/scene';
import { page } from './page';
import type { Timeline } from './timeline';

const mostTold = 20;

/** After a drawing of `scene`; `frameMs` is what the latest ones took. */
export function tell({ view, lanes, kept, drawnAs }: Timeline, scene: Scene, frameMs: readonly number[]): void {
  const { dataset } = page.canvas;
  dataset['from'] = String(Math.round(view.fromNs));
  dataset['to'] = String(Math.round(view.toNs));
  // Neither the rows nor their colours are going to change by themselves.
  const isAsChosen = drawnAs.rowsAre === kept.rowsAre && drawnAs.colourBy === kept.colourBy;
  dataset['settled'] = String(isAsChosen && lanes.every((lane) => lane.isOf(view) && lane.isAsChosen));
  dataset['threads'] = scene.lanes.map((lane) => threadNames(lane).join(',')).join(' | ');
  scene.lanes.forEach((lane, index) => {
    const box = scene.layout.lanes[index];
    const cpus = Array.from({ length: Math.min(mostTold, rowCount(lane, scene.rowsAre)) }, (_unused, cpu) => `CPU ${cpu}`);
    const names = scene.rowsAre === 'cpus' ? cpus : threadNames(lane);
    const middles = names.map((name, row) => [name, box === undefined ? 0 : rowMiddle(box, row)]);
    dataset[index === 0 ? 'rows' : 'lowerRows'] = JSON.stringify(Object.fromEntries(middles));
  });
  // Rows that are seen without what is in them, which is still asked for.
  dataset['empty'] = scene.lanes.map((lane, index) => emptyRows(scene, lane, index)).join(' | ');
  dataset['bound'] = String(scene.lanes[0]?.boundNs ?? '');
  const drawn = scene.lanes.map(({ data }) => (scene.rowsAre === 'cpus' ? data?.cpuRows : data?.rows));
  dataset['drawn'] = drawn.map((rows) => rows?.length ?? 'nothing').join(' | ');
  dataset['frameMs'] = (frameMs.reduce((sum, ms) => sum + ms, 0) / Math.max(1, frameMs.length)).toFixed(2);
  dataset['worstFrameMs'] = Math.max(...frameMs).toFixed(2);
}

function threadNames({ threads }: Scene['lanes'][number]): string[] {
  return threads.slice(0, mostTold).map(({ thread }) => thread.name.slice(0, 60));
}

function emptyRows({ layout, rowsAre }: Scene, lane: Scene['lanes'][number], index: number): number {
  const box = layout.lanes[index];
  if (box === undefined) {
    return 0;
  }
  const { first, last } = visibleRows(box, rowCount(lane, rowsAre));
  const cpus = Array.from({ length: last - first }, (_unused, at) => first + at);
  const seen = rowsAre === 'cpus' ? cpus : lane.threads.slice(first, last).map(({ thread }) => thread.thread);
  const there = new Set(rowsAre === 'cpus' ? lane.data?.cpuRows.map(({ cpu }) => cpu) : lane.data?.rows.map(({ thread }) => thread));
  return seen.filter((each) => !there.has(each)).length;
}
