// What a failed question to the daemon was about. Not by instanceof: the class is in a bundle of its own, which is loaded later.

/** The daemon ended before it answered. */
export function isGone(error: unknown): boolean {
  return (error as { isGone?: unknown } | undefined)?.isGone === true;
}

/** What was asked about is not in the recording. */
export function isNotFound(error: unknown): boolean {
  return (error as { isNotFound?: unknown } | undefined)?.isNotFound === true;
}
