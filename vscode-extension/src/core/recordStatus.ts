// What `longpole record --status FILE` writes: a line of JSON for each thing that is new.

import { formatCountOf } from './format';

export interface RecordStatus {
  /** "recording", "merging", "symbolizing", "running it as it is, round 1 of 6"; empty: not begun. */
  readonly doing: string;
  /** Records, of which several may be one event, in spite of its name in the file. */
  readonly events: number;
  readonly result: { readonly recording: string } | { readonly error: string } | undefined;
}

/** What the file says so far. Its last line may be half written. */
export function parseRecordStatus(text: string): RecordStatus {
  let status: RecordStatus = { doing: '', events: 0, result: undefined };
  for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
    const { doing, events, recording, error } = parse(line);
    if (typeof error === 'string') {
      status = { ...status, result: { error } };
    } else if (typeof recording === 'string') {
      status = { ...status, result: { recording } };
    } else if (typeof doing === 'string') {
      status = { ...status, doing, events: typeof events === 'number' ? events : status.events };
    }
  }
  return status;
}

/** What is said while it lasts; empty: what was said before still holds. */
export function progressText({ doing, events }: RecordStatus, stopped: boolean): string {
  switch (doing) {
    case '':
      return '';
    case 'recording': {
      const count = events > 0 ? `, ${formatCountOf(events, 'record')}` : '';
      return stopped ? '' : `recording${count}. Cancel stops the program and keeps what was recorded.`;
    }
    default:
      // There are no more of them by now.
      return `${doing} …`;
  }
}

function parse(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
