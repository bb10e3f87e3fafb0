// The timeline as an SVG document: the same picture as on the screen, to be put into a text and scaled.
import { escapeHtml } from '../html';
import { shortened } from './shorten';
import { veilOpacity, type Stroke, type Surface, type TextStyle, type Texture } from './surface';

/** Wide enough for the fonts that a reader may have. */
const characterWidth = 0.56;

export class SvgSurface implements Surface {
  private readonly parts: string[] = [];
  private readonly definitions = new Map<string, string>();
  private clips = 0;

  constructor(
    private readonly width: number,
    private readonly height: number,
    private readonly background: string,
  ) {}

  rects(xywh: readonly number[], colour: string, texture: Texture = 'solid'): void {
    let path = '';
    for (let at = 0; at + 3 < xywh.length; at += 4) {
      const [x = 0, y = 0, width = 0, height = 0] = xywh.slice(at, at + 4);
      path += `M${n(x)} ${n(y)}h${n(width)}v${n(height)}h${n(-width)}z`;
    }
    if (path !== '') {
      const isPlain = texture === 'solid' || texture === 'veil';
      const opacity = texture === 'veil' ? ` fill-opacity="${veilOpacity}"` : '';
      this.parts.push(`<path d="${path}" fill="${isPlain ? c(colour) : this.pattern(texture, colour)}"${opacity}/>`);
    }
  }

  lines(segments: readonly number[], stroke: Stroke): void {
    let path = '';
    for (let at = 0; at + 3 < segments.length; at += 4) {
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = segments.slice(at, at + 4);
      path += `M${n(x1)} ${n(y1)}L${n(x2)} ${n(y2)}`;
    }
    if (path !== '') {
      this.parts.push(`<path d="${path}" fill="none" ${strokeOf(stroke)}/>`);
    }
  }

  polygons(shapes: readonly (readonly number[])[], fill: string | undefined, stroke?: Stroke): void {
    const path = shapes.map((points) => `M${points.map(n).join(' ')}z`).join('');
    // Below, as on a canvas: half an outline would eat up a small shape.
    const outline = stroke === undefined ? '' : ` paint-order="stroke" ${strokeOf(stroke)}`;
    this.parts.push(`<path d="${path}" fill="${fill === undefined ? 'none' : c(fill)}"${outline}/>`);
  }

  text(x: number, y: number, text: string, style: TextStyle, longest?: number): void {
    const characters = longest === undefined ? text.length : Math.max(1, Math.floor(longest / (style.size * characterWidth)));
    const anchor = { left: 'start', right: 'end', centre: 'middle' }[style.align ?? 'left'];
    const weight = style.bold === true ? ' font-weight="600"' : '';
    this.parts.push(
      `<text x="${n(x)}" y="${n(y)}" fill="${c(style.colour)}" font-size="${style.size}" text-anchor="${anchor}"${weight}>${escapeHtml(visible(shortened(text, characters)))}</text>`,
    );
  }

  clipped(x: number, y: number, width: number, height: number, draw: () => void): void {
    const id = `clip${++this.clips}`;
    this.definitions.set(
      id,
      `<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(Math.max(0, width))}" height="${n(Math.max(0, height))}"/></clipPath>`,
    );
    this.parts.push(`<g clip-path="url(#${id})">`);
    draw();
    this.parts.push('</g>');
  }

  shifted(x: number, y: number, draw: () => void): void {
    this.parts.push(`<g transform="translate(${n(x)} ${n(y)})">`);
    draw();
    this.parts.push('</g>');
  }

  /** The document, with its title for those who cannot see it. */
  document(title: string): string {
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${n(this.width)}" height="${n(this.height)}" viewBox="0 0 ${n(this.width)} ${n(this.height)}" font-family="system-ui, 'Segoe UI', Ubuntu, sans-serif" role="img">`,
      `<title>${escapeHtml(visible(title))}</title>`,
      `<defs>${[...this.definitions.values()].join('')}</defs>`,
      `<rect width="100%" height="100%" fill="${c(this.background)}"/>`,
      ...this.parts,
      '</svg>\n',
    ].join('\n');
  }

  private pattern(texture: 'hatched' | 'dotted', colour: string): string {
    const id = `${texture}-${colour.replace(/[^\w]/g, '_')}`;
    const inside =
      texture === 'hatched'
        ? `<path d="M-1 1L1 -1M0 5L5 0M4 6L6 4" stroke="${c(colour)}" stroke-width="1.3"/>`
        : `<rect width="2" height="2" fill="${c(colour)}"/>`;
    const size = texture === 'hatched' ? 5 : 4;
    this.definitions.set(id, `<pattern id="${id}" width="${size}" height="${size}" patternUnits="userSpaceOnUse">${inside}</pattern>`);
    return `url(#${id})`;
  }
}

function strokeOf({ colour, width, dash }: Stroke): string {
  return `stroke="${c(colour)}" stroke-width="${n(width)}"${dash === undefined ? '' : ` stroke-dasharray="${dash.map(n).join(' ')}"`}`;
}

function n(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** A colour comes from a theme and goes into an attribute. */
function c(colour: string): string {
  return escapeHtml(colour);
}

/** XML has no place for control characters, not even as references. */
function visible(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd').replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}
