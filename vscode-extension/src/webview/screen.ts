// The canvas: how large it is, what a frame takes.
import { drawTimeline } from '../core/timeline/draw';
import type { Scene } from '../core/timeline/scene';
import type { Theme } from '../core/timeline/theme';
import { CanvasSurface } from './canvasSurface';
import { page } from './page';

const framesKept = 240;

export class Screen {
  private surface: CanvasSurface | undefined;
  private context: CanvasRenderingContext2D | undefined;
  /** What the latest frames took. */
  readonly frameMs: number[] = [];

  /** The panel has another size, or another theme. */
  resized(): void {
    const scale = devicePixelRatio;
    page.canvas.width = Math.round(page.stage.clientWidth * scale);
    page.canvas.height = Math.round(page.stage.clientHeight * scale);
    document.body.classList.toggle('narrow', document.body.clientWidth < 640);
    this.context = page.canvas.getContext('2d', { alpha: false }) ?? undefined;
    this.surface = this.context && new CanvasSurface(this.context, getComputedStyle(document.body).fontFamily);
  }

  /** Draws a scene, which is asked for only where it can be seen; undefined: it cannot. */
  draw(sceneNow: () => Scene, theme: Theme): Scene | undefined {
    const { context, surface } = this;
    if (context === undefined || surface === undefined || page.stage.clientWidth === 0) {
      return undefined;
    }
    const start = performance.now();
    const scene = sceneNow();
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.fillStyle = theme.background;
    context.fillRect(0, 0, scene.layout.width, scene.layout.height);
    drawTimeline(surface, scene, theme);
    this.frameMs.push(performance.now() - start);
    this.frameMs.splice(0, this.frameMs.length - framesKept);
    return scene;
  }
}
