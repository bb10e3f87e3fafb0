// The timeline's panel as a test sees and moves it. What the canvas shows is told by its data attributes.
import assert from 'node:assert/strict';
import type { FrameLocator, Locator } from 'playwright-core';
import { eventually } from './eventually';
import { type Workbench } from './workbench';

export const ms = 1e6;

/** A place on the screen. */
export interface Spot {
  readonly x: number;
  readonly y: number;
}

export class TimelinePanel {
  readonly page: FrameLocator;
  readonly canvas: Locator;
  readonly details: Locator;

  private constructor(private readonly workbench: Workbench) {
    this.page = workbench.webview();
    this.canvas = this.page.locator('#canvas');
    this.details = this.page.locator('aside');
  }

  /** Of the fixture's recording, with the fake daemon's run; the source is open above it. */
  static async open(workbench: Workbench): Promise<TimelinePanel> {
    await workbench.openRecording('run.lptrace');
    await workbench.untilStatus('8 CPUs · 1.6×');
    await workbench.openFile('pipeline.c');
    await workbench.runCommand('Longpole: Show Timeline');
    return new TimelinePanel(workbench);
  }

  async attribute(name: string): Promise<string> {
    return (await this.canvas.getAttribute(`data-${name}`)) ?? '';
  }

  /** All that the canvas tells of one drawing: between two questions there may be another. */
  private async drawing(): Promise<Partial<Record<'from' | 'to' | 'rows' | 'lowerRows' | 'settled', string>>> {
    return this.canvas.evaluate(({ dataset }) => ({ ...dataset }));
  }

  async view(): Promise<[number, number]> {
    const { from, to } = await this.drawing();
    return [Number(from), Number(to)];
  }

  async length(): Promise<number> {
    const [fromNs, toNs] = await this.view();
    return toNs - fromNs;
  }

  /** What a key or the mouse has moved is drawn with the next frame. */
  async untilLength(ns: number): Promise<void> {
    await eventually(async () => Math.abs((await this.length()) - ns) < 2 * ms, () => `a view of ${ns} ns`);
  }

  async untilView(fromNs: number, toNs: number, tolerance = 2 * ms): Promise<void> {
    let found: [number, number] = [0, 0];
    await eventually(
      async () => {
        found = await this.view();
        return Math.abs(found[0] - fromNs) <= tolerance && Math.abs(found[1] - toNs) <= tolerance;
      },
      () => `the view from ${fromNs} to ${toNs}; it is ${found.join(' to ')}`,
    );
  }

  /** The names of the rows, from the top; those after the ones that are given do not matter. */
  async untilThreads(names: string): Promise<void> {
    let found = '';
    await eventually(
      async () => {
        found = await this.attribute('threads');
        return found.startsWith(names);
      },
      () => `the threads ${names}; they are ${found}`,
    );
  }

  async untilSelected(text: string | RegExp): Promise<void> {
    await this.details.locator('h2').first().filter({ hasText: text }).waitFor();
  }

  /** Watches how many rows each picture has; resolves to a function that stops and answers that. */
  async watchDrawn(): Promise<() => Promise<string[]>> {
    const watch = await this.canvas.evaluateHandle((canvas) => {
      const counts: string[] = [];
      const observer = new MutationObserver(() => counts.push(canvas.dataset['drawn'] ?? ''));
      observer.observe(canvas, { attributes: true, attributeFilter: ['data-drawn'] });
      return { counts, observer };
    });
    return () =>
      watch.evaluate(({ counts, observer }) => {
        observer.disconnect();
        return counts;
      });
  }

  async press(...keys: string[]): Promise<void> {
    await this.canvas.focus();
    for (const key of keys) {
      await this.workbench.page.keyboard.press(key);
    }
  }

  async click(button: string): Promise<void> {
    await this.page.getByRole('button', { name: button, exact: true }).click();
  }

  /** A moment of the run that can be seen, and pixels below the canvas' top. */
  async at(ns: number, y: number): Promise<Spot> {
    const box = await this.canvas.boundingBox();
    assert.ok(box);
    const [fromNs, toNs] = await this.view();
    const plot = Math.min(150, Math.floor(box.width / 4));
    return { x: box.x + plot + ((ns - fromNs) / (toNs - fromNs)) * (box.width - plot - 26), y: box.y + y };
  }

  /** The middle of a thread's, or a CPU's, row on the screen, once the rows are those of the view. */
  async rowOf(name: string, picture: 'rows' | 'lowerRows' = 'rows'): Promise<number> {
    let rows: Record<string, number> = {};
    await eventually(
      async () => {
        const drawing = await this.drawing();
        rows = JSON.parse(drawing[picture] ?? '{}') as Record<string, number>;
        return drawing.settled === 'true' && name in rows;
      },
      () => `the row of ${name}; there are ${Object.keys(rows).join()}`,
    );
    const box = await this.canvas.boundingBox();
    const y = rows[name];
    assert.ok(box !== null && y !== undefined);
    return box.y + y;
  }

  /** A moment in the row of a thread. */
  async spot(ns: number, thread: string): Promise<Spot> {
    const y = await this.rowOf(thread);
    return { x: (await this.at(ns, 0)).x, y };
  }

  async drag(from: Spot, to: Spot): Promise<void> {
    const { mouse } = this.workbench.page;
    await mouse.move(from.x, from.y);
    await mouse.down();
    await mouse.move(to.x, to.y, { steps: 4 });
    await mouse.up();
  }

  /** The colour of the picture at a place, as "#rrggbb". */
  async colourAt({ x, y }: Spot): Promise<string> {
    const box = await this.canvas.boundingBox();
    assert.ok(box);
    return this.canvas.evaluate(
      (canvas, [left, top]) => {
        const scale = devicePixelRatio;
        const data = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(Math.round(left * scale), Math.round(top * scale), 1, 1).data;
        return `#${[...(data ?? [])].slice(0, 3).map((part) => part.toString(16).padStart(2, '0')).join('')}`;
      },
      [x - box.x, y - box.y] as const,
    );
  }
}
