// How often a daemon that ended by itself is started again: a few times in a row, then only when the user asks.

export class RestartLimit {
  private readonly crashes: number[] = [];

  constructor(
    private readonly most: number,
    private readonly withinMs: number,
  ) {}

  /** Notes a crash, at a time in milliseconds, and says whether to start again. */
  mayRestart(now: number): boolean {
    this.crashes.push(now);
    while (this.crashes.length > 0 && now - (this.crashes[0] ?? now) > this.withinMs) {
      this.crashes.shift();
    }
    return this.crashes.length <= this.most;
  }

  /** The user asked: start counting anew. */
  forget(): void {
    this.crashes.length = 0;
  }
}
