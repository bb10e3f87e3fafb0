// What if parts of the program were faster: the changes, as the panel, its page and the window know them. Without an editor.
import { shortName } from './functionNames';

export type Change =
  /** `percent` of the time of a part is saved: a function, a line, a thread, or what is done with a lock held. */
  | { readonly kind: 'speed'; readonly part: string; readonly label: string; readonly percent: number; readonly withCallees: boolean }
  /** Nobody ever waits for the object. */
  | { readonly kind: 'freed'; readonly object: string }
  /** The lock is split into so many. */
  | { readonly kind: 'split'; readonly object: string; readonly into: number };

/** What the daemon is asked. */
export interface ProgramChange {
  readonly speeds: { part: string; percent: number; withCallees: boolean; curve: boolean }[];
  readonly splits: { lock: string; into: number }[];
  readonly freed: string[];
}

export const firstPercent = 30;
export const mostSplits = 64;

export function speedChange(part: string, label: string): Change {
  return { kind: 'speed', part, label, percent: firstPercent, withCallees: false };
}

/** What two changes have in common that are about the same thing. */
export function changeKey(change: Change): string {
  return change.kind === 'speed' ? `speed ${change.part}` : `${change.kind} ${change.object}`;
}

/** The changes with this one, in the place of the one about the same thing. */
export function withChange(changes: readonly Change[], change: Change): Change[] {
  const key = changeKey(change);
  return changes.some((other) => changeKey(other) === key)
    ? changes.map((other) => (changeKey(other) === key ? change : other))
    : [...changes, change];
}

/** Whether anything is different at all. */
export function changesAnything(change: Change): boolean {
  return change.kind !== 'speed' || change.percent > 0;
}

export function programChange(changes: readonly Change[]): ProgramChange {
  const asked: ProgramChange = { speeds: [], splits: [], freed: [] };
  for (const change of changes.filter(changesAnything)) {
    switch (change.kind) {
      case 'speed':
        asked.speeds.push({ part: change.part, percent: change.percent, withCallees: change.withCallees, curve: false });
        break;
      case 'freed':
        asked.freed.push(change.object);
        break;
      case 'split':
        asked.splits.push({ lock: change.object, into: change.into });
        break;
    }
  }
  return asked;
}

export function changeWords(change: Change): string {
  switch (change.kind) {
    case 'speed':
      return `${shortLabel(change.label)} ${change.percent}% faster${change.withCallees ? ' with all it calls' : ''}`;
    case 'freed':
      return `nobody waits for ${change.object}`;
    case 'split':
      return `${change.object} split into ${change.into}`;
  }
}

/** "merge 30% faster, nobody waits for listSem" */
export function changesWords(changes: readonly Change[]): string {
  return changes.filter(changesAnything).map(changeWords).join(', ');
}

/** A function by its short name; a line or thread as it is. */
export function shortLabel(label: string): string {
  const short = /[:(<]/.test(label) && !/^[^ ]+:\d+$/.test(label) ? shortName(label) : label;
  return short === '' ? label : short;
}

/** What the panel's page says. */
export type FromWhatIf =
  | { readonly kind: 'ready' | 'add' | 'keep' | 'takeBack' }
  | { readonly kind: 'set'; readonly change: Change }
  | { readonly kind: 'remove'; readonly key: string }
  | { readonly kind: 'cpus'; readonly cpus: number };

/** What it is told. */
export type ToWhatIf =
  | {
      readonly kind: 'changes';
      readonly title: string;
      readonly changes: readonly Change[];
      /** What annotations show, in words; empty: the program as it was recorded. */
      readonly kept: string;
      /** Whether that is just what the panel says. */
      readonly isKept: boolean;
    }
  | { readonly kind: 'result'; readonly headline: string; readonly body: string; readonly note: string }
  | { readonly kind: 'problem'; readonly text: string };
