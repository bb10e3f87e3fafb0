// The calls of threads: a sign each where there is room for it.
//
// What a thread does is what the row is for, and its calls must not cover that. A sign stands at the edge of its bar and reaches into
// it; where signs crowd, they are small and stand between the rows; where they would lie on one another, one stands for them; and
// where the daemon has only counted the calls, a strip above the bar says where they are, the higher the more. How many calls have no
// sign of their own is told.
import { Fillings } from './fillings';
import { lengthOf } from './scale';
import type { RowPlaces } from './rowPlaces';
import type { Counts, Events, Row, TimelineData } from './model';
import type { Surface } from './surface';
import { outline, signOf, type Shape } from './symbols';
import type { Theme } from './theme';

/** Half of a sign at its largest. */
export const largestSign = 4;
/** Half of one that stands between the rows. */
const smallSign = 2.1;
/** More than two signs in so many pixels, on either side, crowd. */
const crowdPixels = 20;
/** Nearer than that, small signs are one. */
const apart = 2 * smallSign + 1;

/** Of the calls that can be seen: how many have a sign, and how many there are. */
export interface CallsDrawn {
  readonly signs: number;
  readonly calls: number;
}

export type SignSize = 'large' | 'small' | 'none';

/** How large the signs at these places are, which are in order. */
export function signSizes(places: readonly number[]): SignSize[] {
  let last = -Infinity;
  return places.map((x, at) => {
    // It crowds where two others are near; in order, they are two of its four neighbours.
    const near = [at - 2, at - 1, at + 1, at + 2].filter((other) => Math.abs((places[other] ?? Infinity) - x) < crowdPixels).length;
    if (near < 2) {
      return 'large';
    }
    if (x - last < apart) {
      return 'none';
    }
    last = x;
    return 'small';
  });
}

export function drawCalls(surface: Surface, data: TimelineData, places: RowPlaces, theme: Theme): CallsDrawn {
  const painter = new CallPainter(data, places, theme);
  const rows = places.seen(data);
  const counted = rows.reduce((sum, row) => sum + painter.addStrips(row), 0);
  const signs = rows.map((row) => painter.addSigns(row));
  painter.fill(surface);
  const drawn = signs.reduce((sum, each) => sum + each.signs, 0);
  return { signs: drawn, calls: counted + signs.reduce((sum, each) => sum + each.calls, 0) };
}

class CallPainter {
  private readonly strips = new Fillings();
  private readonly large = new Map<string, number[][]>();
  private readonly small = new Map<string, number[][]>();
  private readonly cellNs: number;
  /** Above and below a bar. */
  private readonly margin: number;

  constructor(
    private readonly data: TimelineData,
    private readonly places: RowPlaces,
    private readonly theme: Theme,
  ) {
    this.cellNs = (lengthOf(data.view) / Math.max(1, data.pixels)) * data.eventCellPixels;
    this.margin = (places.layout.rowHeight - places.bar) / 2;
  }

  /** Where calls are only counted, in the colour of the most frequent kind, faintly, for there may be thousands; returns how many that are. */
  addStrips({ thread, counts }: Row): number {
    const { data, places, theme } = this;
    const top = places.y(thread) - places.bar / 2;
    let all = 0;
    for (const { cell, calls, kind } of cells(counts)) {
      const startNs = data.view.fromNs + cell * this.cellNs;
      const { x: left, width } = places.layout.rows;
      const [from, to] = [Math.max(places.x(startNs), left), Math.min(places.x(startNs + this.cellNs), left + width)];
      if (to > from) {
        const height = Math.min(this.margin - 0.5, 1 + Math.log2(1 + calls) * 0.3);
        this.strips.add(theme.hues[signOf(data.eventKinds[kind] ?? '').hue], 'veil', from, top - height, Math.max(1, to - from - 0.5), height);
        all += calls;
      }
    }
    return all;
  }

  addSigns({ thread, events }: Row): CallsDrawn {
    const { data, places, theme } = this;
    const y = places.y(thread);
    const seen = inOrder(events).flatMap((at) => {
      const x = places.x(events.timeNs[at] ?? 0);
      return places.isOutside(x, x) ? [] : [{ x, kind: events.kind[at] ?? 0 }];
    });
    const sizes = signSizes(seen.map(({ x }) => x));
    seen.forEach(({ x, kind }, at) => {
      const { shape, hue } = signOf(data.eventKinds[kind] ?? '');
      const size = sizes[at];
      if (size === 'large') {
        add(this.large, theme.hues[hue], this.largeSign(shape, x, y));
      } else if (size === 'small') {
        add(this.small, theme.hues[hue], this.smallSign(shape, x, y));
      }
    });
    return { signs: sizes.filter((size) => size !== 'none').length, calls: seen.length };
  }

  private largeSign(shape: Shape, x: number, y: number): number[] {
    const half = this.places.bar / 2;
    const size = this.places.layout.rowHeight >= 17 ? largestSign : 3.2;
    return outline(shape, x, shape === 'up' ? y + half : shape === 'down' ? y - half : y, size);
  }

  /** Its end at the bar's edge, and none of it on the bar. */
  private smallSign(shape: Shape, x: number, y: number): number[] {
    const away = this.places.bar / 2 + smallSign * (shape === 'both' ? 1 : 0.9);
    return outline(shape, x, shape === 'up' ? y + away : y - away, smallSign);
  }

  fill(surface: Surface): void {
    this.strips.fill(surface);
    for (const [colour, shapes] of this.small) {
      surface.polygons(shapes, colour);
    }
    for (const [colour, shapes] of this.large) {
      surface.polygons(shapes, colour, { colour: this.theme.background, width: 0.8 });
    }
  }
}

export interface Cell {
  readonly cell: number;
  readonly calls: number;
  /** That is called most. */
  readonly kind: number;
  readonly kinds: readonly { readonly kind: number; readonly calls: number }[];
}

/** The counts of each cell together, in order. */
export function cells({ cell, kind, count }: Counts): Cell[] {
  const kindsOf = new Map<number, { kind: number; calls: number }[]>();
  cell.forEach((number, at) => {
    const kinds = kindsOf.get(number) ?? [];
    kinds.push({ kind: kind[at] ?? 0, calls: count[at] ?? 0 });
    kindsOf.set(number, kinds);
  });
  return [...kindsOf].map(([number, kinds]) => {
    const sorted = kinds.sort((a, b) => b.calls - a.calls);
    return { cell: number, calls: sorted.reduce((sum, { calls }) => sum + calls, 0), kind: sorted[0]?.kind ?? 0, kinds: sorted };
  });
}

/** The daemon has them in order already; the picture does not rest on it. */
function inOrder({ timeNs }: Events): number[] {
  const order = Array.from(timeNs.keys());
  return timeNs.every((ns, at) => at === 0 || ns >= (timeNs[at - 1] ?? 0)) ? order : order.sort((a, b) => (timeNs[a] ?? 0) - (timeNs[b] ?? 0));
}

function add(shapes: Map<string, number[][]>, colour: string, shape: number[]): void {
  const others = shapes.get(colour);
  if (others === undefined) {
    shapes.set(colour, [shape]);
  } else {
    others.push(shape);
  }
}
