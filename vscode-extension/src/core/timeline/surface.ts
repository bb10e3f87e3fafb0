// What the timeline is drawn on: a canvas in the panel, an SVG document in a picture. Coordinates are pixels from the top left.

/** `hatched` and `dotted` tell states apart for those who do not see the colours; through a `veil`, what lies below is seen faintly, and so is the veil. */
export type Texture = 'solid' | 'hatched' | 'dotted' | 'veil';

export const veilOpacity = 0.62;

export interface Stroke {
  readonly colour: string;
  readonly width: number;
  readonly dash?: readonly number[];
}

export interface TextStyle {
  readonly colour: string;
  readonly size: number;
  readonly align?: 'left' | 'right' | 'centre';
  readonly bold?: boolean;
}

export interface Surface {
  /** Rectangles, four numbers each: x, y, width, height. */
  rects(xywh: readonly number[], colour: string, texture?: Texture): void;
  /** Lines, four numbers each: x, y to x, y. */
  lines(segments: readonly number[], stroke: Stroke): void;
  /** Closed shapes, each of points of two numbers, with their outline below their filling. */
  polygons(shapes: readonly (readonly number[])[], fill: string | undefined, stroke?: Stroke): void;
  /** Text on a baseline; `longest` pixels of it. */
  text(x: number, y: number, text: string, style: TextStyle, longest?: number): void;
  /** Draws with everything outside of the rectangle left as it is. */
  clipped(x: number, y: number, width: number, height: number, draw: () => void): void;
  /** Draws so many pixels further right and down. */
  shifted(x: number, y: number, draw: () => void): void;
}
