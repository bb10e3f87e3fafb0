// What changes bring, as HTML for the what-if panel's page.
//
// As in the pages themselves nothing here has a style attribute or a script. CPU counts carry theirs as data-cpus.
import { changeText } from './comparison';
import { speedupCurve, type CurvePoint } from './curve';
import { formatCpus, formatSpeedup, formatTime } from './format';

export interface WhatIfResult {
  readonly cpus: number;
  readonly beforeNs: number;
  readonly afterNs: number;
  readonly deadlock: boolean;
}

/** One sentence for the chosen count, or the first that there is. */
export function headline(results: readonly WhatIfResult[], cpus: number): string {
  const result = results.find((one) => one.cpus === cpus) ?? results[0];
  if (result === undefined) {
    return '';
  }
  if (result.deadlock) {
    return `Changed so, the program deadlocks at ${formatCpus(result.cpus)}.`;
  }
  const { beforeNs, afterNs } = result;
  const change = changeText(beforeNs, afterNs);
  const verdict = change === '0%' ? 'changes nothing' : afterNs < beforeNs ? `${change.slice(1)} less time` : `${change.slice(1)} more time`;
  return `${verdict} at ${formatCpus(result.cpus)}: ${formatTime(beforeNs)} → ${formatTime(afterNs)}`;
}

const barWidth = 300;

/**
 * A table with a row for each of `columns`, and the curves over all results. Speed-ups are against the program as it was recorded on
 * one CPU, those of the changed program, too: only so can they be compared, and a change that helps on one CPU already shows.
 */
export function resultPage(results: readonly WhatIfResult[], columns: readonly number[], cpus: number): string {
  const oneNs = results.find((result) => result.cpus === 1)?.beforeNs ?? 0;
  return resultTable(results.filter((result) => columns.includes(result.cpus)), oneNs, cpus) + curves(results, oneNs, cpus);
}

/** Before as an outline, after as a bar in it, both as parts of the slower of the two. */
function resultTable(results: readonly WhatIfResult[], oneNs: number, cpus: number): string {
  const speedup = (ns: number): string => (ns > 0 && oneNs > 0 ? formatSpeedup(oneNs / ns) : '');
  const rows = results.map((result) => {
    const { beforeNs, afterNs, deadlock } = result;
    const longest = Math.max(beforeNs, afterNs, 1);
    const chosen = result.cpus === cpus;
    const width = (ns: number): string => ((ns / longest) * barWidth).toFixed(1);
    const bar =
      `<svg class="pair" viewBox="0 0 ${barWidth} 14" preserveAspectRatio="none" aria-hidden="true">` +
      `<rect class="before" width="${width(beforeNs)}" height="14"/>` +
      (deadlock ? '' : `<rect class="after${afterNs > beforeNs ? ' worse' : ''}" y="3" width="${width(afterNs)}" height="8"/>`) +
      '</svg>';
    const mark = chosen ? ' class="chosen"' : '';
    const times = [formatTime(beforeNs), deadlock ? 'deadlock' : formatTime(afterNs), deadlock ? '' : changeText(beforeNs, afterNs)];
    const speedups = [speedup(beforeNs), deadlock ? '' : speedup(afterNs)];
    const name = `Show ${formatCpus(result.cpus)}`;
    return (
      `<tr${mark}><th scope="row"><button data-cpus="${result.cpus}" aria-pressed="${chosen}" aria-label="${name}" title="${name}">${result.cpus}</button></th>` +
      `<td class="barcell">${bar}</td>${[...times, ...speedups].map((text) => `<td>${text}</td>`).join('')}</tr>`
    );
  });
  return (
    '<table class="results"><caption>Completion time and speed-up</caption><thead>' +
    '<tr><th scope="col" rowspan="2">CPUs</th><td rowspan="2"></td><th scope="colgroup" colspan="3">completion time</th>' +
    '<th scope="colgroup" colspan="2">speed-up</th></tr>' +
    `<tr>${['before', 'after', 'change', 'before', 'after'].map((text) => `<th scope="col">${text}</th>`).join('')}</tr>` +
    `</thead><tbody>${rows.join('\n')}</tbody></table>`
  );
}

function curves(results: readonly WhatIfResult[], oneNs: number, cpus: number): string {
  const points = (time: (result: WhatIfResult) => number | undefined): CurvePoint[] =>
    results.map((result) => {
      const ns = time(result);
      return { cpus: result.cpus, speedup: ns === undefined || ns <= 0 ? undefined : oneNs / ns, leader: '' };
    });
  const after = points(({ afterNs, deadlock }) => (deadlock ? undefined : afterNs));
  const before = points(({ beforeNs }) => beforeNs);
  return (
    `<h2>Speed-up by number of CPUs</h2>${speedupCurve(after, cpus, before)}` +
    '<p class="quiet">The thin line is the program as it was recorded. All speed-ups, in the table and here, are against that program on one CPU.</p>'
  );
}
