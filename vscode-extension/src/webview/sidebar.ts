// What stands beside the canvas, made of elements. Whatever comes from a recording goes in as text, never as markup.
import { cut, type Detail, type Table } from '../core/timeline/details';
import type { Place } from '../core/timeline/model';

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
