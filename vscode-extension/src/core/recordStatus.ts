// What `longpole record --status FILE` writes: a line of JSON for each thing that is new.

export interface RecordStatus {
  /** "recording", "merging", "symbolizing"; empty: not begun. */
  readonly doing: string;
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
    } else if (typeof doing === 'string' && typeof events === 'number') {
      status = { ...status, doing, events };
    }
  }
  return status;
}

function parse(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
