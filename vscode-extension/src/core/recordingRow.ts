// What the side bar says of a recording behind its name.
import { formatCommandLine } from './commandLine';
import { formatAge } from './format';

export interface RecordingRow {
  readonly isShown: boolean;
  readonly ageMs: number;
  /** The workspace folder that it was recorded in; empty: there is but one, or none is known. */
  readonly folder: string;
  /** The program and what it was given; empty: not known. */
  readonly command: readonly string[];
}

/** The side bar is narrow and cuts what does not fit: what is short stands first, and arguments, which have no limit, last. */
export function recordingDescription({ isShown, ageMs, folder, command }: RecordingRow): string {
  const words = [isShown ? 'shown' : '', formatAge(ageMs), folder, formatCommandLine(command.slice(1))];
  return words.filter((word) => word !== '').join(' · ');
}
