// How long what the user does takes: printed, not asserted, for it says as much of the machine as of us. Run by
// `npm run measure`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { eventually } from './eventually';
import { Workbench } from './workbench';

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const list = (values: readonly number[]): string => values.map((value) => value.toFixed(0)).join(', ');

/** Watches for the next press of Enter; resolves, once it watches, to a function that waits for the milliseconds from that to the frame
 * in which the texts at line ends are others. */
async function watchRepaint(page: Page): Promise<() => Promise<number>> {
  const watch = await page.evaluateHandle(() => {
    const texts = (): string =>
      [...document.querySelectorAll('.view-line span[class*="ced-"]')].map((span) => getComputedStyle(span, '::after').content).join('|');
    const before = texts();
    const repainted = new Promise<number>((resolve) => {
      addEventListener(
        'keydown',
        function pressed(event) {
          if (event.key !== 'Enter') {
            return;
          }
          removeEventListener('keydown', pressed, true);
          const start = performance.now();
          const look = (): void => {
            if (texts() === before) {
              requestAnimationFrame(look);
            } else {
              resolve(performance.now() - start);
            }
          };
          look();
        },
        true,
      );
    });
    return { repainted };
  });
  return () => watch.evaluate(({ repainted }) => repainted);
}

/** Watches the page's frames; resolves, once it watches, to a function that stops and answers the milliseconds between them. */
async function watchFrames(canvas: Locator): Promise<() => Promise<number[]>> {
  const watch = await canvas.evaluateHandle(() => {
    const state = { intervals: [] as number[], watches: true };
    let last = performance.now();
    const look = (now: number): void => {
      state.intervals.push(now - last);
      last = now;
      if (state.watches) {
        requestAnimationFrame(look);
      }
    };
    requestAnimationFrame((now) => {
      last = now;
      requestAnimationFrame(look);
    });
    return state;
  });
  return () =>
    watch.evaluate((state) => {
      state.watches = false;
      return state.intervals;
    });
}

/** `threads` threads that take a lock `rounds` times each, and let it go: twice as many events. */
const program = (threads: number, rounds: number): string => `#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long shared, own;
static void* count(void* unused) {
  for (int i = 0; i < ${rounds}; i++) {
    for (int k = 0; k < 40; k++) own += k;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < 40; k++) shared += k;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}
int main(void) {
  pthread_t all[${threads}];
  for (int i = 0; i < ${threads}; i++) pthread_create(&all[i], 0, count, 0);
  for (int i = 0; i < ${threads}; i++) pthread_join(all[i], 0);
}
`;

/** An extension's code that loads ours and writes down what that, and its activate(), took on the clock and of the CPU, in ms. */
const clocked = (out: string): string => `
const now = () => { const { user, system } = process.threadCpuUsage(); return [performance.now(), (user + system) / 1000]; };
const since = (start) => now().map((value, index) => value - start[index]);
const start = now();
const extension = require('./clocked.js');
const loading = since(start);
exports.activate = (context) => {
  const called = now();
  extension.activate(context);
  const call = since(called);
  require('node:fs').appendFileSync(${JSON.stringify(out)}, JSON.stringify([...loading, ...call]) + '\\n');
};
exports.deactivate = () => extension.deactivate();
`;

