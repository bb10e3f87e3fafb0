// What stands beside the canvas, made of elements. Whatever comes from a recording goes in as text, never as markup.
import { cut, type Detail, type Table } from '../core/timeline/details';
import type { Place } from '../core/timeline/model';
import { allSigns, outline } from '../core/timeline/symbols';
import type { Theme } from '../core/timeline/theme';

export interface Leads {
  readonly open: (place: Place) => void;
  readonly select: (event: { thread: number; event: number }) => void;
}

/** Longer text is of no use to anyone, and slow. */
const longestText = 400;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  content: string | readonly Node[] = [],
  className = '',
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className !== '') {
    made.className = className;
  }
  if (typeof content === 'string') {
    made.textContent = content.length > longestText ? `${content.slice(0, longestText)}…` : content;
  } else {
    made.append(...content);
  }
  return made;
}

export function link(text: string, go: () => void): HTMLElement {
  const made = element('a', text);
  made.setAttribute('role', 'button');
  made.tabIndex = 0;
  made.addEventListener('click', go);
  made.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      go();
    }
  });
  return made;
}

export function detailList(details: readonly Detail[], leads: Leads): HTMLElement {
  return element(
    'dl',
    details.flatMap(({ label, text, place, event }) => {
      const value =
        place !== undefined
          ? link(text, () => leads.open(place))
          : event !== undefined
            ? link(text, () => leads.select(event))
            : undefined;
      return [element('dt', label), value === undefined ? element('dd', text) : element('dd', [value])];
    }),
  );
}

export function tableOf({ caption, head, rows, words = [] }: Table, selected: number | undefined, choose?: (row: number) => void): HTMLElement {
  const cells = (row: readonly string[]): HTMLElement[] =>
    row.map((text, column) => {
      const shown = cut(text);
      const cell = element(column === 0 ? 'th' : 'td', shown, words.includes(column) ? 'words' : '');
      if (shown !== text) {
        cell.title = text;
      }
      if (column === 0) {
        cell.setAttribute('scope', 'row');
      }
      return cell;
    });
  const body = rows.map((row, index) => {
    const made = element('tr', cells(row));
    if (choose !== undefined) {
      // The table is one stop of the Tab key; the arrows go from row to row.
      made.tabIndex = index === Math.max(0, selected ?? 0) ? 0 : -1;
      made.setAttribute('aria-selected', String(index === selected));
      made.addEventListener('click', () => choose(index));
      made.addEventListener('keydown', (event) => {
        if (event.key === 'Enter') {
          choose(index);
        } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
          const beside = event.key === 'ArrowDown' ? made.nextElementSibling : made.previousElementSibling;
          if (beside instanceof HTMLElement) {
            made.tabIndex = -1;
            beside.tabIndex = 0;
            beside.focus();
          }
          event.preventDefault();
        }
      });
    }
    return made;
  });
  const headRow = element(
    'tr',
    head.map((text, column) => {
      const cell = element('th', text, words.includes(column) ? 'words' : '');
      cell.setAttribute('scope', 'col');
      return cell;
    }),
  );
  return element('table', [element('caption', caption), element('thead', [headRow]), element('tbody', body)]);
}

const keys: readonly (readonly [string, string])[] = [
  ['W  S', 'zoom in and out at the pointer; so does the wheel'],
  ['A  D  ← →', 'move left and right; so does dragging, and Shift with the wheel'],
  ['+  −', 'zoom by 1.5; with Shift by 3. The left end stays'],
  ['0', 'the whole run'],
  ['Backspace', 'the view before; with Shift the one after'],
  ['drag above', 'mark an interval in the parallelism graph and see just that; below with Shift'],
  ['M', 'mark an interval from the selection on; once more, up to another one, and see just that'],
  ['F', 'the selection as wide as the view'],
  ['.  ,', 'next and previous event of the thread'],
  ['>  <', 'next and previous similar event: same object, same kind'],
  ['↑ ↓', 'the thread above and below, at the same time'],
  ['Page ↑ ↓', 'scroll through the threads; so does the wheel over their names'],
  ['Enter', 'open the line of the selection'],
  ['[  ]', 'the event that woke this one; and back'],
  ['C', 'rows of threads or of CPUs'],
  ['H', 'hide threads that do nothing here'],
  ['P', 'choose threads'],
  ['V', 'compare with another simulation'],
  ['T', 'the interval as a table; ↑ ↓ and Enter choose a thread there'],
  ['Escape', 'nothing selected'],
];

const states: readonly (readonly [string, string])[] = [
  ['running', 'running'],
  ['runnable', 'waits for a CPU'],
  ['blocked', 'blocked'],
  ['io', 'in I/O'],
  ['sleeping', 'sleeping'],
  ['path', 'critical path'],
];

export function fillHelp(dialog: HTMLDialogElement, theme: Theme): void {
  const rows = keys.map(([key, what]) => element('tr', [element('td', [element('kbd', key)]), element('td', what)]));
  const shapes = [...allSigns()].map(([, { shape, hue, text }]) =>
    element('tr', [element('td', [picture((svg) => polygon(svg, outline(shape, 12, 8, 4.5), theme.hues[hue]))]), element('td', text)]),
  );
  const bars = states.map(([state, text]) => element('tr', [element('td', [picture((svg) => statePicture(svg, state, theme))]), element('td', text)]));
  const close = link('close', () => dialog.close());
  dialog.replaceChildren(
    element('div', [
      element('div', [element('h2', 'Keys, while the timeline has the focus'), element('table', rows)]),
      element('div', [element('h2', 'States'), element('table', bars), close]),
      element('div', [element('h2', 'Calls'), element('table', shapes)]),
    ], 'sheets'),
  );
}

const svgNamespace = 'http://www.w3.org/2000/svg';

function picture(draw: (svg: SVGElement) => void): SVGElement {
  const svg = document.createElementNS(svgNamespace, 'svg');
  svg.setAttribute('width', '24');
  svg.setAttribute('height', '16');
  svg.setAttribute('aria-hidden', 'true');
  draw(svg);
  return svg;
}

function polygon(svg: SVGElement, points: readonly number[], colour: string): void {
  const made = document.createElementNS(svgNamespace, 'polygon');
  made.setAttribute('points', points.join(' '));
  made.setAttribute('fill', colour);
  svg.append(made);
}

function line(svg: SVGElement, width: number, colour: string, dash: string): void {
  const made = document.createElementNS(svgNamespace, 'path');
  made.setAttribute('d', 'M0 8H24');
  made.setAttribute('stroke', colour);
  made.setAttribute('stroke-width', String(width));
  made.setAttribute('stroke-dasharray', dash);
  svg.append(made);
}

function statePicture(svg: SVGElement, state: string, theme: Theme): void {
  switch (state) {
    case 'running':
      line(svg, 10, theme.running, '');
      break;
    case 'runnable':
      line(svg, 5, theme.runnable, '2 2');
      break;
    case 'io':
      line(svg, 10, theme.io, '2 2');
      break;
    case 'blocked':
      line(svg, 1.2, theme.blocked, '3 3');
      break;
    case 'sleeping':
      line(svg, 1.4, theme.quiet, '1.4 5');
      break;
    default:
      line(svg, 3.4, theme.path, '');
  }
}
