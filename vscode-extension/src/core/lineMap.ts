// Where the recorded lines of a text are now, after the edits since.
//
// An editor cannot be asked where its decorations went, so the map follows the text itself: a line keeps its number
// of the recording as long as not one character of it is touched, wherever it moves. A text that is again what was
// recorded, by undo or otherwise, has all its lines back.
//
// Lines count from 0 here, as in editors.
import { matchLines } from './lineDiff';

/** One replacement, in positions of the text before the edit. */
export interface TextChange {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
  readonly text: string;
}

interface MappedLine {
  readonly text: string;
  /** The line of the recorded text that stands here; undefined for a line that is new or was touched. */
  readonly recorded: number | undefined;
}

export class LineMap {
  private lines: MappedLine[];

  /** `recorded` is the text as it was recorded, split into lines. */
  constructor(private readonly recorded: readonly string[]) {
    this.lines = identity(recorded);
  }

  get lineCount(): number {
    return this.lines.length;
  }

  /** Whether the text is what was recorded. */
  get unchanged(): boolean {
    return this.lines.length === this.recorded.length && this.lines.every((line, at) => line.recorded === at);
  }

  /** The recorded line that stands at `line` now. */
  recordedLine(line: number): number | undefined {
    return this.lines[line]?.recorded;
  }

  /** The recorded lines that stood where `line` is by now and stand nowhere any more. */
  replacedAt(line: number): number[] {
    const before = this.lines.slice(0, line + 1).findLast(({ recorded }) => recorded !== undefined)?.recorded ?? -1;
    const behind = this.lines.slice(line).find(({ recorded }) => recorded !== undefined)?.recorded ?? this.recorded.length;
    if (this.lines[line]?.recorded !== undefined || behind <= before) {
      return [];
    }
    const standing = this.currentLines();
    return Array.from({ length: behind - before - 1 }, (_unused, at) => before + 1 + at).filter((recorded) => !standing.has(recorded));
  }

  /** For every recorded line that still stands, where. */
  currentLines(): Map<number, number> {
    const current = new Map<number, number>();
    this.lines.forEach((line, at) => {
      if (line.recorded !== undefined) {
        current.set(line.recorded, at);
      }
    });
    return current;
  }

  /** Where a recorded line stands; if it does no more, the nearest that does. */
  placeOf(recorded: number): { readonly line: number; readonly stands: boolean } | undefined {
    let place: number | undefined;
    let distance = Infinity;
    this.lines.forEach((line, at) => {
      const apart = line.recorded === undefined ? Infinity : Math.abs(line.recorded - recorded);
      if (apart < distance) {
        place = at;
        distance = apart;
      }
    });
    return place === undefined ? undefined : { line: place, stands: distance === 0 };
  }

  /** Applies the changes of one edit, whose positions are all those of the text before it. */
  apply(changes: readonly TextChange[]): void {
    const lastFirst = [...changes].sort(
      (a, b) => b.startLine - a.startLine || b.startCharacter - a.startCharacter,
    );
    for (const change of lastFirst) {
      this.applyOne(change);
    }
    if (this.isRecordedText()) {
      this.lines = identity(this.recorded);
    }
  }

  /** Starts over from a text whose edits were not seen: the lines that are as recorded keep their numbers. */
  reset(current: readonly string[]): void {
    const matches = matchLines(this.recorded, current);
    this.lines = current.map((text, at) => ({ text, recorded: matches[at] }));
  }

  private applyOne(change: TextChange): void {
    const first = this.lines[change.startLine];
    const last = this.lines[change.endLine];
    if (first === undefined || last === undefined) {
      return;
    }
    const texts = change.text.split(/\r\n|\r|\n/);
    const end = texts.length - 1;
    texts[0] = first.text.slice(0, change.startCharacter) + (texts[0] ?? '');
    texts[end] = (texts[end] ?? '') + last.text.slice(change.endCharacter);
    const before = this.lines.slice(change.startLine, change.endLine + 1);
    // Tools replace many lines of which they change few: a formatter, a checkout. What a person types is on one line.
    const matches = before.length > 1 && texts.length > 1 ? matchLines(before.map((line) => line.text), texts) : [];
    const lines = texts.map((text, at): MappedLine => {
      const same = matches[at];
      return { text, recorded: same === undefined ? undefined : before[same]?.recorded };
    });

    // An edit that ends where the first line ends, or starts where the last one starts, moves that line and leaves it whole.
    const keepsFirst = change.startCharacter === first.text.length && texts[0] === first.text;
    const keepsLast = change.endCharacter === 0 && texts[end] === last.text;
    if (keepsFirst) {
      lines[0] = first;
    }
    if (keepsLast && !(keepsFirst && first === last)) {
      lines[end] = last;
    }
    this.lines.splice(change.startLine, change.endLine - change.startLine + 1, ...lines);
  }

  private isRecordedText(): boolean {
    return (
      this.lines.length === this.recorded.length &&
      this.lines.every((line, at) => line.text === this.recorded[at])
    );
  }
}

function identity(recorded: readonly string[]): MappedLine[] {
  return recorded.map((text, at) => ({ text, recorded: at }));
}
