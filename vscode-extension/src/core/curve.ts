// How the speed-up goes with the number of CPUs, as a picture: the prediction, the ideal line that no program passes, the
// chosen count, and below, which function leads where, for what is worth optimising changes along the way.
//
// Both axes are logarithmic: the ideal line is straight, and one CPU more counts where it matters, among the first. Colours are
// classes, which the page that holds the picture gives the theme's.
import { formatCpus, formatSpeedup } from './format';
import { escapeHtml } from './html';

export interface CurvePoint {
  readonly cpus: number;
  /** undefined: the simulation deadlocks there. */
  readonly speedup: number | undefined;
  /** The function that leads at this count; empty: none. */
  readonly leader: string;
}

const width = 800;
const height = 300;
const margin = { left: 52, right: 24, top: 18, bottom: 66 };
const stripTop = height - 30;
/** The leaders' room below the axis. */
const stripHeight = 38;

/**
 * An SVG element. `points` ascend in CPUs and have at least one element; `chosen` is marked when it is among them. `before`: the curve
 * of the unchanged program, thin, in place of the leaders. `leads`: who leads where, for each count; without it, as the points say.
 */
export function speedupCurve(
  points: readonly CurvePoint[],
  chosen: number,
  before: readonly CurvePoint[] = [],
  leads: readonly Stretch[] = leaders(points),
): string {
  const most = points.at(-1)?.cpus ?? 1;
  const all = [...points, ...before].map((point) => point.speedup ?? 1);
  const least = Math.min(1, ...all);
  const across = Math.max(1, Math.log2(most));
  // A changed program may pass the ideal line of the unchanged one.
  const octaves = Math.max(across, Math.ceil(Math.log2(Math.max(1, ...all)) - 1e-9));
  const foot = before.length > 0 ? stripHeight : 0;
  const below = Math.floor(Math.log2(Math.max(least, 1 / 64)));
  const x = (cpus: number): number => margin.left + (Math.log2(cpus) / across) * (width - margin.left - margin.right);
  const y = (speedup: number): number =>
    height - margin.bottom - ((Math.log2(speedup) - below) / (octaves - below)) * (height - margin.top - margin.bottom);
  const at = (value: number): string => value.toFixed(1);

  const parts: string[] = [];
  for (let power = below; power <= octaves; power++) {
    const speedup = 2 ** power;
    parts.push(
      `<line class="grid" x1="${margin.left}" x2="${width - margin.right}" y1="${at(y(speedup))}" y2="${at(y(speedup))}"/>`,
      `<text class="axis" x="${margin.left - 8}" y="${at(y(speedup) + 4)}" text-anchor="end">${speedup < 1 ? `1/${1 / speedup}` : speedup}×</text>`,
    );
  }
  for (const { cpus } of points) {
    if (Number.isInteger(Math.log2(cpus)) || cpus === chosen) {
      const marked = cpus === chosen ? ' chosen' : '';
      parts.push(`<text class="axis${marked}" x="${at(x(cpus))}" y="${height - margin.bottom + 16}" text-anchor="middle">${cpus}</text>`);
    }
  }
  parts.push(
    `<line class="ideal" x1="${at(x(1))}" y1="${at(y(1))}" x2="${at(x(most))}" y2="${at(y(most))}"/>`,
    `<text class="axis" x="${at(x(most))}" y="${at(y(most) + 34)}" text-anchor="end">ideal</text>`,
  );
  const drawable = (curve: readonly CurvePoint[]): CurvePoint[] => curve.filter((point) => point.speedup !== undefined && point.speedup > 0);
  const line = (curve: readonly CurvePoint[]): string => curve.map((point) => `${at(x(point.cpus))},${at(y(point.speedup ?? 1))}`).join(' ');
  const known = drawable(points);
  if (before.length > 0) {
    parts.push(`<polyline class="curve before" points="${line(drawable(before))}"/>`);
  }
  parts.push(`<polyline class="curve" points="${line(known)}"/>`);
  for (const { cpus, speedup } of known) {
    const marked = cpus === chosen ? ' chosen' : '';
    parts.push(
      `<circle class="dot${marked}" cx="${at(x(cpus))}" cy="${at(y(speedup ?? 1))}" r="${marked === '' ? 3 : 5}">` +
        `<title>${formatCpus(cpus)}: ${formatSpeedup(speedup ?? 1)}</title></circle>`,
    );
  }
  if (before.length === 0) {
    parts.push(...leaderStrip(leads.filter(({ first }) => first <= most), most, x));
  }
  const label = `Predicted speed-up from 1 to ${formatCpus(most)}, with the ideal line; the table has the numbers.`;
  return `<svg viewBox="0 0 ${width} ${height - foot}" role="img" aria-label="${label}">${parts.join('')}</svg>`;
}

/** Neighbouring counts with the same leader, as one stretch of the strip; the crossing points are where stretches meet. */
export interface Stretch {
  readonly leader: string;
  readonly first: number;
  readonly last: number;
}

/** "bubble_sort holds the program back most on 1 to 5 CPUs, merge on 6 and more." */
export function leadSentence(leads: readonly Stretch[]): string {
  const named = leads.filter(({ leader }) => leader !== '');
  const parts = named.map(({ leader, first, last }, index) => {
    const range = index === named.length - 1 && first > 1 ? `${first} and more` : first === last ? String(first) : `${first} to ${last}`;
    return `${leader}${index === 0 ? ' holds the program back most' : ''} on ${range}${index === 0 ? (last === 1 ? ' CPU' : ' CPUs') : ''}`;
  });
  return parts.length === 0 ? '' : `${parts.join(', ')}.`;
}

export function leaders(points: readonly CurvePoint[]): Stretch[] {
  const stretches: { leader: string; first: number; last: number }[] = [];
  for (const { cpus, leader } of points) {
    const open = stretches.at(-1);
    if (open?.leader === leader) {
      open.last = cpus;
    } else {
      stretches.push({ leader, first: cpus, last: cpus });
    }
  }
  return stretches;
}

function leaderStrip(stretches: readonly Stretch[], most: number, x: (cpus: number) => number): string[] {
  // Between two counts nobody was asked: the border is drawn half-way.
  const border = (index: number): number => {
    const [before, after] = [stretches[index - 1], stretches[index]];
    if (before === undefined) {
      return x(stretches[0]?.first ?? 1);
    }
    return after === undefined ? x(Math.min(most, before.last)) : (x(before.last) + x(after.first)) / 2;
  };
  return stretches.flatMap(({ leader, first, last }, index) => {
    const [left, right] = [border(index), border(index + 1)];
    const room = Math.floor((right - left - 8) / 7);
    const name = leader === '' ? '' : leader.length <= room ? leader : room >= 4 ? `${leader.slice(0, room - 1)}…` : '';
    const range = first === last ? formatCpus(first) : `${first} to ${last} CPUs`;
    return [
      `<g><title>${range}: ${leader === '' ? 'no function leads' : `${escapeHtml(leader)} leads`}</title>` +
        `<rect class="strip${index % 2 === 0 ? '' : ' odd'}" x="${left.toFixed(1)}" y="${stripTop}" width="${Math.max(1, right - left - 2).toFixed(1)}" height="20" rx="3"/>` +
        `<text class="leader" x="${((left + right) / 2).toFixed(1)}" y="${stripTop + 14}" text-anchor="middle">${escapeHtml(name)}</text></g>`,
    ];
  });
}
