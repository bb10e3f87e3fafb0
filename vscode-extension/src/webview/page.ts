// The parts of the page that are there before the script runs, and the way to the extension.
import type { FromPanel } from '../core/timeline/messages';
import type { View } from '../core/timeline/model';
import type { Scene } from '../core/timeline/scene';
import type { ColourBy } from '../core/timeline/theme';
import type { SortBy } from '../core/timeline/threads';

/** What survives the page: the editor throws it away when the panel is hidden. */
export interface Kept {
  view: View | undefined;
  /** The run that the view is of: another recording starts with the whole run. */
  recording: string;
  colourBy: ColourBy;
  sortBy: SortBy;
  hideIdle: boolean;
  rowsAre: Scene['rowsAre'];
  picked: readonly number[] | undefined;
  selected: { thread: number; event: number } | undefined;
}

declare function acquireVsCodeApi(): {
  postMessage(message: FromPanel): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
};

export const editor = acquireVsCodeApi();

function byId<T extends HTMLElement>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) {
    throw new Error(`the page lacks ${id}`);
  }
  return found;
}

export const page = {
  canvas: byId('canvas', HTMLCanvasElement),
  stage: byId('stage', HTMLDivElement),
  tip: byId('tip', HTMLDivElement),
  table: byId('table', HTMLDivElement),
  details: byId('details', HTMLElement),
  live: byId('live', HTMLDivElement),
  help: byId('help', HTMLDialogElement),
  title: byId('title', HTMLHeadingElement),
  scheduler: byId('scheduler', HTMLButtonElement),
  rows: byId('rows', HTMLSelectElement),
  sort: byId('sort', HTMLSelectElement),
  colour: byId('colour', HTMLSelectElement),
  idle: byId('idle', HTMLInputElement),
};
