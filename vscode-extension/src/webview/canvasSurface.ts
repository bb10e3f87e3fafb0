// The timeline's surface on a canvas.
import { shortened } from '../core/timeline/shorten';
import { veilOpacity, type Stroke, type Surface, type TextStyle, type Texture } from '../core/timeline/surface';

/** No place is wide enough for more. */
const mostCharacters = 200;

export class CanvasSurface implements Surface {
  private readonly patterns = new Map<string, CanvasPattern | string>();

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly fontFamily: string,
  ) {}

  rects(xywh: readonly number[], colour: string, texture: Texture = 'solid'): void {
    const { context } = this;
    context.fillStyle = texture === 'solid' || texture === 'veil' ? colour : this.pattern(colour, texture);
    context.globalAlpha = texture === 'veil' ? veilOpacity : 1;
    for (let at = 0; at + 3 < xywh.length; at += 4) {
      context.fillRect(xywh[at] ?? 0, xywh[at + 1] ?? 0, xywh[at + 2] ?? 0, xywh[at + 3] ?? 0);
    }
    context.globalAlpha = 1;
  }

  lines(segments: readonly number[], stroke: Stroke): void {
    const { context } = this;
    context.beginPath();
    for (let at = 0; at + 3 < segments.length; at += 4) {
      context.moveTo(segments[at] ?? 0, segments[at + 1] ?? 0);
      context.lineTo(segments[at + 2] ?? 0, segments[at + 3] ?? 0);
    }
    this.stroke(stroke);
  }

  polygons(shapes: readonly (readonly number[])[], fill: string | undefined, stroke?: Stroke): void {
    const { context } = this;
    context.beginPath();
    for (const points of shapes) {
      for (let at = 0; at + 1 < points.length; at += 2) {
        if (at === 0) {
          context.moveTo(points[0] ?? 0, points[1] ?? 0);
        } else {
          context.lineTo(points[at] ?? 0, points[at + 1] ?? 0);
        }
      }
      context.closePath();
    }
    if (stroke !== undefined) {
      this.stroke(stroke);
    }
    if (fill !== undefined) {
      context.fillStyle = fill;
      context.fill();
    }
  }

  text(x: number, y: number, text: string, style: TextStyle, longest?: number): void {
    const { context } = this;
    context.font = `${style.bold === true ? '600 ' : ''}${style.size}px ${this.fontFamily}`;
    context.fillStyle = style.colour;
    context.textAlign = style.align === 'centre' ? 'center' : (style.align ?? 'left');
    context.fillText(longest === undefined ? text : this.fitting(text, longest), x, y);
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    draw();
    context.restore();
  }

  shifted(x: number, y: number, draw: () => void): void {
    const { context } = this;
    context.save();
    context.translate(x, y);
    draw();
    context.restore();
  }

  /** As much of the text as fits. A name may have ten thousand characters: it is cut before it is measured. */
  private fitting(text: string, longest: number): string {
    const fits = (shown: string): boolean => this.context.measureText(shown).width <= longest;
    let [low, high] = [1, Math.min(text.length, mostCharacters)];
    if (fits(shortened(text, high))) {
      return shortened(text, high);
    }
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (fits(shortened(text, middle))) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return shortened(text, low);
  }

  private stroke({ colour, width, dash }: Stroke): void {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.setLineDash(dash === undefined ? [] : [...dash]);
    context.stroke();
  }

  private pattern(colour: string, texture: 'hatched' | 'dotted'): CanvasPattern | string {
    const key = `${texture} ${colour}`;
    let pattern = this.patterns.get(key);
    if (pattern === undefined) {
      pattern = this.makePattern(colour, texture);
      this.patterns.set(key, pattern);
    }
    return pattern;
  }

  private makePattern(colour: string, texture: 'hatched' | 'dotted'): CanvasPattern | string {
    const tile = document.createElement('canvas');
    tile.width = tile.height = texture === 'hatched' ? 5 : 4;
    const context = tile.getContext('2d');
    if (context === null) {
      return colour;
    }
    if (texture === 'dotted') {
      context.fillStyle = colour;
      context.fillRect(0, 0, 2, 2);
    } else {
      context.strokeStyle = colour;
      context.lineWidth = 1.3;
      context.beginPath();
      for (const [x, y] of [
        [-1, 1],
        [0, 5],
        [4, 6],
      ] as const) {
        context.moveTo(x, y);
        context.lineTo(x + (x === 0 ? 5 : 2), y - (x === 0 ? 5 : 2));
      }
      context.stroke();
    }
    return this.context.createPattern(tile, 'repeat') ?? colour;
  }
}
