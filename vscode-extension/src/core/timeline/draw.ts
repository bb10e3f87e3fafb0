// The whole picture.
import { formatCount } from '../format';
import type { CallsDrawn } from './drawCalls';
import { drawAxis, drawBound, drawMarked, drawOverview, drawParallelism, drawTitle } from './drawGraphs';
import { drawRows } from './drawRows';
import type { Scene } from './scene';
import type { Surface } from './surface';
import type { Theme } from './theme';

/** Returns how many of the calls that can be seen have a sign. */
export function drawTimeline(surface: Surface, scene: Scene, theme: Theme): CallsDrawn {
  drawAxis(surface, scene, theme);
  drawOverview(surface, scene, theme);
  const drawn = scene.lanes.map((lane, index) => {
    drawParallelism(surface, scene, index, theme);
    const calls = drawRows(surface, scene, index, theme);
    drawBound(surface, scene, index, theme);
    const box = scene.layout.lanes[index]?.rows;
    if (lane.data === undefined && box !== undefined) {
      surface.text(box.x + 8, box.y + 20, 'simulating …', { colour: theme.quiet, size: 12 });
    } else if (lane.threads.length === 0 && box !== undefined && scene.rowsAre === 'threads') {
      surface.text(box.x + 8, box.y + 20, 'No thread that is shown does anything here.', { colour: theme.quiet, size: 12 });
    }
    return calls;
  });
  drawMarked(surface, scene, theme);
  scene.lanes.forEach((_lane, index) => drawTitle(surface, scene, index, theme));
  const all = { signs: sum(drawn.map(({ signs }) => signs)), calls: sum(drawn.map(({ calls }) => calls)) };
  if (all.signs < all.calls) {
    const { axis } = scene.layout;
    const text = `${formatCount(all.signs)} of ${formatCount(all.calls)} calls`;
    surface.text(axis.x - 10, axis.y + 14, text, { colour: theme.quiet, size: 11, align: 'right' }, axis.x - 16);
  }
  return all;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((before, each) => before + each, 0);
}
