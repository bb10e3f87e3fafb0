// What colours, textures and signs of a picture mean: those that are in it, and no others.
import { shortName } from '../functionNames';
import { objectName } from './details';
import { cells } from './drawCalls';
import { State, type Row, type TimelineData, type View } from './model';
import { lengthOf } from './scale';
import type { Lane, Scene } from './scene';
import type { Surface } from './surface';
import { outline, signOf } from './symbols';
import { categoryCount, categoryOf, heatOf, tellApart, type Colouring, type Theme } from './theme';

/** Of a picture beside a text of the legend. */
export const [swatchWidth, swatchHeight] = [26, 14];
const middle = swatchHeight / 2;

export interface Entry {
  readonly text: string;
  /** Draws into a box of that size at the origin. */
  readonly draw: (surface: Surface, theme: Theme) => void;
}

const bar = (colour: (theme: Theme) => string) => (surface: Surface, theme: Theme) => surface.rects([0, middle - 5, swatchWidth, 10], colour(theme));

/** The states of threads, as the rows show them. */
export const stateEntries = {
  running: { text: 'running', draw: bar((theme) => theme.running) },
  runnable: { text: 'waits for a CPU', draw: (surface, theme) => surface.rects([0, middle - 2.5, swatchWidth, 5], theme.runnable, 'hatched') },
  io: { text: 'in I/O, or waits for something outside the program', draw: (surface, theme) => surface.rects([0, middle - 5, swatchWidth, 10], theme.io, 'dotted') },
  blocked: { text: 'blocked', draw: (surface, theme) => surface.lines([0, middle, swatchWidth, middle], { colour: theme.blocked, width: 1.2, dash: [3, 3] }) },
  sleeping: { text: 'sleeping', draw: (surface, theme) => surface.lines([0, middle, swatchWidth, middle], { colour: theme.quiet, width: 1.4, dash: [1.4, 5] }) },
  path: { text: 'critical path', draw: (surface, theme) => surface.rects([0, middle - 1.6, swatchWidth, 3.2], theme.path) },
} as const satisfies Record<string, Entry>;

/** Of kinds of calls; there may be many. */
const mostKinds = 12;

/** Calls that have no sign each, in the colour of this kind. */
export const stripEntry = (kind: string): Entry => ({
  text: 'calls without signs, the higher the more',
  draw: (surface, theme) => surface.rects([0, middle, 8, 2, 8.5, middle - 1, 8, 3, 17, middle - 2, 8, 4], theme.hues[signOf(kind).hue], 'veil'),
});

/** Everything that is in the picture, the most frequent first. */
export function legendOf(scene: Scene): Entry[] {
  if (scene.rowsAre === 'cpus') {
    const moved: Entry = { text: 'came from another CPU', draw: (surface, theme) => surface.rects([swatchWidth / 2, middle - 3, 1.4, 6], theme.foreground) };
    return [{ text: 'a turn, in its thread’s colour', draw: bar((theme) => theme.categories[0] ?? theme.running) }, moved];
  }
  const states = new Set(scene.lanes.flatMap((lane) => seenRows(lane).flatMap((row) => statesOf(row, scene.view, lane))));
  const [first, ...others] = [State.running, State.runnable, State.io, State.blocked, State.sleeping].filter((state) => states.has(state));
  const entries = [first, ...others].flatMap((state) => (state === undefined || (state === State.running && scene.colourBy !== 'state') ? [] : [entryOf(state)]));
  const hasPath = scene.lanes.some(({ data }) => (data?.path.thread.length ?? 0) > 0);
  return [...colourEntries(scene), ...entries, ...(hasPath ? [stateEntries.path] : []), ...signEntries(scene)];
}

function entryOf(state: number): Entry {
  const names = ['blocked', 'running', 'runnable', 'blocked', 'io', 'sleeping'] as const;
  return stateEntries[names[state] ?? 'blocked'];
}

/** What the chosen colours stand for, beside the states. */
export function colourEntries(scene: Scene): Entry[] {
  switch (scene.colourBy) {
    case 'state':
      return [];
    case 'weight': {
      const heat = (text: string, weight: number): Entry => ({ text, draw: bar((theme) => heatOf(weight, theme)) });
      return [heat('runs, critical weight 0', 0), heat('0.5', 0.5), heat('1 and more', 1)];
    }
    case 'function':
      return namesOf(scene, (names, colourIn) => ({
        text: names.length > 1 ? `${names.length} other functions` : names[0] === '' ? 'function not known' : shortName(names[0] ?? ''),
        draw: bar((theme) => colourIn(names, theme, theme.quiet)),
      }));
    case 'lock':
      return [
        { text: 'running', draw: bar((theme) => theme.quiet) },
        ...namesOf(scene, (names, colourIn) => {
          const [kind = '', ...name] = (names[0] ?? '').split(' ');
          const text = names.length > 1 ? `waits for ${names.length} others` : `waits for ${objectName({ kind, name: name.join(' '), id: 0 })}`;
          const width = names.length > 1 ? 1.2 : 3;
          return { text, draw: (surface: Surface, theme: Theme) => surface.lines([0, middle, swatchWidth, middle], { colour: colourIn(names, theme, theme.blocked), width, dash: [3, 3] }) };
        }),
      ];
  }
}

/** The colours of the functions, or of the locks, in the view: those that take most of it have each their own. */
export function colouringOf(scene: Scene): Colouring | undefined {
  const names = namesByTime(scene);
  return names === undefined ? undefined : tellApart(names);
}

type ColourIn = (names: readonly string[], theme: Theme, other: string) => string;