void describe('speed', () => {
  const source = mkdtempSync(join(tmpdir(), 'speed-'));
  let workbench: Workbench | undefined;
  after(async () => {
    await workbench?.stop();
    rmSync(source, { recursive: true });
  });

  const build = (folder: string, name: string, threads: number, rounds: number): void => {
    writeFileSync(join(folder, `${name}.c`), program(threads, rounds));
    execFileSync('cc', ['-O1', '-g', '-fno-omit-frame-pointer', `${name}.c`, '-o', name, '-pthread'], { cwd: folder });
  };

  void test('another number of CPUs, of a recording of a million events', async (context) => {
    assert.ok(existsSync('bin/longpole'), 'the package has no daemon: build the preset release before packing it');
    workbench = await Workbench.start({ folder: source, settings: { 'longpole.cpus': 2, 'longpole.annotations.threshold': 0 } });
    const { page } = workbench;
    build(workbench.folder, 'count', 2, 250_000);
    // Last: a program that is older than the source that is open is asked about before it is recorded.
    build(workbench.folder, 'many', 200, 25_000);
    await workbench.openFile('count.c');
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.answer('Longpole: Program to Record', './count');
    await workbench.untilStatus(/^2 CPUs/, 180_000);
    await workbench.untilAnnotations((found) => found.size > 0, 'annotations');
    const change = async (cpus: number): Promise<number> => {
      await workbench?.runCommand('Longpole: Set CPU Count');
      await workbench?.untilAsked('Longpole: Set CPU Count');
      // What is pointed at is previewed: the list must point elsewhere until Enter.
      await workbench?.quickInput.fill('Other');
      await page.keyboard.press('Enter');
      await eventually(async () => /^\d+$/.test((await workbench?.quickInput.inputValue()) ?? ''), () => 'the input box');
      await workbench?.quickInput.fill(String(cpus));
      const repainted = await watchRepaint(page);
      await page.keyboard.press('Enter');
      const ms = await repainted();
      await workbench?.untilStatus(cpus === 1 ? /^1 CPU / : new RegExp(`^${cpus} CPUs`));
      return ms;
    };
    const known: number[] = [];
    for (const cpus of [1, 2, 1, 2, 1]) {
      known.push(await change(cpus));
    }
    context.diagnostic(`Enter to repainted annotations, 1,000,000 events: median ${median(known).toFixed(0)} ms of ${list(known)} ms`);
  });

  void test('the timeline of ten million events in 200 threads', async (context) => {
    assert.ok(workbench);
    const { page } = workbench;
    await workbench.recordAnother('./many');
    const tooltip = async (): Promise<string> => (await workbench?.statusText()) ?? '';
    await eventually(async () => (await page.locator('.notification-toast', { hasText: 'Longpole: many' }).count()) > 0, () => 'the progress');
    await eventually(async () => (await page.locator('.notification-toast', { hasText: 'Longpole: many' }).count()) === 0, () => 'the recording', 600_000);
    await eventually(async () => !/loading/.test(await tooltip()), () => 'the numbers', 600_000);
    // Pages of one origin share a heap: what is there without the timeline is the editor's.
    const editor = await page.context().newCDPSession(page);
    const heapOf = async (): Promise<number> => {
      const { usedSize } = await editor.send('Runtime.getHeapUsage');
      return usedSize / 2 ** 20;
    };
    await editor.send('HeapProfiler.collectGarbage');
    const withoutTimeline = await heapOf();
    await workbench.runCommand('Longpole: Show Timeline');
    const canvas = workbench.webview().locator('#canvas');
    await eventually(async () => /^[1-9]/.test((await canvas.getAttribute('data-drawn')) ?? ''), () => 'the timeline', 600_000);
    await canvas.focus();
    const frames: number[] = [];
    for (const key of ['w', 'w', 'w', 'd', 'd', 'a', 's', 'w', 'w', 'd', 'd', 's', 's', 's']) {
      await page.keyboard.press(key);
      await eventually(async () => Number(await canvas.getAttribute('data-frame-ms')) > 0, () => 'a frame');
      frames.push(Number(await canvas.getAttribute('data-frame-ms')));
    }
    const box = await canvas.boundingBox();
    assert.ok(box);
    const [x, y] = [box.x + box.width / 2, box.y + box.height - 60];
    await page.mouse.move(x, y);
    const shown = (): Promise<string | null> => canvas.getAttribute('data-from');
    const before = await shown();
    const stop = await watchFrames(canvas);
    for (const direction of [-1, 1, -1]) {
      for (let step = 0; step < 30; step++) {
        await page.mouse.wheel(0, direction * 40);
      }
      await page.mouse.down();
      await page.mouse.move(x + direction * 300, y, { steps: 60 });
      await page.mouse.up();
      await page.mouse.move(x, y);
    }
    const intervals = (await stop()).sort((a, b) => a - b);
    assert.notEqual(await shown(), before);
    const late = intervals.filter((ms) => ms > 25).length;
    context.diagnostic(
      `timeline, zoomed and dragged: ${intervals.length} frames, ${median(intervals).toFixed(1)} ms from one to the next in the median, ` +
        `${(intervals[Math.floor(intervals.length * 0.95)] ?? NaN).toFixed(1)} ms in the 95th percentile, ${(intervals.at(-1) ?? NaN).toFixed(0)} ms at most; ` +
        `${late} later than half a frame`,
    );
    const worst = await canvas.getAttribute('data-worst-frame-ms');
    const frame = await (await canvas.elementHandle())?.ownerFrame();
    assert.ok(frame);
    // Only a frame with a process, and a heap, of its own has such a session.
    await assert.rejects(page.context().newCDPSession(frame));
    const inUse = await heapOf();
    await editor.send('HeapProfiler.collectGarbage');
    const held = await heapOf();
    context.diagnostic(`timeline, 10 million events, 200 threads: frames of ${median(frames).toFixed(1)} ms in the mean, worst ${worst} ms; heap with what is not collected yet ${inUse.toFixed(0)} MiB, collected ${held.toFixed(0)} MiB, of which the editor without the timeline ${withoutTimeline.toFixed(0)} MiB`);
  });

  void test('the first recording that a fresh window opens', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'first-'));
    build(folder, 'count', 2, 250_000);
    execFileSync(resolve('bin', 'longpole'), ['record', '-o', 'count.lptrace', '--', './count'], { cwd: folder, stdio: 'ignore' });
    const fresh = await Workbench.start({ folder, settings: { 'longpole.cpus': 2 } });
    try {
      const row = fresh.page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'count.lptrace' });
      let start = 0;
      const since = (): number => performance.now() - start;
      // Of the first time that it is not opened as text.
      await fresh.untilRecording(() => {
        start = performance.now();
        return row.dblclick();
      }, 'count.lptrace');
      const asked = since();
      const content = fresh.webview();
      await content.locator('main').waitFor();
      const arrived = since();
      await content.getByText(/× on 2 CPUs/).waitFor();
      context.diagnostic(
        `the first recording: ${asked.toFixed(0)} ms until the extension runs and is asked for its page, ` +
          `${(arrived - asked).toFixed(0)} ms more until the page is there, ${(since() - arrived).toFixed(0)} ms more until it has the numbers`,
      );
    } finally {
      await fresh.stop();
      rmSync(folder, { recursive: true });
    }
  });

  // What the editor counts as loading begins before it writes out its own log and loads whatever else is activated at the same moment,
  // and what it says of a machine that is busy says more of that: so what was the extension's is printed, too.
  void test('activation', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'activation-'));
    writeFileSync(join(folder, 'count.c'), program(1, 1));
    const fresh = await Workbench.start({ folder });
    const clock = join(folder, 'clock');
    try {
      const { page } = fresh;
      const code = join(fresh.server.extensionFolder, 'dist');
      renameSync(join(code, 'extension.js'), join(code, 'clocked.js'));
      writeFileSync(join(code, 'extension.js'), clocked(clock));
      // All lines of the account must be in the page, and only those that can be seen are.
      await page.setViewportSize({ width: 1480, height: 6000 });
      const account: number[][] = [];
      for (let run = 0; run < 8; run++) {
        await page.reload();
        await page.locator('.monaco-workbench').waitFor();
        await fresh.openFile('count.c');
        await fresh.statusItem.waitFor();
        await fresh.runCommand('Developer: Startup Performance');
        const line = page.locator('.view-line', { hasText: /longpole\.longpole/ }).first();
        await line.waitFor();
        const cells = ((await line.textContent()) ?? '').replace(/\u00a0/g, ' ').split('|').map((cell) => cell.trim());
        account.push(cells.slice(3, 6).map(Number));
        await fresh.runCommand('View: Close Editor');
      }
      const own = readFileSync(clock, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as number[]);
      // The first is the one that the editor installed it for.
      const report = (what: string, runs: readonly number[][], part: number): void => {
        const values = runs.slice(1).map((run) => run[part] ?? NaN);
        context.diagnostic(`activation, ${what}: median ${median(values).toFixed(1)} ms of ${values.map((value) => value.toFixed(1)).join(', ')} ms`);
      };
      report('loading as the editor counts it', account, 0);
      report('loading', own, 0);
      report('loading, CPU time', own, 1);
      report('the call as the editor counts it', account, 1);
      report('the call', own, 2);
      report('the call, CPU time', own, 3);
    } finally {
      await fresh.stop();
      rmSync(folder, { recursive: true });
    }
  });
});
