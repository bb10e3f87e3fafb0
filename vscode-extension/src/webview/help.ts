// The help sheet: keys, states and signs, in columns as wide as the panel, so that a low one shows all of it, too.
import { stateEntries, stripEntry, swatchHeight, swatchWidth } from '../core/timeline/legend';
import { hueTexts, outline, shapeTexts, type Hue, type Shape } from '../core/timeline/symbols';
import type { Theme } from '../core/timeline/theme';
import { element, link } from './sidebar';
import { swatch } from './swatch';

const keys: readonly (readonly [string, string])[] = [
  ['W  S', 'zoom at the pointer, as the wheel does'],
  ['A  D  ← →', 'move, as dragging does'],
  ['+  −', 'zoom by 1.5, with Shift by 3'],
  ['0', 'the whole run'],
  ['Backspace', 'view before; Shift: after'],
  ['drag above', 'mark and see an interval'],
  ['Shift drag', 'the same, in the rows'],
  ['M', 'mark from the selection on; again: to it'],
  ['F', 'the selection as wide as the view'],
  ['.  ,', 'next and previous event'],
  ['>  <', 'next and previous similar event'],
  ['↑ ↓', 'the thread above and below'],
  ['Page ↑ ↓', 'other rows, as the wheel on names'],
  ['Enter', 'open the line of the selection'],
  ['[  ]', 'the event that woke this one; back'],
  ['C', 'rows of threads or of CPUs'],
  ['H', 'hide threads that do nothing here'],
  ['P', 'choose threads'],
  ['V', 'compare with another simulation'],
  ['T', 'the interval as a table'],
  ['Escape', 'nothing selected'],
];

const middle = swatchHeight / 2;

const shapes = Object.entries(shapeTexts) as [Shape, string][];
const hues = Object.entries(hueTexts) as [Hue, string][];

export function fillHelp(dialog: HTMLDialogElement, theme: Theme): void {
  const picture = swatch;
  const sign = (shape: Shape, colour: string): HTMLElement => picture((surface) => surface.polygons([outline(shape, swatchWidth / 2, middle, 4.5)], colour));
  const close = link('close', () => dialog.close());
  close.className = 'close';
  dialog.replaceChildren(
    close,
    element(
      'div',
      [
        ...part('Keys, while the focus is here', keys.map(([key, what]) => [element('kbd', key), what])),
        ...part('States', Object.values(stateEntries).map(({ text, draw }) => [picture((surface) => draw(surface, theme)), text])),
        ...part('A sign’s shape: what is called', [
          ...shapes.map(([shape, text]) => [sign(shape, theme.foreground), text] as const),
          [picture((surface) => stripEntry('').draw(surface, theme)), 'without signs, the higher the more'],
        ]),
        ...part('Its colour: a call about', hues.map(([hue, text]) => [sign('up', theme.hues[hue]), text])),
      ],
      'sheet',
    ),
  );
}

function part(title: string, rows: readonly (readonly [HTMLElement, string])[]): HTMLElement[] {
  return [element('h2', title), ...rows.map(([sign, text]) => element('div', [sign, element('span', text)], 'row'))];
}
