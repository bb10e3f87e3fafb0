// Views one can go back to, as in a browser of pages.
import type { View } from './model';
import { isSame } from './scale';

const most = 100;

export class History {
  private readonly past: View[] = [];
  private readonly future: View[] = [];

  constructor(private shown: View) {}

  get view(): View {
    return this.shown;
  }

  get canGoBack(): boolean {
    return this.past.length > 0;
  }

  get canGoForward(): boolean {
    return this.future.length > 0;
  }

  /** Goes somewhere new. */
  go(view: View): void {
    if (isSame(view, this.shown)) {
      return;
    }
    this.past.push(this.shown);
    this.past.splice(0, this.past.length - most);
    this.future.length = 0;
    this.shown = view;
  }

  /** Moves without a step of its own: what a wheel does many times a second. */
  drift(view: View): void {
    this.shown = view;
  }

  back(): View {
    const view = this.past.pop();
    if (view !== undefined) {
      this.future.push(this.shown);
      this.shown = view;
    }
    return this.shown;
  }

  forward(): View {
    const view = this.future.pop();
    if (view !== undefined) {
      this.past.push(this.shown);
      this.shown = view;
    }
    return this.shown;
  }
}
