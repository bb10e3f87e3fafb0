// A failure that the user can put right at once: the message has a button for it.

export class CorrectableError extends Error {
  constructor(
    cause: unknown,
    /** What the button says. */
    readonly remedy: string,
    readonly correct: () => Promise<void>,
  ) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
