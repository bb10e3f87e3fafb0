// What is being recorded at the moment, and for how long: for the status bar, where it is seen without the message being open.
import * as vscode from 'vscode';

const tickMs = 1000;

export class UnderWay implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly begun = new Set<{ readonly name: string; readonly atMs: number }>();
  private ticks: NodeJS.Timeout | undefined;

  /** Each second as long as something is recorded, and at the end. */
  readonly onDidChange = this.changed.event;

  dispose(): void {
    clearInterval(this.ticks);
    this.changed.dispose();
  }

  /** The one that was begun first; undefined: there is none. */
  get first(): { readonly name: string; readonly ms: number } | undefined {
    const [first] = this.begun;
    return first && { name: first.name, ms: Date.now() - first.atMs };
  }

  async during<T>(name: string, work: Promise<T>): Promise<T> {
    const one = { name, atMs: Date.now() };
    this.begun.add(one);
    this.ticks ??= setInterval(() => this.changed.fire(), tickMs);
    this.changed.fire();
    try {
      return await work;
    } finally {
      this.begun.delete(one);
      if (this.begun.size === 0) {
        clearInterval(this.ticks);
        this.ticks = undefined;
      }
      this.changed.fire();
    }
  }
}
