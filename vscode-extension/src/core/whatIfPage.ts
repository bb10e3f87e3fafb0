// What changes bring, as a page: HTML, without an editor.
//
// As in the other pages nothing here has a style attribute or a script. CPU counts carry theirs as data-cpus.
import { changeText } from './comparison';
import { formatCpus, formatSpeedup, formatTime } from './format';
import { escapeHtml } from './html';

export interface WhatIfResult {
  readonly cpus: number;
  readonly beforeNs: number;
  readonly afterNs: number;
  /** Of the changed program, against itself on one CPU. */
  readonly speedup: number;
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

/** A row for each CPU count: before as an outline, after as a bar in it, both as parts of the slowest of the table's times. */
export function resultTable(results: readonly WhatIfResult[], cpus: number): string {
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
    const cells = [formatTime(beforeNs), deadlock ? 'deadlock' : formatTime(afterNs), deadlock ? '' : changeText(beforeNs, afterNs), deadlock ? '' : formatSpeedup(result.speedup)];
    const name = `Show ${formatCpus(result.cpus)}`;
    return (
      `<tr${mark}><th scope="row"><button data-cpus="${result.cpus}" aria-pressed="${chosen}" aria-label="${name}" title="${name}">${result.cpus}</button></th>` +
      `<td class="barcell">${bar}</td>${cells.map((text) => `<td>${text}</td>`).join('')}</tr>`
    );
  });
  const head = ['CPUs', '', 'before', 'after', 'change', 'speed-up'].map((text) => `<th scope="col">${escapeHtml(text)}</th>`).join('');
  return `<table class="results"><caption>Completion time</caption><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`;
}
