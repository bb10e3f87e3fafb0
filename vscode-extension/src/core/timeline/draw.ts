// The whole picture.
import { drawAxis, drawBound, drawMarked, drawOverview, drawParallelism, drawTitle } from './drawGraphs';
import { drawRows } from './drawRows';
import type { Scene } from './scene';
import type { Surface } from './surface';
import type { Theme } from './theme';

export function drawTimeline(surface: Surface, scene: Scene, theme: Theme): void {
  drawAxis(surface, scene, theme);
  drawOverview(surface, scene, theme);
  scene.lanes.forEach((lane, index) => {
    drawParallelism(surface, scene, index, theme);
    drawRows(surface, scene, index, theme);
    drawBound(surface, scene, index, theme);
    const box = scene.layout.lanes[index]?.rows;
    if (lane.data === undefined && box !== undefined) {
      surface.text(box.x + 8, box.y + 20, 'simulating …', { colour: theme.quiet, size: 12 });
    } else if (lane.threads.length === 0 && box !== undefined && scene.rowsAre === 'threads') {
      surface.text(box.x + 8, box.y + 20, 'No thread that is shown does anything here.', { colour: theme.quiet, size: 12 });
    }
  });
  drawMarked(surface, scene, theme);
  scene.lanes.forEach((_lane, index) => drawTitle(surface, scene, index, theme));
}
