import type { Surface, Texture } from './surface';

/** Rectangles by what they are filled with, so that each filling is set once. */
export class Fillings {
  private readonly byFilling = new Map<string, { colour: string; texture: Texture; xywh: number[] }>();

  add(colour: string, texture: Texture, x: number, y: number, width: number, height: number): void {
    const key = `${texture} ${colour}`;
    let filling = this.byFilling.get(key);
    if (filling === undefined) {
      filling = { colour, texture, xywh: [] };
      this.byFilling.set(key, filling);
    }
    filling.xywh.push(x, y, width, height);
  }

  fill(surface: Surface): void {
    for (const { colour, texture, xywh } of this.byFilling.values()) {
      surface.rects(xywh, colour, texture);
    }
    this.byFilling.clear();
  }
}
