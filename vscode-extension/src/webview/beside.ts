// What stands beside the picture: the selection, what was looked for, the interval; and the table in place of the picture.
import { formatCountOf, formatTime } from '../core/format';
import { callTable, cpuTable, intervalDetails, intervalTitle, itemDetails, itemTitle, remarkOnTime, threadTable, type Table } from '../core/timeline/details';
import type { History } from '../core/timeline/history';
import type { Place, Thread, View } from '../core/timeline/model';
import { centred, formatMoment, lengthOf, partInRun } from '../core/timeline/scale';
import type { LaneState } from './lane';
import { editor, page, type Kept } from './page';
import { detailList, element, link, tableOf, type Leads } from './sidebar';
import { swatch } from './swatch';
import type { Timeline } from './timeline';

export const leadsOf = (timeline: Timeline): Leads => ({
  open: (place: Place) => editor.postMessage({ kind: 'open', place }),
  select: ({ thread, event }) => timeline.ask(0, thread, { event }, 'here', 'keep'),
});

export function drawDetails(timeline: Timeline): void {
  const parts: Node[] = [];
  if (timeline.marked !== undefined && lengthOf(timeline.marked) === 0) {
    parts.push(element('p', markText(timeline), 'quiet'));
  }
  timeline.lanes.forEach((lane, index) => {
    const { selection, found } = lane;
    if (selection !== undefined) {
      const name = timeline.lanes.length > 1 ? `${lane.info.title}: ` : '';
      parts.push(element('h2', `${name}${itemTitle(selection)}`), detailList(itemDetails(selection, timeline.view, lane.totalNs), leadsOf(timeline)));
      if (index === 0) {
        parts.push(
          element('nav', [
            link('‹ previous', () => timeline.step('previous')),
            link('next ›', () => timeline.step('next')),
            link('« similar', () => timeline.step('previousSimilar')),
            link('similar »', () => timeline.step('nextSimilar')),
          ]),
        );
      }
    }
    if (found !== undefined) {
      const counts = `${formatTime(found.timeNs)} in ${formatCountOf(found.rows.length, 'thread')} here`;
      const jumps = [
        ...(found.previousNs === undefined ? [] : [link('‹ before', () => timeline.move(centred(timeline.view, found.previousNs ?? 0, timeline.totalNs)))]),
        ...(found.nextNs === undefined ? [] : [link('after ›', () => timeline.move(centred(timeline.view, found.nextNs ?? 0, timeline.totalNs)))]),
        link('clear', () => editor.postMessage({ kind: 'findNot' })),
      ];
      parts.push(element('h2', found.title), element('p', counts, 'quiet'), element('nav', jumps));
    }
  });
  for (const lane of timeline.lanes) {
    if (lane.interval !== undefined) {
      const { view } = lane.interval;
      const name = timeline.lanes.length > 1 ? `${lane.info.title}, ` : '';
      parts.push(
        element('h2', `${name}${intervalTitle(view, lane.totalNs)}`),
        detailList(intervalDetails(lane.interval, view), leadsOf(timeline)),
      );
      const { deadlock, threadsLeft } = lane.interval;
      if (deadlock !== undefined) {
        parts.push(element('p', `Deadlock at ${formatTime(deadlock.atNs)}: ${deadlock.threads.join(', ')}`, 'problem'));
      }
      if (threadsLeft > 0) {
        parts.push(element('p', `${threadsLeft} more threads are not listed.`, 'quiet'));
      }
    }
  }
  const remark = timeline.lanes[0]?.selection === undefined ? remarkOnTime(timeline.remark, timeline.elsewhere, timeline.totalNs) : '';
  if (remark !== '') {
    parts.push(element('p', remark, 'quiet'));
  }
  if (timeline.colours.length > 0) {
    const rows = timeline.colours.map(({ text, draw }) => element('div', [swatch((surface) => draw(surface, timeline.theme)), element('span', text)], 'row'));
    parts.push(element('h2', 'Colours'), ...rows);
  }
  if (timeline.lanes.length > 1) {
    parts.push(link('end the comparison', () => editor.postMessage({ kind: 'compareNot' })));
  }
  replaceDetails(parts);
}

/** The link that had the focus has it again, so that one can go on with Enter; the picture where there is none like it any more. */
function replaceDetails(parts: readonly Node[]): void {
  const focused = document.activeElement;
  const hadFocus = focused !== null && page.details.contains(focused);
  const alike = (): HTMLElement[] =>
    [...page.details.querySelectorAll<HTMLElement>('[tabindex]')].filter((each) => each.textContent === focused?.textContent);
  const place = alike().findIndex((each) => each === focused);
  page.details.replaceChildren(...parts);
  if (hadFocus) {
    (alike()[place] ?? page.canvas).focus();
  }
}

/** Of an interval that has no end yet. */
export function markText({ marked, view }: Timeline): string {
  return `Marked from ${formatMoment(marked?.fromNs ?? 0, view)} on: select another event and press M again to see what is between them, or Escape.`;
}

