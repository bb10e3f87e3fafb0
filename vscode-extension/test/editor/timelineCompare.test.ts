// Two runs on one time axis, with the fake daemon: the program before and after a change, and a machine with and without bindings.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { fakeSettings } from './fakes';
import { ms, TimelinePanel } from './timelinePanel';
import { eventually } from './eventually';
import { Workbench } from './workbench';

/** How long the run takes, on one CPU, and with a thread that is bound. */
const [usual, onOneCpu, bound] = [670 * ms, 970 * ms, 970 * ms];

void describe('timelines above each other', () => {
  let workbench: Workbench;
  let panel: TimelinePanel;

  before(async () => {
    workbench = await Workbench.start({ folder: 'test/editor/fixture', settings: fakeSettings('usual') });
    await workbench.openFile('pipeline.c');
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.answer('Longpole: Program to Record', './pipeline --short --fast');
    await workbench.toast('pipeline would take').waitFor();
    panel = await TimelinePanel.open(workbench);
    await panel.untilView(0, usual);
  });
  after(() => workbench.stop());
  afterEach(async (context) => {
    await workbench.screenshot(context.name);
  });

  const compareWith = async (choice: string): Promise<void> => {
    await workbench.untilAsked('Longpole: Compare the Timeline With');
    await workbench.choose(choice);
    await eventually(async () => /^\d+ \| \d+$/.test(await panel.attribute('drawn')), () => 'both drawn');
  };
  const endComparison = async (): Promise<void> => {
    await panel.details.getByRole('button', { name: 'end the comparison' }).click();
    await panel.page.getByText('↔').waitFor({ state: 'hidden' });
  };
  const selected = (title: string | RegExp): Locator => panel.details.locator('h2', { hasText: title });

  void test('the program before and after a change', async () => {
    await panel.click('Compare with another simulation…');
    await compareWith('pipeline');
    await panel.page.getByText('8 CPUs, linux ↔ pipeline, 8 CPUs, linux').waitFor();
    // One axis for both: the shorter run ends before it.
    await panel.untilView(0, usual);
    // A click on the lower picture selects there, in that run and in none else.
    const row = await panel.rowOf('consumer', 'lowerRows');
    const { x } = await panel.at(100 * ms, 0);
    await workbench.page.mouse.click(x, row);
    await selected('pipeline, 8 CPUs, linux: wait for a semaphore: items').waitFor();
    // Its producers take half the time.
    await panel.details.getByText(/^50 ms → 150 ms \(100 ms\) on CPU 1$/).waitFor();
    assert.equal(await selected(/^8 CPUs, linux: /).count(), 0, 'other recordings have other events');
    await panel.press('Escape', 'ArrowDown');
    await selected(/^8 CPUs, linux: join a thread: /).waitFor();
    assert.equal(await selected(/^pipeline, 8 CPUs, linux: /).count(), 0, 'other recordings have other events');
    await panel.press('Escape');
    await endComparison();
  });

  void test('the longer of two runs gives both their axis', async () => {
    await panel.press('v');
    await compareWith('1 CPU');
    await panel.page.getByText('8 CPUs, linux ↔ 1 CPU, linux').waitFor();
    // The whole run was shown: of both, now.
    await panel.untilView(0, onOneCpu);
    await panel.press('+');
    await panel.untilView(0, onOneCpu / 1.5);
    await panel.press('0');
    await panel.untilView(0, onOneCpu);
    // Where the upper run has ended, the lower one goes on.
    // The overview is as long: a click in the middle of it goes to the middle of the longer run.
    await panel.press('+', '+');
    await panel.untilLength(onOneCpu / 1.5 ** 2);
    const middle = await panel.at((await panel.length()) / 2, 10);
    await workbench.page.mouse.click(middle.x, middle.y);
    const half = onOneCpu / 1.5 ** 2 / 2;
    await panel.untilView(onOneCpu / 2 - half, onOneCpu / 2 + half, 4 * ms);
    await panel.press('0');
    await panel.untilView(0, onOneCpu);
    const row = await panel.rowOf('consumer', 'lowerRows');
    const { x } = await panel.at(900 * ms, 0);
    await workbench.page.mouse.click(x, row);
    await selected(/^1 CPU, linux: /).waitFor();
    // The table is of both, too.
    await panel.press('Escape', 't');
    await panel.page.getByRole('table', { name: /^8 CPUs, linux: Threads from 0 / }).waitFor();
    const lower = panel.page.getByRole('table', { name: /^1 CPU, linux: Threads from 0 / });
    const producer = lower.getByRole('row', { name: /^producer 2 / });
    await producer.focus();
    await workbench.page.keyboard.press('Enter');
    await selected(/^1 CPU, linux: post a semaphore: /).waitFor();
    // What it does in each of them is told below, and the row is still where the keys are.
    const calls = (run: string): Locator => panel.page.getByRole('table', { name: new RegExp(`^${run}, linux: What producer 2 does `) });
    await calls('8 CPUs').getByRole('row', { name: / 250 ms post a semaphore / }).waitFor();
    await calls('1 CPU').getByRole('row', { name: / post a semaphore / }).waitFor();
    await eventually(async () => producer.evaluate((row) => row === document.activeElement), () => 'the focus on the row');
    await workbench.screenshot('timeline tables of two runs');
    // A row of the lower run's calls selects there, and the same call above.
    await calls('1 CPU').getByRole('row', { name: / post a semaphore / }).click();
    await selected(/^8 CPUs, linux: post a semaphore: /).waitFor();
    await panel.page.locator('#table').press('t');
    await panel.press('Escape');
    await endComparison();
    await panel.press('0');
    await panel.untilView(0, usual);
  });

  void test('a key that is pressed before there is a run moves nothing', async () => {
    await panel.press('v');
    await compareWith('1 CPU');
    await panel.untilView(0, onOneCpu);
    // The title says that there are other runs, which are still asked for.
    await panel.canvas.evaluate((canvas) => {
      const press = (key: string): boolean => canvas.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      new MutationObserver((_changes, observer) => {
        observer.disconnect();
        ['w', 'd', '0'].forEach(press);
        canvas.dataset['pressed'] = 'true';
      }).observe(canvas.ownerDocument.getElementById('title') as HTMLElement, { childList: true });
    });
    await endComparison();
    await eventually(async () => (await panel.attribute('pressed')) === 'true', () => 'the keys to be pressed');
    await panel.untilView(0, usual);
  });

  void test('a machine with bindings and without, the selected event in both', async () => {
    await workbench.runCommand('Longpole: Set Machine');
    await workbench.untilAsked('Longpole: Machine');
    await workbench.choose('Priorities and bindings of threads…');
    await workbench.untilAsked('Longpole: Thread');
    await workbench.choose('consumer');
    await workbench.answer('Longpole: CPU of consumer', '1');
    await workbench.answer('Longpole: Priority of consumer', '');
    await workbench.untilAsked('Longpole: Machine');
    await workbench.page.keyboard.press('Escape');
    await panel.press('0');
    await panel.untilView(0, bound);
    await panel.press('v');
    await compareWith('no thread bound');
    await panel.page.getByText('8 CPUs, linux ↔ 8 CPUs, linux, no thread bound').waitFor();
    await panel.untilView(0, bound);
    const wait = await panel.spot(400 * ms, 'consumer');
    await workbench.page.mouse.click(wait.x, wait.y);
    // The same call: here it waits, there it finds what it takes.
    await selected('8 CPUs, linux: wait for a semaphore: items').waitFor();
    await selected('8 CPUs, linux, no thread bound: wait for a semaphore: items').waitFor();
    await panel.details.getByText(/^350 ms → 450 ms \(100 ms\) on CPU 1$/).waitFor();
    await panel.details.getByText(/^350 ms on CPU 1$/).waitFor();
    // So do the keys: the next call, in both.
    await panel.press('.');
    await panel.details.getByText(/^550 ms → 650 ms \(100 ms\) on CPU 1$/).waitFor();
    await panel.details.getByText(/^450 ms on CPU 1$/).waitFor();
    await endComparison();
  });
});
