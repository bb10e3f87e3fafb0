// What was found by a key flashes, so that the eye finds it, too; but for those who asked for less motion, in the editor or in the system.
const flashes = 6;
const flashMs = 140;

export class Flash {
  /** Now, while it flashes; else always. */
  isBright = true;
  private timer: number | undefined;

  constructor(private readonly redraw: () => void) {}

  start(): void {
    clearInterval(this.timer);
    this.isBright = true;
    if (document.body.classList.contains('vscode-reduce-motion') || matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.redraw();
      return;
    }
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
