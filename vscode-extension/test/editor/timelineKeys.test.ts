// The timeline, with the fake daemon's small run: what was left by timeline.test.ts, so that each thing that can be done there is
// done by the mouse and by the keys.
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { categoryOf, darkTheme, heatOf } from '../../src/core/timeline/theme';
import { fakeSettings } from './fakes';
import { ms, TimelinePanel } from './timelinePanel';
import { eventually } from './eventually';
import { Workbench } from './workbench';

const total = 670 * ms;

void describe('the timeline by mouse and by keys', () => {
  let workbench: Workbench;
  let panel: TimelinePanel;
  const wholeRun = async (): Promise<void> => {
    await panel.press('0');
    await panel.untilView(0, total);
  };

  before(async () => {
    workbench = await Workbench.start({
      folder: 'test/editor/fixture',
      settings: { ...fakeSettings('usual'), 'workbench.colorTheme': 'Default Dark Modern' },
    });
    panel = await TimelinePanel.open(workbench);
    await panel.untilView(0, total);
  });
  // Whatever the one before has left.
  beforeEach(() => wholeRun());
  after(() => workbench.stop());
  afterEach(async (context) => {
    await workbench.screenshot(context.name);
  });

  void test('a drag moves the view, and so do the arrows and the wheel', async () => {
    await panel.press('+', '+', '+');
    const length = total / 1.5 ** 3;
    await panel.untilView(0, length);
    const [from, to] = [await panel.spot(150 * ms, 'consumer'), await panel.spot(50 * ms, 'consumer')];
    await panel.drag(from, to);
    await panel.untilView(100 * ms, 100 * ms + length);
    // What was dragged was not clicked.
    assert.equal(await panel.details.getByText('woken by').count(), 0);
    await panel.press('ArrowRight');
    await panel.untilView(100 * ms + length / 10, 100 * ms + length * 1.1);
    await panel.press('ArrowLeft', 'ArrowLeft');
    await panel.untilView(100 * ms - length / 10, 100 * ms + length * 0.9);
    await workbench.page.keyboard.down('Shift');
    await workbench.page.mouse.wheel(0, 200);
    await workbench.page.keyboard.up('Shift');
    await eventually(async () => (await panel.view())[0] > 100 * ms, () => 'a view further right');
    await panel.untilLength(length);
    const [before] = await panel.view();
    await workbench.page.mouse.wheel(-100, 0);
    await eventually(async () => (await panel.view())[0] < before - ms, () => 'a view further left');
    await panel.untilLength(length);
  });

  void test('what is said of a place goes when the wheel brings another one there', async () => {
    const wait = await panel.spot(350 * ms, 'consumer');
    await workbench.page.mouse.move(wait.x, wait.y);
    const tip = panel.page.locator('#tip');
    await tip.filter({ hasText: /wait for a semaphore · items/ }).waitFor();
    await workbench.page.mouse.wheel(0, -200);
    await tip.waitFor({ state: 'hidden' });
  });

  void test("all of VPPB's steps, and the whole run, by buttons and by keys", async () => {
    await panel.click('Zoom in by 1.5');
    await panel.untilView(0, total / 1.5);
    await panel.press('=');
    await panel.untilView(0, total / 1.5 ** 2);
    await panel.press('-');
    await panel.untilView(0, total / 1.5);
    await panel.press('Shift++');
    await panel.untilView(0, total / 4.5);
    await panel.press('Shift+_');
    await panel.untilView(0, total / 1.5);
    await panel.click('Zoom in by 3');
    await panel.untilView(0, total / 4.5);
    await panel.click('Zoom out by 3');
    await panel.untilView(0, total / 1.5);
    await panel.press('Backspace');
    await panel.untilView(0, total / 4.5);
    await panel.press('Shift+Backspace');
    await panel.untilView(0, total / 1.5);
    await panel.click('Show the whole run');
    await panel.untilView(0, total);
  });

  void test('the overview: a click goes there, a drag takes the view along', async () => {
    await panel.press('+', '+', '+');
    const half = total / 1.5 ** 3 / 2;
    await panel.untilLength(2 * half);
    const box = await panel.canvas.boundingBox();
    assert.ok(box);
    // It is as wide as the plot, and always of the whole run.
    const plot = Math.min(150, Math.floor(box.width / 4));
    const spot = (ns: number): { x: number; y: number } => ({ x: box.x + plot + (ns / total) * (box.width - plot - 26), y: box.y + 10 });
    await workbench.page.mouse.click(spot(300 * ms).x, spot(300 * ms).y);
    await panel.untilView(300 * ms - half, 300 * ms + half);
    await panel.drag(spot(300 * ms), spot(400 * ms));
    await panel.untilView(400 * ms - half, 400 * ms + half);
  });

  void test('W and S zoom about the pointer, F and a double click show a stretch', async () => {
    const { x, y } = await panel.spot(300 * ms, 'producer 3');
    await workbench.page.mouse.move(x, y);
    await panel.press('w', 'w', 'w');
    await panel.untilLength(total / 1.25 ** 3);
    const [fromNs, toNs] = await panel.view();
    assert.ok(Math.abs((300 * ms - fromNs) / (toNs - fromNs) - 300 / 670) < 0.01, 'what is under the pointer stays');
    await panel.press('s', 's', 's');
    await panel.untilView(0, total);
    const working = await panel.spot(150 * ms, 'producer 2');
    await workbench.page.mouse.dblclick(working.x, working.y);
    // With some room on both sides.
    await panel.untilView(20 * ms, 280 * ms, 5 * ms);
    await wholeRun();
    await panel.untilSelected('post a semaphore: items');
    await panel.press('f');
    await panel.untilView(20 * ms, 280 * ms, 5 * ms);
  });

  void test('the arrows select the thread above and below, Escape nothing', async () => {
    await panel.press('Escape');
    await panel.details.getByText('the thread works').waitFor({ state: 'hidden' });
    await panel.press('ArrowDown');
    await panel.details.getByText('main', { exact: true }).waitFor();
    await panel.press('ArrowDown');
    await panel.details.getByText('consumer, started with consume').waitFor();
    await panel.press('ArrowDown', 'ArrowDown');
    await panel.details.getByText('producer 2, started with produce').waitFor();
    await panel.press('ArrowUp');
    await panel.details.getByText('producer 1, started with produce').waitFor();
    await panel.press('Escape');
    await panel.details.getByText('the thread works').waitFor({ state: 'hidden' });
  });

  void test('events and their threads are selected, stepped through and opened with the mouse, similar ones with the keys', async () => {
    const link = (name: string): Promise<void> => panel.details.getByRole('button', { name }).first().click();
    const box = await panel.canvas.boundingBox();
    assert.ok(box);
    await workbench.page.mouse.click(box.x + 40, await panel.rowOf('producer 1'));
    await panel.details.getByText('producer 1, started with produce').waitFor();
    // The sign of an event itself, and what is said of it before it is clicked.
    const wait = await panel.spot(350 * ms, 'consumer');
    await workbench.page.mouse.move(wait.x, wait.y);
    await panel.page.locator('#tip', { hasText: /wait for a semaphore · items/ }).waitFor();
    await workbench.page.mouse.click(wait.x, wait.y);
    await panel.details.getByText('350 ms on CPU 1').waitFor();
    await link('next ›');
    await panel.details.getByText('450 ms on CPU 1').waitFor();
    await link('‹ previous');
    await panel.details.getByText('350 ms on CPU 1').waitFor();
    await link('similar »');
    await panel.details.getByText('450 ms on CPU 1').waitFor();
    await panel.press('>');
    await panel.details.getByText('550 ms on CPU 1').waitFor();
    await link('« similar');
    await panel.details.getByText('450 ms on CPU 1').waitFor();
    await link('consume pipeline.c:10');
    await workbench.page.getByText('Ln 10, Col 1').waitFor();
    await panel.press('<', '<');
    await panel.details.getByText('woken by').waitFor();
    await link('producer 1, post at 250 ms');
    await panel.untilSelected('post a semaphore: items');
  });

  void test('an interval is marked by keys, from one event to another', async () => {
    const wait = await panel.spot(350 * ms, 'consumer');
    await workbench.page.mouse.click(wait.x, wait.y);
    await panel.details.getByText('350 ms on CPU 1').waitFor();
    await panel.press('m');
    await panel.details.getByText(/^Marked from 350 ms on/).waitFor();
    await panel.press('.', '.');
    await panel.details.getByText('550 ms on CPU 1').waitFor();
    // Escape takes the mark, not the selection.
    await panel.press('Escape');
    await panel.details.getByText(/^Marked from/).waitFor({ state: 'hidden' });
    await panel.press('m');
    await panel.untilView(0, total);
    await panel.press(',', ',');
    await panel.details.getByText('350 ms on CPU 1').waitFor();
    await panel.press('m');
    await panel.untilView(350 * ms, 550 * ms);
  });

  void test('colours by critical weight and by lock', async () => {
    const colour = panel.page.locator('#colour');
    const working = (thread: string): Promise<string> => panel.spot(100 * ms, thread).then((spot) => panel.colourAt({ ...spot, y: spot.y - 3 }));
    const untilWorking = async (thread: string, wanted: string): Promise<void> => {
      let found = '';
      await eventually(
        async () => (found = await working(thread)) === wanted,
        () => `${thread} in ${wanted}; it is ${found}`,
      );
    };
    await colour.focus();
    await workbench.page.keyboard.type('cri');
    await workbench.page.keyboard.press('Tab');
    await untilWorking('producer 1', heatOf(1, darkTheme));
    await untilWorking('producer 2', heatOf(0.25, darkTheme));
    assert.notEqual(heatOf(1, darkTheme), heatOf(0.25, darkTheme));
    await colour.selectOption('lock');
    // The line of a wait is dashed: it is met within a dash and a gap.
    const wait = await panel.spot(150 * ms, 'consumer');
    const seen = new Set<string>();
    await eventually(
      async () => {
        for (let x = 0; x < 8; x++) {
          seen.add(await panel.colourAt({ x: wait.x + x, y: wait.y }));
        }
        return seen.has(categoryOf('semaphore items', darkTheme));
      },
      () => `the colour of the semaphore; there are ${[...seen].join()}`,
    );
    await colour.selectOption('state');
  });

  void test('threads are sorted by their creators', async () => {
    const sort = panel.page.locator('#sort');
    await panel.untilThreads('main,consumer,producer 1,producer 2,producer 3');
    await sort.selectOption('creator');
    await panel.untilThreads('main,consumer,producer 1,producer 3,producer 2');
    await sort.focus();
    await workbench.page.keyboard.type('crit');
    await panel.untilThreads('consumer,');
    await workbench.page.keyboard.press('Tab');
    await sort.selectOption('start');
    await panel.untilThreads('main,consumer,producer 1,producer 2');
  });

  void test('threads are picked by the button; the table and the help have buttons, too', async () => {
    const { page } = panel;
    await panel.click('Choose threads…');
    await workbench.untilAsked('Longpole: Threads to Show');
    await workbench.page.keyboard.press('Escape');
    await panel.click('Show as a table');
    await page.getByRole('row', { name: /^producer 2 200 ms/ }).click();
    await panel.details.getByText('producer 2, started with produce').waitFor();
    await panel.click('Show as a table');
    await panel.canvas.waitFor();
    await panel.click('Keys and signs');
    await page.getByText('next and previous similar event').waitFor();
    await page.getByRole('button', { name: 'close' }).click();
    await page.getByText('next and previous similar event').waitFor({ state: 'hidden' });
  });

  void test('the help is seen as a whole, also in a low panel, and no key goes through it', async () => {
    const { page } = panel;
    await panel.press('?');
    const help = page.getByRole('dialog', { name: 'Keys and signs' });
    await help.getByText('critical path').waitFor();
    const [height, seen, inPanel] = await help.evaluate((dialog) => [dialog.scrollHeight, dialog.clientHeight, dialog.getBoundingClientRect().bottom <= innerHeight] as const);
    assert.ok(height <= seen && inPanel, `${height} pixels of which ${seen} are seen`);
    await workbench.screenshot('timeline help');
    await workbench.page.keyboard.press('+');
    await workbench.page.keyboard.press('Escape');
    await help.waitFor({ state: 'hidden' });
    await panel.untilView(0, total);
  });

  void test('what is above the rows is told where the pointer is: the graph, and the histogram beside it', async () => {
    const { page } = panel;
    const { mouse } = workbench.page;
    const graph = await panel.at(150 * ms, 60);
    await mouse.move(graph.x, graph.y);
    await page.locator('#tip', { hasText: /^150 ms · \d+ running/ }).waitFor();
    const box = await panel.canvas.boundingBox();
    assert.ok(box);
    // Up along the bars: the one of a single thread is among them.
    await eventually(
      async () => {
        for (let y = 40; y < 100; y += 3) {
          await mouse.move(box.x + 140, box.y + y);
          if (/^1 thread runs or could: .* serial$/.test((await page.locator('#tip').textContent()) ?? '')) {
            return true;
          }
        }
        return false;
      },
      () => 'the time of one thread alone',
    );
  });

  void test('in a narrow window the facts stand below the picture', async () => {
    const { page } = workbench;
    const size = page.viewportSize();
    assert.ok(size);
    await page.setViewportSize({ width: 820, height: size.height });
    try {
      await eventually(async () => ((await panel.canvas.boundingBox())?.width ?? 1000) < 640, () => 'a narrow panel');
      await panel.press('Escape', 'ArrowDown');
      await panel.untilSelected('join a thread');
      const [picture, facts] = [await panel.canvas.boundingBox(), await panel.details.boundingBox()];
      assert.ok(picture && facts && facts.height > 30 && facts.y >= picture.y + picture.height - 1);
      await workbench.screenshot('timeline narrow');
      await panel.press('Escape');
    } finally {
      await page.setViewportSize(size);
    }
    await eventually(async () => ((await panel.canvas.boundingBox())?.width ?? 0) > 640, () => 'a wide panel');
  });

  void test('the table lists what a thread does in the interval, call by call, by keys and by the mouse', async () => {
    const { page } = panel;
    const { keyboard } = workbench.page;
    const calls = page.getByRole('table', { name: /^What consumer does from / });
    await panel.press('Escape', 't');
    await page.getByText('Choose a thread, with Enter or a click').waitFor();
    // From the table to its first row, and down to the consumer.
    await keyboard.press('Tab');
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowDown');
    await keyboard.press('ArrowUp');
    await keyboard.press('Enter');
    await panel.untilSelected('wait for a semaphore: items');
    await calls.getByRole('row', { name: /50 ms wait for a semaphore items blocked for 200 ms producer 1, post at 250 ms consume pipeline\.c:10$/ }).waitFor();
    await calls.getByRole('row', { name: /350 ms wait for a semaphore items goes on – consume pipeline\.c:10$/ }).click();
    await panel.details.getByText('350 ms on CPU 1').waitFor();
    await workbench.screenshot('timeline table');
    await calls.getByRole('row', { name: /450 ms wait for a semaphore/ }).focus();
    await keyboard.press('Enter');
    await panel.details.getByText('450 ms on CPU 1').waitFor();
    assert.equal(await calls.locator('tbody tr').count(), 5);
    // A row that says the same stays while the table is drawn again: a click on it is not lost.
    const row = await calls.getByRole('row', { name: /550 ms wait for a semaphore/ }).elementHandle();
    await page.locator('#idle').click();
    await page.locator('#idle').click();
    assert.ok(await row?.evaluate((each) => each.isConnected));
    await page.locator('#table').press('t');
    // Of an interval, what it has.
    await panel.press('Escape');
    await panel.drag(await panel.at(300 * ms, 60), await panel.at(500 * ms, 60));
    await panel.untilView(300 * ms, 500 * ms);
    await page.getByLabel('hide idle').check();
    await eventually(async () => (await panel.attribute('threads')) === 'consumer', () => 'the consumer alone');
    await panel.press('ArrowDown', 't');
    await calls.getByRole('row', { name: /350 ms wait for a semaphore/ }).waitFor();
    await eventually(async () => (await calls.locator('tbody tr').count()) === 2, () => 'two calls');
    await page.getByLabel('hide idle').uncheck();
    await page.locator('#table').press('t');
    await panel.press('Escape');
  });

  void test('another scheduler is compared with, and its lane takes clicks', async () => {
    await panel.click('Compare with another simulation…');
    await workbench.untilAsked('Longpole: Compare the Timeline With');
    await workbench.choose('fifo');
    await panel.page.getByText('8 CPUs, linux ↔ 8 CPUs, fifo').waitFor();
    await eventually(async () => /^\d+ \| \d+$/.test(await panel.attribute('drawn')), () => 'both drawn');
    await panel.press('Escape', 'ArrowDown');
    await panel.details.locator('h2').filter({ hasText: '8 CPUs, fifo: ' }).waitFor();
    await panel.details.getByRole('button', { name: 'end the comparison' }).click();
    await panel.page.getByText('↔').waitFor({ state: 'hidden' });
  });

  void test('more rows than fit are scrolled by keys and by the wheel', async () => {
    await panel.press('c');
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked('Longpole: Set CPU Count');
    await workbench.quickInput.fill('Other');
    await workbench.page.keyboard.press('Enter');
    await eventually(async () => /^\d+$/.test(await workbench.quickInput.inputValue()), () => 'the input box');
    await workbench.quickInput.fill('64');
    await workbench.page.keyboard.press('Enter');
    await panel.page.getByText('64 CPUs, linux').waitFor();
    const top = (): Promise<number> => panel.rowOf('CPU 0');
    const start = await top();
    const untilScrolled = async (holds: (y: number) => boolean): Promise<void> =>
      eventually(async () => holds(await top()), () => 'other rows');
    await panel.press('PageDown');
    await untilScrolled((y) => y < start - 40);
    await panel.press('PageUp');
    await untilScrolled((y) => y === start);
    const box = await panel.canvas.boundingBox();
    assert.ok(box);
    await workbench.page.mouse.move(box.x + 40, box.y + box.height - 40);
    await workbench.page.mouse.wheel(0, 60);
    await untilScrolled((y) => y === start - 60);
    await panel.press('c');
  });
});
