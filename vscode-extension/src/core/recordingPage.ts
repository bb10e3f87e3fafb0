// The page that a recording opens as: what ran, how fast it would be elsewhere, and what leads there. HTML, without an editor.
//
// Links carry their place as data-file and data-line, CPU counts theirs as data-cpus; the page's script sends them back. Nothing
// here has a style attribute or a script: the page's policy allows neither.
import { basename } from 'node:path';
import { formatCommandLine } from './commandLine';
import { leadSentence, speedupCurve, type CurvePoint, type Stretch } from './curve';
import { formatAge, formatCount, formatCountOf, formatCpus, formatShare, formatSpeedup, formatTime } from './format';
import { functionTitle } from './functionNames';
import { escapeHtml } from './html';
import { noticeText } from './notices';
import { functionShare, holderShare, waiting, type FunctionWeight, type Holder, type Weights } from './weights';

/** What the page needs to know of a recording. */
export interface PageRecording {
  readonly path: string;
  readonly command: readonly string[];
  readonly startedAtUnixNs: bigint;
  readonly elapsedNs: bigint;
  readonly source: string;
  /** Samples to a second of CPU time, as it was set; 0: not known. */
  readonly sampleHz: number;
  readonly events: bigint;
  readonly threads: number;
  /** What is not as it was recorded: the program or the machine, in words; empty: nothing. */
  readonly change: string;
  readonly machine: string;
  /** How the times come about, behind them. */
  readonly scheduler: string;
  /** expectedSentence() of the prediction; empty: that is not known, or not yet. */
  readonly expected: string;
  /** replacedModel() of the prediction. */
  readonly replacedModel: string;
  /** Whose part the functions show, in words; empty: that of all threads. */
  readonly shownThreads: string;
  readonly notices: readonly { readonly text: string }[];
}

/** CPU counts that the curve is drawn from: close enough to find a crossing point between them. */
export const curveCpuCounts: readonly number[] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64];

const rowsInTable = 20;
const waitingTitle =
  '<span title="Sleeps, input and output, and waits whose cause is not known">waiting, which no faster code shortens</span>';
/** What never reaches this share is not worth a row. */
const leastShare = 0.005;

export function recordingPage(
  recording: PageRecording,
  weights: Weights,
  cpus: number,
  columns: readonly number[],
  nowMs: number,
  leads?: readonly Stretch[],
): string {
  const shown = columns.filter((count) => weights.has(count));
  const prediction = weights.prediction(cpus);
  const headline =
    prediction === undefined
      ? ''
      : prediction.deadlock !== undefined
        ? `deadlocks on ${formatCpus(cpus)}`
        : `${formatSpeedup(prediction.speedup)} on ${formatCpus(cpus)}`;
  const verdict =
    prediction === undefined || prediction.deadlock !== undefined
      ? ''
      : `<p>It takes ${formatTime(prediction.totalNs)} there, and ${formatTime(weights.totalNs(1) ?? 0)} on one CPU, ${escapeHtml(recording.scheduler)}.` +
        `${recording.expected === '' ? '' : ` ${escapeHtml(recording.expected)}`}</p>`;
  return [
    `<header><h1>${escapeHtml(programName(recording))} <span class="headline">${headline}</span></h1>`,
    `<p class="quiet">${escapeHtml(facts(recording, nowMs))}</p>${verdict}${remark(recording)}</header>`,
    `<section><h2>Speed-up by number of CPUs</h2>${speedupCurve(curvePoints(weights, cpus), cpus, [], leads)}`,
    `<p class="quiet">Below the curve: the function that weighs most at each number of CPUs. ${escapeHtml(leadSentence(leads ?? []))}</p></section>`,
    `<section><h2>What holds the program back</h2>${functionTable(weights, cpus, shown)}`,
    '<p class="quiet">Share of the critical path at each number of CPUs, of the function itself, without what it calls. A function with 38% makes the whole program ' +
      '3.8% faster when it gets 10% faster. Select a number of CPUs to see it everywhere.</p></section>',
    notices(recording),
  ].join('\n');
}

function remark({ change, machine, replacedModel, shownThreads }: PageRecording): string {
  const parts = [
    ...(change === '' ? [] : [`As if: ${change}.`]),
    ...(machine === '' ? [] : [`Simulated with ${machine}.`]),
    ...(replacedModel === '' ? [] : [replacedModel]),
    ...(shownThreads === '' ? [] : [`Of functions the part of ${shownThreads}.`]),
  ];
  return parts.length === 0 ? '' : `<p class="remark">${escapeHtml(parts.join(' '))}</p>`;
}

