// What a line, or a function, waits for: from the ranking of locks, without an editor.
import type { GetObjectsResponse, ObjectRow, Place } from '../protocol/longpole/v1/analyses';
import { objectGain } from './rankings';

export interface LockWait {
  readonly name: string;
  /** With a CPU for each thread. */
  readonly waitNs: number;
  readonly calls: bigint;
  /** The share of the completion time that would be saved if nobody waited for it anywhere; undefined: not known. */
  readonly gain: number | undefined;
}

/** What is taken on one line, used most first. */
export function waitsOfLine(objects: GetObjectsResponse, file: string, line: number): LockWait[] {
  return waitsAt(objects, (place) => place.file === file && place.line === line);
}

/** What a function waits for, most first. */
export function waitsOfFunction(objects: GetObjectsResponse, file: string, name: string): LockWait[] {
  return waitsAt(objects, (place) => place.file === file && place.function === name).filter(({ waitNs }) => waitNs > 0);
}

function waitsAt(objects: GetObjectsResponse, isThere: (place: Place) => boolean): LockWait[] {
  const waits = objects.objects.flatMap((row: ObjectRow): LockWait[] => {
    const uses = row.uses.filter(({ place }) => place !== undefined && isThere(place));
    if (uses.length === 0) {
      return [];
    }
    return [
      {
        name: row.name,
        waitNs: uses.reduce((sum, use) => sum + use.waitNs, 0),
        calls: uses.reduce((sum, use) => sum + use.acquisitions, 0n),
        gain: objectGain(row, objects.totalNs),
      },
    ];
  });
  return waits.sort((a, b) => b.waitNs - a.waitNs);
}
