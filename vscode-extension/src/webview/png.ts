// A picture as a PNG file.
import type { Picture } from '../core/timeline/picture';
import type { Theme } from '../core/timeline/theme';
import { CanvasSurface } from './canvasSurface';

/** Pixels of the file to one of the screen: a picture is looked at more closely, and printed. */
const leastScale = 2;

/** The file, in base 64. */
export function pngOf({ width, height, draw }: Picture, theme: Theme): string {
  const canvas = document.createElement('canvas');
  const scale = Math.max(leastScale, devicePixelRatio);
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext('2d', { alpha: false });
  if (context === null) {
    throw new Error('There is no canvas to draw the picture on.');
  }
  context.scale(scale, scale);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  draw(new CanvasSurface(context, getComputedStyle(document.body).fontFamily), theme);
  return canvas.toDataURL('image/png').replace(/^[^,]*,/, '');
}