/** For the eye and for a screen reader. */
export function drawNote(timeline: Timeline, text: string): void {
  page.live.textContent = text;
  drawDetails(timeline);
  page.details.prepend(element('p', text, 'quiet'));
}

export function showProblem(text: string): void {
  page.live.textContent = text;
  page.details.replaceChildren(element('p', text, 'problem'));
}

/** Only buttons that lead somewhere can be pressed. */
export function offerWays(history: History): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-action=back], [data-action=forward]')) {
    button.disabled = !(button.dataset['action'] === 'back' ? history.canGoBack : history.canGoForward);
  }
}

/** What is chosen above the picture; of threads, nothing can be chosen where the rows are CPUs. */
export function showChoices({ rowsAre, sortBy, colourBy, hideIdle, picked }: Kept): void {
  page.rows.value = rowsAre;
  page.sort.value = sortBy;
  page.colour.value = colourBy;
  page.idle.checked = hideIdle;
  const pick = document.querySelector<HTMLButtonElement>('[data-action=pick]');
  pick?.setAttribute('aria-pressed', String(picked !== undefined));
  for (const choice of [page.sort, page.colour, page.idle, pick]) {
    choice?.toggleAttribute('disabled', rowsAre === 'cpus');
  }
}

/** A table of threads, or of CPUs, for each picture; below them, what the selected thread does in each. A row is where it was before, so
 * that it keeps the focus; what is the same stays, so that a click that is under way is not lost. */
export function drawTable(timeline: Timeline): void {
  if (page.table.hidden) {
    return;
  }
  const parts = [...timeline.lanes.map((lane, index) => rowTable(timeline, lane, index)), ...callsBelow(timeline)];
  const { children } = page.table;
  if (parts.length === children.length && parts.every((part, at) => part.isEqualNode(children[at] ?? null))) {
    return;
  }
  const focused = [...page.table.querySelectorAll('tr')].findIndex((each) => each === document.activeElement);
  page.table.replaceChildren(...parts);
  page.table.querySelectorAll('tr')[focused]?.focus();
}

const isOfCpus = (timeline: Timeline, lane: LaneState): boolean => timeline.kept.rowsAre === 'cpus' && lane.info.hasCpus;

const selectedRow = (lane: LaneState): number => lane.threads.findIndex(({ thread }) => thread.thread === lane.selection?.thread.thread);

/** Says of which run it is where there are two. */
const named = (timeline: Timeline, lane: LaneState, table: Table): Table =>
  timeline.lanes.length === 1 ? table : { ...table, caption: `${lane.info.title}: ${table.caption}` };

/** What of the view the run takes; all of it before that is known. */
const partOf = (timeline: Timeline, lane: LaneState): View | undefined =>
  lane.overview === undefined ? timeline.view : partInRun(timeline.view, lane.totalNs);

function rowTable(timeline: Timeline, lane: LaneState, index: number): HTMLElement {
  const view = partOf(timeline, lane);
  if (view === undefined) {
    return element('p', `${lane.info.title}: ${intervalTitle(timeline.view, lane.totalNs)}`, 'quiet');
  }
  if (isOfCpus(timeline, lane)) {
    return tableOf(named(timeline, lane, cpuTable(lane.interval?.cpuRows ?? [], view)), undefined);
  }
  const choose = (row: number): void => {
    const thread = timeline.lanes[index]?.threads[row]?.thread;
    if (thread !== undefined) {
      timeline.ask(index, thread.thread, { timeNs: Math.min(Math.max(timeline.view.fromNs, thread.startNs), thread.endNs) }, 'here', 'select');
    }
  };
  return tableOf(named(timeline, lane, threadTable(lane.threads, view)), selectedRow(lane), choose);
}

/** What the selected thread does, in each of the runs in which there is one. */
function callsBelow(timeline: Timeline): HTMLElement[] {
  const lanes = [...timeline.lanes.entries()].filter(([, lane]) => !isOfCpus(timeline, lane) && partOf(timeline, lane) !== undefined);
  const selected = lanes.filter(([, lane]) => selectedRow(lane) >= 0);
  if (lanes.length > 0 && selected.length === 0) {
    return [element('p', 'Choose a thread, with Enter or a click, to read what it does here.', 'quiet')];
  }
  return selected.flatMap(([index, lane]) => {
    const thread = lane.threads[selectedRow(lane)]?.thread;
    return thread === undefined ? [] : [callsOf(timeline, lane, index, thread)];
  });
}

function callsOf(timeline: Timeline, lane: LaneState, index: number, thread: Thread): HTMLElement {
  const calls = timeline.callsOf(index, thread);
  if (calls === undefined) {
    return element('p', 'One moment…', 'quiet');
  }
  const choose = (row: number): void => {
    const event = timeline.callsOf(index, thread)?.[row]?.event;
    if (event !== undefined) {
      timeline.ask(index, thread.thread, { event }, 'here', 'select');
    }
  };
  const table = named(timeline, lane, callTable({ thread, view: partOf(timeline, lane) ?? timeline.view, calls }));
  return tableOf(table, calls.findIndex(({ event }) => event === lane.selection?.event), choose);
}
