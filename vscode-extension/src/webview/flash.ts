// What was found by a key flashes, so that the eye finds it, too.
const flashes = 6;
const flashMs = 140;

export class Flash {
  /** Now, while it flashes; else always. */
  isBright = true;
  private timer: number | undefined;

  constructor(private readonly redraw: () => void) {}

  start(): void {
    clearInterval(this.timer);
    let left = flashes;
    this.timer = setInterval(() => {
      left--;
      this.isBright = left <= 0 || !this.isBright;
      if (left <= 0) {
        clearInterval(this.timer);
      }
      this.redraw();
    }, flashMs);
  }
}
