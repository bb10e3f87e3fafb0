// What stands beside the picture: the selection, what was looked for, the interval; and the table in place of the picture.
import { formatTime } from '../core/format';
import { callTable, cpuTable, intervalDetails, itemDetails, itemTitle, threadTable } from '../core/timeline/details';
import type { Place, Thread } from '../core/timeline/model';
import { centred, formatMoment } from '../core/timeline/scale';
import { editor, page } from './page';
import { detailList, element, link, tableOf, type Leads } from './sidebar';
import type { Timeline } from './timeline';

export const leadsOf = (timeline: Timeline): Leads => ({
  open: (place: Place) => editor.postMessage({ kind: 'open', place }),
  select: ({ thread, event }) => timeline.ask(0, thread, { event }, 'here', 'keep'),
});

export function drawDetails(timeline: Timeline): void {
  const parts: Node[] = [];
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
      const counts = `${formatTime(found.timeNs)} in ${found.rows.length} ${found.rows.length === 1 ? 'thread' : 'threads'} here`;
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
        element('h2', `${name}${formatMoment(view.fromNs, view)} – ${formatMoment(view.toNs, view)}`),
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
  if (timeline.lanes.length > 1) {
    parts.push(link('end the comparison', () => editor.postMessage({ kind: 'compareNot' })));
  }
  page.details.replaceChildren(...parts);
}

export function drawNote(timeline: Timeline, text: string): void {
  drawDetails(timeline);
  page.details.prepend(element('p', text, 'quiet'));
}

export function drawTable(timeline: Timeline): void {
  if (page.table.hidden) {
    return;
  }
  const lane = timeline.lanes[0];
  if (lane === undefined) {
    return;
  }
  if (timeline.kept.rowsAre === 'cpus' && lane.info.hasCpus) {
    page.table.replaceChildren(tableOf(cpuTable(lane.interval?.cpuRows ?? [], timeline.view), undefined));
    return;
  }
  const selected = lane.threads.findIndex(({ thread }) => thread.thread === lane.selection?.thread.thread);
  const choose = (row: number): void => {
    const thread = lane.threads[row]?.thread;
    if (thread !== undefined) {
      timeline.ask(0, thread.thread, { timeNs: Math.min(Math.max(timeline.view.fromNs, thread.startNs), thread.endNs) }, 'here', 'select');
    }
  };
  const below = callsBelow(timeline, lane.threads[selected]?.thread, lane.selection?.event);
  const focused = [...page.table.querySelectorAll('tr')].findIndex((each) => each === document.activeElement);
  page.table.replaceChildren(tableOf(threadTable(lane.threads, timeline.view), selected, choose), below);
  page.table.querySelectorAll('tr')[focused]?.focus();
}

/** What the selected thread does. */
function callsBelow(timeline: Timeline, thread: Thread | undefined, selected: number | undefined): HTMLElement {
  if (thread === undefined) {
    return element('p', 'Choose a thread, with Enter or a click, to read what it does here.', 'quiet');
  }
  const calls = timeline.callsOf(thread);
  if (calls === undefined) {
    return element('p', 'One moment…', 'quiet');
  }
  const choose = (row: number): void => {
    const event = calls[row]?.event;
    if (event !== undefined) {
      timeline.ask(0, thread.thread, { event }, 'here', 'select');
    }
  };
  return tableOf(callTable({ thread, view: timeline.view, calls }), calls.findIndex(({ event }) => event === selected), choose);
}
