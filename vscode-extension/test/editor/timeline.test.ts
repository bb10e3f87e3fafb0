// The timeline, with the fake daemon's small run: what the mouse and the keys do. What the canvas shows is told by its data
// attributes; what it looks like, by the pictures in out/screenshots.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { fakeSettings } from './fakes';
import { ms, TimelinePanel } from './timelinePanel';
import { eventually } from './eventually';
import { Workbench } from './workbench';

/** On 8 CPUs, and on 2. */
const totals = { 8: 670 * ms, 2: 670 * ms, 1: 970 * ms } as const;

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);

void describe('the timeline', () => {
  let workbench: Workbench;
  let panel: TimelinePanel;

  before(async () => {
    workbench = await Workbench.start({ folder: 'test/editor/fixture', settings: fakeSettings('usual') });
    panel = await TimelinePanel.open(workbench);
  });
  after(() => workbench.stop());
  afterEach(async (context) => {
    await workbench.screenshot(context.name);
  });

  void test('the whole run is shown, and its threads', async () => {
    await panel.untilView(0, totals[8]);
    await panel.untilThreads('main,consumer,producer 1,producer 2,producer 3,<img src=x onerror=');
    await panel.press('t');
    // A name of ten thousand characters makes a row no higher than three lines, and is whole where the pointer rests.
    const long = panel.page.locator('#table tbody th', { hasText: '<img src=x' });
    assert.match((await long.textContent()) ?? '', /^<img .{80,}…$/u);
    assert.ok(((await long.getAttribute('title')) ?? '').length > 10_000);
    assert.ok(((await long.boundingBox())?.height ?? 0) < 80);
    // No word is broken that has room in a line of its own.
    const broken = await panel.page.locator('#table th, #table td').evaluateAll((cells) =>
      cells.flatMap((cell) => {
        const text = cell.firstChild;
        return [...(cell.textContent ?? '').matchAll(/\S+/g)]
          .filter(([word]) => word.length <= 20)
          .filter(({ 0: word, index }) => {
            const range = document.createRange();
            range.setStart(text as Text, index);
            range.setEnd(text as Text, index + word.length);
            return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
          })
          .map(([word]) => word);
      }),
    );
    assert.deepEqual(broken, []);
    await panel.page.locator('#table').press('t');
    await panel.details.getByText('serial').waitFor();
    await panel.details.getByText(/^The status bar and the lines say 1\.25 s: they are of threads that share the CPUs evenly \(scheduler shared\)/).waitFor();
    // A name of markup is text: it has run nothing and loaded nothing.
    assert.notEqual(await panel.canvas.evaluate(() => document.title), 'bad');
    assert.equal(await panel.canvas.evaluate(() => document.querySelectorAll('img').length), 0);
  });

  void test('whoever asks for it has its keys at once', async () => {
    await panel.canvas.evaluate((canvas) => canvas.blur());
    await workbench.openFile('pipeline.c');
    await workbench.runCommand('Longpole: Show Timeline');
    await eventually(() => panel.canvas.evaluate((canvas) => canvas.ownerDocument.activeElement === canvas && canvas.ownerDocument.hasFocus()), () => 'the focus');
    await workbench.page.keyboard.press('?');
    await panel.page.locator('dialog[open]').waitFor();
    await workbench.page.keyboard.press('Escape');
  });

  void test("zoom by VPPB's steps keeps the left end; back and forward", async () => {
    const { page } = panel;
    const third = totals[8] / 3;
    await page.getByRole('button', { name: 'Zoom in by 3' }).click();
    await panel.untilView(0, third);
    await panel.press('+');
    await panel.untilView(0, third / 1.5);
    await page.getByRole('button', { name: 'Zoom out by 1.5' }).click();
    await panel.untilView(0, third);
    await page.getByRole('button', { name: 'Back to the view before' }).click();
    await panel.untilView(0, third / 1.5);
    await panel.press('Backspace');
    await panel.untilView(0, third);
    await page.getByRole('button', { name: 'Forward' }).click();
    await panel.untilView(0, third / 1.5);
    await panel.press('0');
    await panel.untilView(0, totals[8]);
  });

  void test('the wheel and the keys of Perfetto zoom and move', async () => {
    const middle = await panel.at(totals[8] / 2, 160);
    await workbench.page.mouse.move(middle.x, middle.y);
    await workbench.page.mouse.wheel(0, -600);
    await eventually(async () => (await panel.view())[1] - (await panel.view())[0] < totals[8] / 2, () => 'a shorter view');
    const [fromNs, toNs] = await panel.view();
    assert.ok(Math.abs((fromNs + toNs) / 2 - totals[8] / 2) < 10 * ms, 'what is under the pointer stays');
    await panel.press('d');
    await panel.untilView(fromNs + (toNs - fromNs) / 10, toNs + (toNs - fromNs) / 10);
    await panel.press('a');
    await panel.untilView(fromNs, toNs);
    await panel.press('w');
    await eventually(async () => (await panel.view())[1] - (await panel.view())[0] < (toNs - fromNs) * 0.9, () => 'a shorter view still');
    await panel.press('0');
    await panel.untilView(0, totals[8]);
  });

  void test('an interval marked in the parallelism graph is shown; threads that are idle in it stay, until they are not wanted', async () => {
    const [from, to] = [await panel.at(300 * ms, 60), await panel.at(500 * ms, 60)];
    await workbench.page.mouse.move(from.x, from.y);
    await workbench.page.mouse.down();
    await workbench.page.mouse.move(to.x, to.y, { steps: 4 });
    await workbench.page.mouse.up();
    await panel.untilView(300 * ms, 500 * ms);
    await panel.details.getByText('300 ms – 500 ms').waitFor();
    assert.match(await panel.attribute('threads'), /^main,consumer,producer 1,/);
    await panel.page.getByLabel('hide idle').check();
    await eventually(async () => (await panel.attribute('threads')) === 'consumer', () => 'the consumer alone');
    await panel.page.getByLabel('hide idle').uncheck();
    await panel.untilThreads('main,consumer,producer 1');
    await panel.press('h', '0');
    await panel.untilView(0, totals[8]);
  });

  void test('a click selects; events are stepped through; the source opens beside', async () => {
    const place = await panel.at(300 * ms, 160);
    const row = await panel.rowOf('consumer');
    await workbench.page.mouse.click(place.x, row);
    await panel.untilSelected('wait for a semaphore: items');
    await panel.details.getByText('consumer, started with consume').waitFor();
    await panel.press('.');
    await panel.details.getByText('450 ms on CPU 1').waitFor();
    await panel.press(',');
    await panel.details.getByText('350 ms on CPU 1').waitFor();
    await panel.press('<');
    await panel.details.getByText('woken by').waitFor();
    await panel.press('Enter');
    await workbench.page.locator('.tab.active[data-resource-name="pipeline.c"]').waitFor();
    await workbench.page.getByText('Ln 10, Col 1').waitFor();
    await panel.press('[');
    await panel.untilSelected('post a semaphore: items');
    await panel.press(']');
    await panel.untilSelected('wait for a semaphore: items');
  });

  void test('a panel that was hidden comes back with its interval and its selection', async () => {
    await panel.press('+');
    await panel.untilLength(totals[8] / 1.5);
    const [fromNs, toNs] = await panel.view();
    await workbench.page.getByRole('button', { name: /Hide Panel/ }).first().click();
    await workbench.page.locator('.part.panel').waitFor({ state: 'hidden' });
    // Away from the button: what it says of itself would lie over the panel's own.
    await workbench.page.mouse.move(5, 400);
    await workbench.runCommand('Longpole: Show Timeline');
    await panel.untilView(fromNs, toNs);
    await panel.untilSelected('wait for a semaphore: items');
    await panel.press('0');
    await panel.untilView(0, totals[8]);
  });

  void test('pictures are saved as SVG and as PNG', async () => {
    const saved = async (button: string, name: string): Promise<Buffer> => {
      await panel.page.getByRole('button', { name: button }).click();
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
    // What the panel around it says is in it.
    for (const text of ['run', '8 CPUs, linux · whole run, 670 ms', 'critical path', 'post a semaphore']) {
      assert.ok(svg.includes(`>${text}</text>`), text);
    }
    assert.doesNotMatch(svg, /<img|<script/);
    const png = await saved('Save the picture as PNG', 'run 8 CPUs.png');
    assert.equal(png.toString('latin1', 1, 4), 'PNG');
    assert.ok(png.readUInt32BE(16) > 1200 && png.readUInt32BE(20) > 150, `${png.readUInt32BE(16)} by ${png.readUInt32BE(20)}`);
    // Behind the table there is none.
    const button = panel.page.getByRole('button', { name: 'Save the picture as SVG' });
    await panel.press('t');
    await eventually(() => button.isDisabled(), () => 'no picture to be saved');
    await panel.page.locator('#table').press('t');
    await eventually(() => button.isEnabled(), () => 'a picture to be saved');
  });

  void test('the page runs its own script and loads nothing: whatever else gets into it is refused', async () => {
    await panel.canvas.evaluate(({ ownerDocument: page }) => {
      const refused = new Set<string>();
      page.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
        refused.add(`${effectiveDirective} ${blockedURI}`);
        page.body.dataset['refused'] = [...refused].sort().join('; ');
      });
      const script = page.createElement('script');
      script.textContent = 'document.title = "bad"';
      const elsewhere = page.createElement('script');
      elsewhere.src = 'https://example.invalid/script.js';
      const [styled, clicked] = [page.createElement('p'), page.createElement('p')];
      styled.setAttribute('style', 'color: red');
      clicked.setAttribute('onclick', 'document.title = "bad"');
      page.body.append(script, elsewhere, styled, clicked);
      clicked.click();
      [script, elsewhere, styled, clicked].forEach((each) => each.remove());
      new Image().src = 'https://example.invalid/picture.png';
      void fetch('https://example.invalid/').catch(() => undefined);
      // Not at once: what a debugger calls may evaluate.
      setTimeout(() => {
        // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
        new Function('document.title = "bad"')();
      }, 0);
    });
    const all = [
      'connect-src https://example.invalid/',
      'img-src https://example.invalid/picture.png',
      'script-src eval',
      'script-src-attr inline',
      'script-src-elem https://example.invalid/script.js',
      'script-src-elem inline',
      'style-src-attr inline',
    ].join('; ');
    let refused: string | null = '';
    await eventually(
      async () => (refused = await panel.page.locator('body').getAttribute('data-refused')) === all,
      () => `all to be refused; it is ${refused}`,
    );
    assert.notEqual(await panel.canvas.evaluate(({ ownerDocument }) => ownerDocument.title), 'bad');
  });

  void test('another number of CPUs keeps the interval and the selection', async () => {
    await panel.press('+');
    await panel.untilLength(totals[8] / 1.5);
    const before = await panel.view();
    // What is under the pointer stays there while the other run is on its way.
    await panel.canvas.evaluate((canvas) => {
      const widths = new Set<number>();
      new ResizeObserver(() => (canvas.dataset['widths'] = String(widths.add(canvas.clientWidth).size))).observe(canvas);
    });
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked('Longpole: Set CPU Count');
    await workbench.quickInput.fill('1 CPU');
    await workbench.page.keyboard.press('Enter');
    await panel.page.getByText('1 CPU, linux').waitFor();
    assert.match((await panel.page.locator('#scheduler').getAttribute('title')) ?? '', /The status bar and the lines say 2\.00 s: they are of threads that share the CPUs evenly \(scheduler shared\)/);
    await panel.untilSelected('wait for a semaphore: items');
    const now = await panel.view();
    assert.ok(Math.abs(now[1] - now[0] - (before[1] - before[0])) < 2 * ms, `${now.join()} ${before.join()}`);
    await panel.press('0');
    await panel.untilView(0, totals[1]);
    assert.equal(await panel.attribute('widths'), '1');
  });

  void test('two simulations above each other, with the selection in both', async () => {
    await panel.press('v');
    await workbench.untilAsked('Longpole: Compare the Timeline With');
    await workbench.quickInput.fill('4 CPUs');
    await workbench.page.keyboard.press('Enter');
    await panel.page.getByText('1 CPU, linux ↔ 4 CPUs, linux').waitFor();
    await panel.details.locator('h2').filter({ hasText: '4 CPUs, linux: wait for a semaphore' }).waitFor();
    await eventually(async () => /\d+ \| \d+/.test(await panel.attribute('drawn')), () => 'both drawn');
    await workbench.screenshot('timeline comparison');
    await panel.details.getByRole('button', { name: 'end the comparison' }).click();
    await panel.page.getByText('↔').waitFor({ state: 'hidden' });
  });

  void test('a line of the source is found in the timeline', async () => {
    await workbench.openFile('pipeline.c');
    await workbench.goToLine(5);
    await workbench.runCommand('Longpole: Find Line in Timeline');
    await panel.details.getByRole('heading', { name: 'pipeline.c:5' }).waitFor();
    await panel.details.getByText(/ms in 4 threads here/).waitFor();
    await panel.details.getByRole('button', { name: 'clear' }).click();
    await panel.details.getByRole('heading', { name: 'pipeline.c:5' }).waitFor({ state: 'hidden' });
  });

  void test('rows of CPUs, colours, order, and threads picked from a list', async () => {
    const { page } = panel;
    const drawn = await panel.watchDrawn();
    await panel.press('c');
    // As many rows as there are CPUs; the turn under the pointer says whose it is, a click selects it.
    await eventually(async () => (await panel.attribute('drawn')) === '1', () => 'a row a CPU');
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked('Longpole: Set CPU Count');
    await workbench.quickInput.fill('8 CPUs');
    await workbench.page.keyboard.press('Enter');
    await eventually(async () => (await panel.attribute('drawn')) === '8', () => 'eight rows');
    // From one picture to the next, with no empty one in between.
    const counts = await drawn();
    assert.ok(counts.length > 1 && counts.every((count) => /^[1-9]/.test(count)), counts.join());
    // What is said of threads is of no use there.
    assert.ok((await page.locator('#sort').isDisabled()) && (await page.getByRole('button', { name: 'Choose threads' }).isDisabled()));
    const { x } = await panel.at(150 * ms, 0);
    const second = await panel.rowOf('CPU 1');
    await workbench.page.mouse.move(x, second);
    await page.locator('#tip', { hasText: 'CPU 1 · producer 2 · 200 ms' }).waitFor();
    await workbench.screenshot('timeline CPUs');
    await workbench.page.mouse.click(x, second);
    await panel.details.getByText('producer 2, started with produce').waitFor();
    await panel.details.getByText(/^the thread works 200 ms of /).waitFor();
    await panel.press('t');
    await page.getByRole('row', { name: /^CPU 1 200 ms \d+% 1 1 0$/ }).waitFor();
    await page.locator('#table').press('t');
    await panel.press('c');
    await page.locator('#colour').selectOption('function');
    await page.locator('#sort').selectOption('critical');
    await panel.untilThreads('consumer,');
    await panel.press('p');
    await workbench.untilAsked('Longpole: Threads to Show');
    await workbench.page.locator('.quick-input-check-all, .quick-input-header .monaco-checkbox, .quick-input-header input[type=checkbox]').first().click();
    await workbench.quickInput.fill('producer 2');
    await workbench.page.keyboard.press('ArrowDown');
    await workbench.page.keyboard.press('Space');
    await workbench.page.keyboard.press('Enter');
    await eventually(async () => (await panel.attribute('threads')) === 'producer 2', () => 'one thread');
    assert.equal(await page.getByRole('button', { name: 'Choose threads' }).getAttribute('aria-pressed'), 'true', 'that there are others can be seen');
  });

  void test('a table says the same, and the help lists the keys', async () => {
    const { page } = panel;
    await panel.press('t');
    await page.getByRole('row', { name: /^producer 2 200 ms/ }).waitFor();
    await page.locator('#table').press('t');
    await panel.press('?');
    await page.getByText('next and previous similar event').waitFor();
    await workbench.page.keyboard.press('Escape');
    await page.getByText('next and previous similar event').waitFor({ state: 'hidden' });
  });
});
