// The timeline, with the fake daemon's small run: what the mouse and the keys do. What the canvas shows is told by its data
// attributes; what it looks like, by the pictures in out/screenshots.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { fakeSettings } from './fakes';
import { eventually, Workbench } from './workbench';

const ms = 1e6;
/** On 8 CPUs, and on 2. */
const totals = { 8: 670 * ms, 2: 670 * ms, 1: 970 * ms } as const;

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);

void describe('the timeline', () => {
  let workbench: Workbench;
  let canvas: Locator;
  let details: Locator;

  const attribute = async (name: string): Promise<string> => (await canvas.getAttribute(`data-${name}`)) ?? '';
  const view = async (): Promise<[number, number]> => [Number(await attribute('from')), Number(await attribute('to'))];
  const untilView = async (fromNs: number, toNs: number, tolerance = 2 * ms): Promise<void> => {
    let found: [number, number] = [0, 0];
    await eventually(
      async () => {
        found = await view();
        return Math.abs(found[0] - fromNs) <= tolerance && Math.abs(found[1] - toNs) <= tolerance;
      },
      () => `the view from ${fromNs} to ${toNs}; it is ${found.join(' to ')}`,
    );
  };
  const untilThreads = async (names: string): Promise<void> =>
    eventually(async () => (await attribute('threads')).startsWith(names), () => `the threads ${names}`);
  const untilSelected = async (text: string | RegExp): Promise<void> => details.locator('h2').first().filter({ hasText: text }).waitFor();
  const press = async (...keys: string[]): Promise<void> => {
    await canvas.focus();
    for (const key of keys) {
      await workbench.page.keyboard.press(key);
    }
  };
  /** A place of the canvas: a moment of the whole run that is shown, and pixels below its top. */
  const at = async (ns: number, y: number): Promise<{ x: number; y: number }> => {
    const box = await canvas.boundingBox();
    assert.ok(box);
    const [fromNs, toNs] = await view();
    const plot = Math.min(150, Math.floor(box.width / 4));
    return { x: box.x + plot + ((ns - fromNs) / (toNs - fromNs)) * (box.width - plot - 26), y: box.y + y };
  };

  /** The middle of a thread's row on the screen. */
  const rowOf = async (name: string): Promise<number> => {
    const box = await canvas.boundingBox();
    const rows = JSON.parse(await attribute('rows')) as Record<string, number>;
    const y = rows[name];
    assert.ok(box !== null && y !== undefined, name);
    return box.y + y;
  };

  before(async () => {
    workbench = await Workbench.start({ folder: 'test/editor/fixture', settings: fakeSettings('usual') });
    await workbench.openRecording('run.lptrace');
    await eventually(async () => (await workbench.statusText()) === '8 CPUs · 1.6×', () => 'the recording');
    await workbench.openFile('pipeline.c');
    await workbench.runCommand('Longpole: Show Timeline');
    const page = workbench.webview();
    canvas = page.locator('canvas');
    details = page.locator('aside');
  });
  after(() => workbench.stop());
  afterEach(async (context) => {
    await workbench.screenshot(context.name);
  });

  void test('the whole run is shown, and its threads', async () => {
    await untilView(0, totals[8]);
    await untilThreads('main,consumer,producer 1,producer 2,producer 3,<img src=x onerror=');
    await details.getByText('serial').waitFor();
    // A name of markup is text: it has run nothing and loaded nothing.
    assert.notEqual(await canvas.evaluate(() => document.title), 'bad');
    assert.equal(await canvas.evaluate(() => document.querySelectorAll('img').length), 0);
  });

  void test("zoom by VPPB's steps keeps the left end; back and forward", async () => {
    const page = workbench.webview();
    const third = totals[8] / 3;
    await page.getByRole('button', { name: 'Zoom in by 3' }).click();
    await untilView(0, third);
    await press('+');
    await untilView(0, third / 1.5);
    await page.getByRole('button', { name: 'Zoom out by 1.5' }).click();
    await untilView(0, third);
    await page.getByRole('button', { name: 'Back to the view before' }).click();
    await untilView(0, third / 1.5);
    await press('Backspace');
    await untilView(0, third);
    await page.getByRole('button', { name: 'Forward' }).click();
    await untilView(0, third / 1.5);
    await press('0');
    await untilView(0, totals[8]);
  });

  void test('the wheel and the keys of Perfetto zoom and move', async () => {
    const middle = await at(totals[8] / 2, 160);
    await workbench.page.mouse.move(middle.x, middle.y);
    await workbench.page.mouse.wheel(0, -600);
    await eventually(async () => (await view())[1] - (await view())[0] < totals[8] / 2, () => 'a shorter view');
    const [fromNs, toNs] = await view();
    assert.ok(Math.abs((fromNs + toNs) / 2 - totals[8] / 2) < 10 * ms, 'what is under the pointer stays');
    await press('d');
    await untilView(fromNs + (toNs - fromNs) / 10, toNs + (toNs - fromNs) / 10);
    await press('a');
    await untilView(fromNs, toNs);
    await press('w');
    await eventually(async () => (await view())[1] - (await view())[0] < (toNs - fromNs) * 0.9, () => 'a shorter view still');
    await press('0');
    await untilView(0, totals[8]);
  });

  void test('an interval marked in the parallelism graph is shown, without threads that are idle in it', async () => {
    const [from, to] = [await at(300 * ms, 60), await at(500 * ms, 60)];
    await workbench.page.mouse.move(from.x, from.y);
    await workbench.page.mouse.down();
    await workbench.page.mouse.move(to.x, to.y, { steps: 4 });
    await workbench.page.mouse.up();
    await untilView(300 * ms, 500 * ms);
    await eventually(async () => (await attribute('threads')) === 'consumer', () => 'the consumer alone');
    await workbench.webview().getByLabel('hide idle').uncheck();
    await untilThreads('main,consumer,producer 1');
    await press('h', '0');
    await untilView(0, totals[8]);
  });

  void test('a click selects; events are stepped through; the source opens beside', async () => {
    const place = await at(300 * ms, 160);
    const row = await rowOf('consumer');
    await workbench.page.mouse.click(place.x, row);
    await untilSelected('wait for a semaphore: items');
    await details.getByText('consumer, started with consume').waitFor();
    await press('.');
    await details.getByText('450 ms on CPU 1').waitFor();
    await press(',');
    await details.getByText('350 ms on CPU 1').waitFor();
    await press('<');
    await details.getByText('woken by').waitFor();
    await press('Enter');
    await workbench.page.locator('.tab.active[data-resource-name="pipeline.c"]').waitFor();
    await workbench.page.getByText('Ln 10, Col 1').waitFor();
    await press('[');
    await untilSelected('post a semaphore: items');
    await press(']');
    await untilSelected('wait for a semaphore: items');
  });

  void test('a panel that was hidden comes back with its interval and its selection', async () => {
    await press('+');
    const [fromNs, toNs] = await view();
    assert.ok(toNs - fromNs < totals[8] * 0.9);
    await workbench.page.getByRole('button', { name: /Hide Panel/ }).first().click();
    await workbench.page.locator('.part.panel').waitFor({ state: 'hidden' });
    // Away from the button: what it says of itself would lie over the panel's own.
    await workbench.page.mouse.move(5, 400);
    await workbench.runCommand('Longpole: Show Timeline');
    await untilView(fromNs, toNs);
    await untilSelected('wait for a semaphore: items');
    await press('0');
    await untilView(0, totals[8]);
  });

  void test('pictures are saved as SVG and as PNG', async () => {
    const saved = async (button: string, name: string): Promise<Buffer> => {
      await workbench.webview().getByRole('button', { name: button }).click();
      await workbench.untilAsked('Longpole: Save Picture');
      await eventually(async () => (await workbench.quickInput.inputValue()).endsWith(name), () => `${name} to be offered`);
      await workbench.page.keyboard.press('Enter');
      const path = join(workbench.folder, name);
      let size = 0;
      // Written in one go, but not at once.
      await eventually(() => Promise.resolve(sizeOf(path) > 0 && size === (size = sizeOf(path))), () => path);
      return readFileSync(path);
    };
    const svg = (await saved('Save the picture as SVG', 'run 8 CPUs.svg')).toString();
    assert.match(svg, /^<svg[^>]* viewBox="/);
    assert.match(svg, />consumer</);
    assert.doesNotMatch(svg, /<img|<script/);
    const png = await saved('Save the picture as PNG', 'run 8 CPUs.png');
    assert.equal(png.toString('latin1', 1, 4), 'PNG');
    assert.ok(png.readUInt32BE(16) > 600 && png.readUInt32BE(20) > 150, `${png.readUInt32BE(16)} by ${png.readUInt32BE(20)}`);
  });

  void test('another number of CPUs keeps the interval and the selection', async () => {
    await press('+');
    const before = await view();
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked('Longpole: Set CPU Count');
    await workbench.quickInput.fill('1 CPU');
    await workbench.page.keyboard.press('Enter');
    await workbench.webview().getByText('1 CPU, linux').waitFor();
    await untilSelected('wait for a semaphore: items');
    const now = await view();
    assert.ok(Math.abs(now[1] - now[0] - (before[1] - before[0])) < 2 * ms, `${now.join()} ${before.join()}`);
    await press('0');
    await untilView(0, totals[1]);
  });

  void test('two simulations above each other, with the selection in both', async () => {
    await press('v');
    await workbench.untilAsked('Longpole: Compare the Timeline With');
    await workbench.quickInput.fill('4 CPUs');
    await workbench.page.keyboard.press('Enter');
    await workbench.webview().getByText('1 CPU, linux ↔ 4 CPUs, linux').waitFor();
    await details.locator('h2').filter({ hasText: '4 CPUs, linux: wait for a semaphore' }).waitFor();
    await eventually(async () => /\d+ \| \d+/.test(await attribute('drawn')), () => 'both drawn');
    await workbench.screenshot('timeline comparison');
    await details.getByRole('button', { name: 'end the comparison' }).click();
    await workbench.webview().getByText('↔').waitFor({ state: 'hidden' });
  });

  void test('a line of the source is found in the timeline', async () => {
    await workbench.openFile('pipeline.c');
    await workbench.goToLine(5);
    await workbench.runCommand('Longpole: Find Line in Timeline');
    await details.getByRole('heading', { name: 'pipeline.c:5' }).waitFor();
    await details.getByText(/ms in 4 threads here/).waitFor();
    await details.getByRole('button', { name: 'clear' }).click();
    await details.getByRole('heading', { name: 'pipeline.c:5' }).waitFor({ state: 'hidden' });
  });

  void test('rows of CPUs, colours, order, and threads picked from a list', async () => {
    const page = workbench.webview();
    await press('c');
    // As many rows as there are CPUs; the turn under the pointer says whose it is, a click selects it.
    await eventually(async () => (await attribute('drawn')) === '1', () => 'a row a CPU');
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked('Longpole: Set CPU Count');
    await workbench.quickInput.fill('8 CPUs');
    await workbench.page.keyboard.press('Enter');
    await eventually(async () => (await attribute('drawn')) === '8', () => 'eight rows');
    const { x } = await at(150 * ms, 0);
    const second = await rowOf('CPU 1');
    await workbench.page.mouse.move(x, second);
    await page.locator('#tip', { hasText: 'CPU 1 · producer 2 · 200 ms' }).waitFor();
    await workbench.screenshot('timeline CPUs');
    await workbench.page.mouse.click(x, second);
    await details.getByText('producer 2, started with produce').waitFor();
    await details.getByText(/^the thread works 200 ms of /).waitFor();
    await press('t');
    await page.getByRole('row', { name: /^CPU 1 200 ms \d+% 1 1 0$/ }).waitFor();
    await page.locator('#table').press('t');
    await press('c');
    await page.locator('#colour').selectOption('function');
    await page.locator('#sort').selectOption('critical');
    await untilThreads('consumer,');
    await press('p');
    await workbench.untilAsked('Longpole: Threads to Show');
    await workbench.page.locator('.quick-input-check-all, .quick-input-header .monaco-checkbox, .quick-input-header input[type=checkbox]').first().click();
    await workbench.quickInput.fill('producer 2');
    await workbench.page.keyboard.press('ArrowDown');
    await workbench.page.keyboard.press('Space');
    await workbench.page.keyboard.press('Enter');
    await eventually(async () => (await attribute('threads')) === 'producer 2', () => 'one thread');
  });

  void test('a table says the same, and the help lists the keys', async () => {
    const page = workbench.webview();
    await press('t');
    await page.getByRole('row', { name: /^producer 2 200 ms/ }).waitFor();
    await page.locator('#table').press('t');
    await press('?');
    await page.getByText('next and previous similar event').waitFor();
    await workbench.page.keyboard.press('Escape');
    await page.getByText('next and previous similar event').waitFor({ state: 'hidden' });
  });
});