/** What names stand for, those with the most time in the view first; those that have no colour of their own together. */
function namesOf(scene: Scene, entryFor: (names: readonly string[], colourIn: ColourIn) => Entry): Entry[] {
  const names = namesByTime(scene) ?? [];
  const colouring = tellApart(names);
  const colourIn: ColourIn = ([name = ''], theme, other) => categoryOf(name, theme, colouring, other);
  const others = names.slice(categoryCount);
  return [...names.slice(0, categoryCount).map((name) => [name]), ...(others.length > 0 ? [others] : [])].map((each) => entryFor(each, colourIn));
}

function namesByTime(scene: Scene): string[] | undefined {
  switch (scene.colourBy) {
    case 'state':
    case 'weight':
      return undefined;
    case 'function':
      return rankedByTime(scene, ({ stretches, summaries }, { places }, add) => {
        stretches.state.forEach((state, at) => {
          if (state === State.running) {
            add(places[(stretches.place[at] ?? 0) - 1]?.function ?? '', stretches.startNs[at] ?? 0, stretches.endNs[at] ?? 0);
          }
        });
        summaries.pixel.forEach((pixel, at) => {
          add(places[(summaries.place[at] ?? 0) - 1]?.function ?? '', pixel, (summaries.shares[at * 5] ?? 0) / 255, true);
        });
      });
    case 'lock':
      return rankedByTime(scene, ({ stretches, summaries }, { objects }, add) => {
        const nameAt = (index: number | undefined): string | undefined => {
          const object = objects[(index ?? 0) - 1];
          return object === undefined || object.kind === 'device' ? undefined : `${object.kind} ${object.name}`;
        };
        stretches.state.forEach((state, at) => {
          const name = nameAt(stretches.object[at]);
          if (state === State.blocked && name !== undefined) {
            add(name, stretches.startNs[at] ?? 0, stretches.endNs[at] ?? 0);
          }
        });
        summaries.pixel.forEach((pixel, at) => {
          const name = nameAt(summaries.object[at]);
          if (name !== undefined) {
            add(name, pixel, (summaries.shares[at * 5 + State.blocked - 1] ?? 0) / 255, true);
          }
        });
      });
  }
}

/** Adds a stretch by its ends, or of a pixel by its number a part. */
type Add = (name: string, start: number, end: number, isPixel?: boolean) => void;

function rankedByTime(scene: Scene, addAll: (row: Row, data: TimelineData, add: Add) => void): string[] {
  const times = new Map<string, number>();
  for (const lane of scene.lanes) {
    const { data } = lane;
    if (data === undefined) {
      continue;
    }
    const pixelNs = lengthOf(data.view) / Math.max(1, data.pixels);
    for (const row of seenRows(lane)) {
      addAll(row, data, (name, start, end, isPixel = false) => {
        const from = isPixel ? data.view.fromNs + start * pixelNs : start;
        const seen = Math.min(isPixel ? from + pixelNs : end, scene.view.toNs) - Math.max(from, scene.view.fromNs);
        if (seen > 0) {
          times.set(name, (times.get(name) ?? 0) + seen * (isPixel ? end : 1));
        }
      });
    }
  }
  return [...times].sort(([, a], [, b]) => b - a).map(([name]) => name);
}

/** Of the threads that are listed, whether or not they are scrolled to. */
function seenRows({ data, threads }: Lane): Row[] {
  const shown = new Set(threads.map(({ thread }) => thread.thread));
  return data?.rows.filter(({ thread }) => shown.has(thread)) ?? [];
}

function statesOf({ stretches, summaries }: Row, view: View, { data }: Lane): number[] {
  const found = new Set<number>();
  stretches.state.forEach((state, at) => {
    if ((stretches.endNs[at] ?? 0) > view.fromNs && (stretches.startNs[at] ?? 0) < view.toNs) {
      found.add(state);
    }
  });
  if (data !== undefined && summaries.pixel.length > 0) {
    [State.running, State.runnable, State.io, State.blocked].forEach((state) => {
      if (summaries.pixel.some((_pixel, at) => (summaries.shares[at * 5 + state - 1] ?? 0) > 0)) {
        found.add(state);
      }
    });
  }
  return [...found];
}

/** The signs of the calls that are in the view, and what a strip of them is. */
function signEntries({ lanes, view }: Scene): Entry[] {
  const counts = new Map<string, number>();
  let isCounted = false;
  const add = (kind: string | undefined, calls: number): void => {
    if (kind !== undefined) {
      counts.set(kind, (counts.get(kind) ?? 0) + calls);
    }
  };
  for (const lane of lanes) {
    const { data } = lane;
    for (const { events, counts: counted } of seenRows(lane)) {
      events.timeNs.forEach((ns, at) => ns >= view.fromNs && ns <= view.toNs && add(data?.eventKinds[events.kind[at] ?? 0], 1));
      for (const { kinds } of cells(counted)) {
        isCounted = true;
        kinds.forEach(({ kind, calls }) => add(data?.eventKinds[kind], calls));
      }
    }
  }
  const kinds = [...counts].sort(([, a], [, b]) => b - a).slice(0, mostKinds);
  const signs = kinds.map(([kind]): Entry => {
    const { shape, hue, text } = signOf(kind);
    return { text, draw: (surface, theme) => surface.polygons([outline(shape, swatchWidth / 2, middle, 4.5)], theme.hues[hue]) };
  });
  const [[most] = ['']] = kinds;
  return isCounted ? [...signs, stripEntry(most)] : signs;
}
