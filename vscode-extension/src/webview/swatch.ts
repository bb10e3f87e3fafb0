// A picture beside a text: what a colour, a texture or a sign stands for.
import { swatchHeight, swatchWidth } from '../core/timeline/legend';
import type { Surface } from '../core/timeline/surface';
import { CanvasSurface } from './canvasSurface';
import { element } from './sidebar';

export function swatch(draw: (surface: Surface) => void): HTMLElement {
  const canvas = element('canvas');
  canvas.width = swatchWidth * devicePixelRatio;
  canvas.height = swatchHeight * devicePixelRatio;
  canvas.setAttribute('aria-hidden', 'true');
  const context = canvas.getContext('2d');
  if (context !== null) {
    context.scale(devicePixelRatio, devicePixelRatio);
    draw(new CanvasSurface(context, getComputedStyle(document.body).fontFamily));
  }
  return canvas;
}