export function programName(recording: Pick<PageRecording, 'command' | 'path'>): string {
  return basename(recording.command[0] ?? recording.path);
}

function facts(recording: PageRecording, nowMs: number): string {
  const words = recording.command.length > 0 ? [formatCommandLine(recording.command)] : [];
  if (recording.startedAtUnixNs > 0n) {
    words.push(`recorded ${formatAge(nowMs - Number(recording.startedAtUnixNs / 1_000_000n))}`);
  }
  if (recording.elapsedNs > 0n) {
    words.push(`ran ${formatTime(Number(recording.elapsedNs))}`);
  }
  words.push(formatCountOf(recording.threads, 'thread'), formatCountOf(recording.events, 'event'));
  if (recording.source !== '') {
    const rate = recording.sampleHz > 0 ? `, ${formatCount(recording.sampleHz)} samples a second` : '';
    words.push(`${recording.source} source${rate}`);
  }
  return words.join(' · ');
}

function curvePoints(weights: Weights, cpus: number): CurvePoint[] {
  return [...new Set([...curveCpuCounts, cpus])]
    .sort((a, b) => a - b)
    .filter((count) => weights.has(count) && weights.prediction(count) !== undefined)
    .map((count) => {
      const prediction = weights.prediction(count);
      const [heaviest] = weights.heaviestFunctions(count, 1);
      const leads = heaviest !== undefined && functionShare(weights, heaviest, count) >= leastShare;
      return {
        cpus: count,
        speedup: prediction?.deadlock === undefined ? prediction?.speedup : undefined,
        leader: leads ? functionTitle(heaviest.name) : '',
      };
    });
}

function functionTable(weights: Weights, cpus: number, columns: readonly number[]): string {
  const most = (holder: Holder): number => Math.max(0, ...columns.map((count) => Math.abs(holderShare(weights, holder, count))));
  const rows = weights
    .holders()
    .filter((holder) => most(holder) >= leastShare)
    .sort((a, b) => holderShare(weights, b, cpus) - holderShare(weights, a, cpus) || most(b) - most(a))
    .slice(0, rowsInTable);
  if (rows.length === 0) {
    return '<p>No function of this recording has any weight.</p>';
  }
  const chosen = (count: number): string => (count === cpus ? ' class="chosen"' : '');
  const head = columns
    .map(
      (count) =>
        `<th scope="col"${chosen(count)}><button data-cpus="${count}" aria-pressed="${count === cpus}" aria-label="Show ${formatCpus(count)}">${count}</button></th>`,
    )
    .join('');
  const speedups = columns
    .map((count) => {
      const prediction = weights.prediction(count);
      const text = prediction === undefined ? '' : prediction.deadlock ? 'deadlock' : formatSpeedup(prediction.speedup);
      return `<td${chosen(count)}>${text}</td>`;
    })
    .join('');
  const body = rows
    .map((holder) => {
      const cells = columns
        .map((count) => {
          const text = formatShare(holderShare(weights, holder, count));
          return `<td${chosen(count)}>${text === '0.0%' ? '<span class="quiet">–</span>' : text}</td>`;
        })
        .join('');
      const width = (Math.max(0, Math.min(1, holderShare(weights, holder, cpus))) * 100).toFixed(1);
      const bar = `<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="${width}" height="8"/></svg>`;
      return `<tr><th scope="row">${holder === waiting ? waitingTitle : functionLink(holder)}</th><td class="barcell">${bar}</td>${cells}</tr>`;
    })
    .join('\n');
  return `<table><thead><tr><th scope="col">CPUs</th><th></th>${head}</tr><tr class="speedups"><th scope="row">speed-up</th><td></td>${speedups}</tr></thead>
<tbody>${body}</tbody></table>`;
}

function functionLink(weight: FunctionWeight): string {
  const name = escapeHtml(functionTitle(weight.name));
  if (weight.file === '' || weight.firstLine === 0) {
    return `<span title="${escapeHtml(weight.name)}">${name}</span>`;
  }
  const place = `${basename(weight.file)}:${weight.firstLine}`;
  return (
    `<a href="#" title="${escapeHtml(weight.name)}" data-file="${escapeHtml(weight.file)}" data-line="${weight.firstLine}">${name}</a>` +
    ` <span class="quiet">${escapeHtml(place)}</span>`
  );
}

function notices(recording: PageRecording): string {
  if (recording.notices.length === 0) {
    return '';
  }
  const items = recording.notices.map((notice) => `<li>${escapeHtml(noticeText(notice.text))}</li>`).join('');
  return `<section><h2>What to know about this recording</h2><ul>${items}</ul></section>`;
}
