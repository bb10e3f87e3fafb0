// A small chart for the hover: how the share of one function goes with the CPU count, and, dashed, that of the function
// that leads elsewhere.
import { escapeHtml } from './html';

export interface ChartSeries {
  readonly name: string;
  /** One share per column. */
  readonly shares: readonly number[];
}

export interface ChartColours {
  readonly line: string;
  readonly other: string;
  readonly mark: string;
}

const width = 420;
// Low: a hover that has to be scrolled is not read.
const height = 46;
const margin = { left: 8, right: 88, top: 5, bottom: 15 };
/** Where the middle of a name may be. */
const labelTop = 5;
const labelBottom = height - margin.bottom + 0.5;

/** An SVG document. Columns are evenly apart, with a tick each; `chosen` is the index of the one that is marked. */
export function shareChart(
  series: ChartSeries,
  other: ChartSeries | undefined,
  chosen: number,
  ticks: readonly string[],
  colours: ChartColours,
): string {
  const columns = series.shares.length;
  const all = [...series.shares, ...(other?.shares ?? [])];
  const top = Math.max(0.01, ...all);
  const bottom = Math.min(0, ...all);
  const x = (column: number): number =>
    margin.left + (columns > 1 ? (column / (columns - 1)) * (width - margin.left - margin.right) : 0);
  const y = (share: number): number =>
    margin.top + ((top - share) / (top - bottom)) * (height - margin.top - margin.bottom);
  const points = (shares: readonly number[]): string =>
    shares.map((share, column) => `${x(column).toFixed(1)},${y(share).toFixed(1)}`).join(' ');
  let seriesLabel = y(series.shares.at(-1) ?? 0);
  const parts: string[] = [
    `<line x1="${x(chosen)}" x2="${x(chosen)}" y1="0" y2="${height - 11}" stroke="${colours.other}" stroke-opacity="0.35"/>`,
    ...ticks.map(
      (tick, column) =>
        `<text x="${x(column).toFixed(1)}" y="${height - 1}" text-anchor="middle" fill="${column === chosen ? colours.line : colours.other}" font-family="sans-serif" font-size="9">${escapeHtml(tick)}</text>`,
    ),
  ];
  if (other !== undefined) {
    let otherLabel = y(other.shares.at(-1) ?? 0);
    // Two names at one place are none.
    if (Math.abs(otherLabel - seriesLabel) < 12) {
      const middle = (otherLabel + seriesLabel) / 2;
      const above = otherLabel < seriesLabel ? -1 : 1;
      const both = Math.max(labelTop + 6, Math.min(labelBottom - 6, middle));
      otherLabel = both + above * 6;
      seriesLabel = both - above * 6;
    }
    parts.push(
      `<polyline points="${points(other.shares)}" fill="none" stroke="${colours.other}" stroke-width="1.3" stroke-dasharray="4 3"/>`,
      label(other.name, otherLabel, colours.other),
    );
  }
  parts.push(
    `<polyline points="${points(series.shares)}" fill="none" stroke="${colours.line}" stroke-width="2" stroke-linejoin="round"/>`,
    `<circle cx="${x(chosen).toFixed(1)}" cy="${y(series.shares[chosen] ?? 0).toFixed(1)}" r="3" fill="${colours.mark}"/>`,
    label(series.name, seriesLabel, colours.line),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">${parts.join('')}</svg>`;
}

function label(name: string, at: number, colour: string): string {
  const longest = 13;
  const text = name.length > longest ? `${name.slice(0, longest - 1)}…` : name;
  const inside = Math.max(labelTop, Math.min(labelBottom, at));
  return `<text x="${width - margin.right + 6}" y="${(inside + 3.5).toFixed(1)}" fill="${colour}" font-family="sans-serif" font-size="11">${escapeHtml(text)}</text>`;
}
