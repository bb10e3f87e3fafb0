// The timeline's page begins here: mouse, keys, buttons and the extension's messages go where they belong.
import type { ToPanel } from '../core/timeline/messages';
import type { ColourBy } from '../core/timeline/theme';
import type { SortBy } from '../core/timeline/threads';
import { Gestures } from './gestures';
import { editor, page } from './page';
import { Timeline } from './timeline';

const timeline = new Timeline();
const gestures = new Gestures(timeline);
addEventListener('message', ({ data }: MessageEvent<ToPanel>) => timeline.take(data));
page.canvas.addEventListener('pointerdown', (event) => gestures.pointerDown(event));
page.canvas.addEventListener('pointermove', (event) => gestures.pointerMove(event));
page.canvas.addEventListener('pointerup', (event) => gestures.pointerUp(event));
page.canvas.addEventListener('pointercancel', () => gestures.pointerCancelled());
page.canvas.addEventListener('pointerleave', () => gestures.pointerLeft());
page.canvas.addEventListener('dblclick', (event) => gestures.doubleClick(event));
page.canvas.addEventListener(
  'wheel',
  (event) => {
    event.preventDefault();
    gestures.wheel(event);
  },
  { passive: false },
);
// Only while the picture, or its table, has the focus: elsewhere the keys are the editor's.
page.canvas.addEventListener('keydown', (event) => takeKey(event));
page.table.addEventListener('keydown', (event) => {
  if (event.key === 't' || event.key === '?') {
    takeKey(event);
  }
});
function takeKey(event: KeyboardEvent): void {
  if (gestures.key(event)) {
    event.preventDefault();
    event.stopPropagation();
  }
}
document.addEventListener('click', (event) => {
  const action = (event.target as Element).closest<HTMLElement>('[data-action]')?.dataset['action'];
  if (action !== undefined) {
    gestures.act(action);
  }
});
page.rows.addEventListener('change', () => timeline.choose({ rowsAre: page.rows.value === 'cpus' ? 'cpus' : 'threads' }));
page.sort.addEventListener('change', () => timeline.choose({ sortBy: page.sort.value as SortBy }));
page.colour.addEventListener('change', () => timeline.choose({ colourBy: page.colour.value as ColourBy }));
page.idle.addEventListener('change', () => timeline.choose({ hideIdle: page.idle.checked }));
editor.postMessage({ kind: 'ready' });
