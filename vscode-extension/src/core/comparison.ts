// Two recordings beside each other: how much faster, and which functions moved. HTML, as the page of a recording is.
import { formatCpus, formatTime } from './format';
import { shortName } from './functionNames';
import { escapeHtml } from './html';
import type { Weights } from './weights';

export interface Side {
  readonly name: string;
  readonly weights: Weights;
}

/** Functions that hold the program back by at least this part of it, before or after. */
const leastShare = 0.005;
const mostRows = 30;

export interface Move {
  readonly name: string;
  readonly beforeNs: number;
  readonly afterNs: number;
}

/** Functions by how much their critical time changed, most first. A function is known by its name and file. */
export function moves(before: Weights, after: Weights, cpus: number): Move[] {
  const rows = new Map<string, { name: string; beforeNs: number; afterNs: number }>();
  const add = (weights: Weights, side: 'beforeNs' | 'afterNs'): void => {
    for (const weight of weights.allFunctions()) {
      const key = `${weight.name}\0${weight.file.replace(/^.*\//, '')}`;
      const row = rows.get(key) ?? { name: weight.name, beforeNs: 0, afterNs: 0 };
      row[side] += weight.at.get(cpus)?.criticalSelfNs ?? 0;
      rows.set(key, row);
    }
  };
  add(before, 'beforeNs');
  add(after, 'afterNs');
  const least = leastShare * Math.max(before.totalNs(cpus) ?? 0, after.totalNs(cpus) ?? 0);
  return [...rows.values()]
    .filter((row) => Math.max(Math.abs(row.beforeNs), Math.abs(row.afterNs)) >= least)
    .sort((a, b) => Math.abs(b.afterNs - b.beforeNs) - Math.abs(a.afterNs - a.beforeNs) || (a.name < b.name ? -1 : 1))
    .slice(0, mostRows);
}

/** `threads`: whose part the functions show, in words; empty: that of all. */
export function comparisonPage(before: Side, after: Side, columns: readonly number[], cpus: number, threads = ''): string {
  const shown = columns.filter((count) => before.weights.has(count) && after.weights.has(count));
  const chosen = (count: number): string => (count === cpus ? ' class="chosen"' : '');
  const time = (weights: Weights, count: number): string => formatTime(weights.totalNs(count) ?? 0);
  const change = (count: number): string => changeText(before.weights.totalNs(count) ?? 0, after.weights.totalNs(count) ?? 0);
  const row = (title: string, cell: (count: number) => string): string =>
    `<tr><th scope="row">${escapeHtml(title)}</th>${shown.map((count) => `<td${chosen(count)}>${cell(count)}</td>`).join('')}</tr>`;
  const functions = moves(before.weights, after.weights, cpus).map(
    ({ name, beforeNs, afterNs }) =>
      `<tr><th scope="row" title="${escapeHtml(name)}">${escapeHtml(shortName(name))}</th>` +
      `<td>${formatTime(beforeNs)}</td><td>${formatTime(afterNs)}</td><td>${changeText(beforeNs, afterNs)}</td></tr>`,
  );
  return [
    `<header><h1>${escapeHtml(before.name)} <span class="quiet">→</span> ${escapeHtml(after.name)}` +
      ` <span class="headline">${change(cpus)} on ${formatCpus(cpus)}</span></h1></header>`,
    '<section><h2>The whole program</h2><table><thead><tr><th scope="col">CPUs</th>',
    shown.map((count) => `<th scope="col"${chosen(count)}>${count}</th>`).join(''),
    '</tr></thead><tbody>',
    row(`before: ${before.name}`, (count) => time(before.weights, count)),
    row(`after: ${after.name}`, (count) => time(after.weights, count)),
    row('change', change),
    '</tbody></table></section>',
    `<section><h2>What moved, on ${formatCpus(cpus)}</h2>${threads === '' ? '' : `<p class="remark">${escapeHtml(`The part of ${threads}.`)}</p>`}<table><thead><tr><th scope="col">function</th>`,
    '<th scope="col">critical time before</th><th scope="col">after</th><th scope="col">change</th></tr></thead>',
    `<tbody>${functions.join('\n')}</tbody></table></section>`,
  ].join('\n');
}

/** "−20%", "+5.0%", "new", "gone". */
export function changeText(before: number, after: number): string {
  if (before <= 0 || after <= 0) {
    return before === after ? '0%' : before <= 0 ? 'new' : 'gone';
  }
  const percent = (after / before - 1) * 100;
  const digits = Math.abs(percent) >= 9.95 ? Math.abs(percent).toFixed(0) : Math.abs(percent).toFixed(1);
  return Number(digits) === 0 ? '0%' : `${percent < 0 ? '−' : '+'}${digits}%`;
}
