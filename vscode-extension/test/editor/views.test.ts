// The side bar's rankings, the what-if panel and the machine's parameters, with the fake daemon's small program.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { fakeSettings } from './fakes';
import { eventually } from './eventually';
import { Workbench } from './workbench';

const themes = {
  dark: ['Default Dark Modern', 'vs-dark'],
  light: ['Default Light Modern', 'vs'],
  'high-contrast': ['Default High Contrast', 'hc-black'],
} as const;

void describe('views', () => {
  let workbench: Workbench;

  const pane = (name: string): Locator => workbench.page.locator(`.pane:has(> .pane-header[aria-label^="${name} "])`);
  const row = (view: string, text: string): Locator => pane(view).locator('.monaco-list-row', { hasText: text });
  /** The words of a row, which is written anew when other numbers are known. */
  const untilWords = async (locator: Locator, wanted: RegExp): Promise<void> => {
    let found = '';
    await eventually(
      async () => {
        found = (await locator.innerText()).replace(/\s+/g, ' ').trim();
        return wanted.test(found);
      },
      () => `${String(wanted)}; it is ${found}`,
    );
  };
  /** Unfolds one view and folds the others, so that its rows can be seen. */
  const open = async (name: string): Promise<void> => {
    for (const other of ['Functions', 'Locks', 'Threads', 'Top Down', 'Recordings']) {
      const header = pane(other).locator('.pane-header');
      const wanted = other === name ? 'true' : 'false';
      await eventually(
        async () => {
          if ((await header.getAttribute('aria-expanded')) !== wanted) {
            await header.locator('.title').click();
          }
          return (await header.getAttribute('aria-expanded')) === wanted;
        },
        () => `${other} ${wanted === 'true' ? 'unfolded' : 'folded'}`,
      );
    }
  };
  const closePanel = async (): Promise<void> => {
    await workbench.runCommand('View: Close All Editors');
    await workbench.page.locator('.tab', { hasText: 'What If' }).waitFor({ state: 'detached' });
    await workbench.openFile('pipeline.c');
  };
  const untilLine = (line: number): Promise<void> =>
    eventually(async () => (await workbench.page.getByText(`Ln ${line}, Col 1`).count()) > 0, () => `line ${line}`);
  const inAllThemes = async (name: string): Promise<void> => {
    for (const [kind, [theme, name_]] of Object.entries(themes).reverse()) {
      workbench.server.settings = { ...fakeSettings('usual'), 'workbench.colorTheme': theme };
      await workbench.page.locator(`.monaco-workbench.${name_}`).waitFor();
      await workbench.screenshot(`${name}-${kind}`);
    }
  };
  /** Every row says in words what it shows, and its bar to nobody. */
  const spoken = async (view: string): Promise<string[]> => {
    const labels = await pane(view).locator('.monaco-list-row').evaluateAll((rows) => rows.map((one) => one.getAttribute('aria-label') ?? ''));
    labels.forEach((label) => assert.ok(label !== '' && !/[━╸]/.test(label), label));
    return labels;
  };

  before(async () => {
    workbench = await Workbench.start({ folder: 'test/editor/fixture', settings: fakeSettings('usual') });
    await workbench.openRecording('run.lptrace');
    await workbench.untilStatus('8 CPUs · 1.6×');
    await workbench.openFile('pipeline.c');
    await workbench.page.locator('.activitybar .action-item', { has: workbench.page.locator('[aria-label="Longpole"]') }).click();
    await pane('Functions').waitFor();
  });
  after(() => workbench.stop());
  beforeEach(async () => {
    if (await workbench.quickInput.isVisible()) {
      await workbench.page.keyboard.press('Escape');
    }
  });
  afterEach((context) => workbench.screenshot(context.name));

  void test('locks are ranked by what it would bring if nobody waited; a row leads to where most is waited', async () => {
    await open('Locks');
    await row('Locks', 'items').waitFor();
    await untilWords(row('Locks', 'items').first(), /^−25% items ?4\.10 s waited/);
    await untilWords(row('Locks', 'buffer').first(), /^buffer ?10\.0 ms waited/);
    await row('Locks', 'items').first().click();
    await untilLine(10);
    await row('Locks', 'items').first().locator('.monaco-tl-twistie').click();
    await row('Locks', 'consumer ← producer 1').waitFor();
    await row('Locks', 'produce pipeline.c:5').first().click();
    await untilLine(5);
    const labels = await spoken('Locks');
    assert.ok(labels.some((label) => label.startsWith('semaphore items: 25% less if nobody waited')), labels.join('\n'));
    await inAllThemes('locks');
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked('Longpole: Set CPU Count');
    await workbench.quickInput.fill('2 CPUs');
    await workbench.page.keyboard.press('Enter');
    await pane('Locks').getByText('at 2 CPUs').waitFor();
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked('Longpole: Set CPU Count');
    await workbench.quickInput.fill('8 CPUs');
    await workbench.page.keyboard.press('Enter');
    await pane('Locks').getByText('at 8 CPUs').waitFor();
  });

  void test('threads lead to where they were created, and into the timeline', async () => {
    await open('Threads');
    await row('Threads', 'consumer').waitFor();
    await untilWords(row('Threads', 'consumer'), /^consumer ?30% ━━╸? consume/);
    await row('Threads', '3 more are not listed').waitFor();
    await row('Threads', 'consumer').click();
    await untilLine(15);
    assert.ok((await spoken('Threads')).includes('thread producer 2: not on the path'));
    await inAllThemes('threads');
    await workbench.rowAction(row('Threads', 'consumer'), 'graph');
    const timeline = workbench.webview();
    await timeline.locator('aside h2').first().waitFor();
    await timeline.locator('aside').getByText('consumer, started with consume').waitFor();
    await workbench.page.getByRole('button', { name: /Hide Panel/ }).first().click();
    await workbench.page.locator('.part.panel').waitFor({ state: 'hidden' });
  });

  void test('functions, locks and threads in one ranking open from the program down', async () => {
    await open('Top Down');
    const program = row('Top Down', 'the whole program').first();
    await program.waitFor();
    await row('Top Down', 'produce').first().waitFor();
    await untilWords(row('Top Down', 'produce').first(), /^produce ?70% ━+╸? 2 calls/);
    await row('Top Down', 'consumer').first().locator('.monaco-tl-twistie').click();
    await row('Top Down', 'consume').nth(1).waitFor();
    await spoken('Top Down');
    await inAllThemes('top-down');
    await row('Top Down', 'produce').first().click();
    await untilLine(3);
  });

  void test('only some threads: said wherever a number is, kept for other recordings, and taken back', async () => {
    const { page } = workbench;
    const untilText = (line: number, text: string): Promise<unknown> =>
      workbench.untilAnnotations((found) => found.get(line)?.text === text, text);
    await workbench.openFile('pipeline.c');
    await workbench.runCommand('Longpole: Show Only Some Threads');
    await workbench.untilAsked('Longpole: Show Only Some Threads');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'all that run produce' }).click();
    await inAllThemes('thread picker');
    await page.keyboard.press('Enter');
    await untilText(5, '80%  · in 2 threads alone');
    await untilText(8, 'not on the critical path at 8 CPUs in 2 threads');
    await workbench.untilStatus('8 CPUs · 1.6× · 2 of 4 threads');
    await workbench.tooltip(workbench.statusItem, 'the part of 2 of 4 threads: all that run produce');
    await inAllThemes('tooltip of some threads');
    await page.mouse.move(5, 400);
    const hover = await workbench.hover(5, 'seed');
    await hover.getByText('The part of 2 of 4 threads: all that run produce alone.').waitFor();
    await page.mouse.move(5, 400);
    await open('Locks');
    await pane('Locks').getByText('Of all threads, whichever annotations show.').waitFor();
    await open('Threads');
    await pane('Threads').getByText('Annotations show the part of 2 of 4 threads: all that run produce.').waitFor();
    await pane('Threads').locator('[aria-label="thread producer 2: not on the path, shown"]').waitFor();
    await spoken('Threads');
    await inAllThemes('threads of which some are shown');
    await workbench.rowAction(row('Threads', 'producer 2'), 'filter');
    await untilText(5, '20%  · in 1 thread alone');
    await workbench.untilStatus('8 CPUs · 1.6× · 1 of 4 threads');
    await open('Functions');
    await pane('Functions').getByText('at 8 CPUs, 1 of 4 threads').waitFor();
    await untilWords(row('Functions', 'produce').first(), /^produce ?20% /);
    // In force in the next window, for another CPU count, and for the next recording as long as that has such a thread.
    await page.reload();
    await page.locator('.monaco-workbench').waitFor();
    await workbench.openFile('pipeline.c');
    await untilText(5, '20%  · in 1 thread alone');
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.answer('Longpole: Program to Record', './pipeline --short');
    await workbench.toast('pipeline would take 1.25 s on 8 CPUs').waitFor();
    await workbench.untilStatus('8 CPUs · 1.6× · 1 of 4 threads');
    await workbench.recordAnother('./pipeline --short --one-producer');
    await workbench.toast('this recording has no thread of those to be shown (producer 2). It shows all threads.').waitFor();
    await workbench.untilStatus('8 CPUs · 1.6×');
    await untilText(5, '80%  · 10% faster → 8.0% overall');
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.runCommand('Longpole: Show Only Some Threads');
    await workbench.untilAsked('Longpole: Show Only Some Threads');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'consumer' }).click();
    await page.keyboard.press('Enter');
    await untilText(10, '20%  · in 1 thread alone');
    await workbench.runCommand('Longpole: Show All Threads');
    await untilText(5, '80%  · 10% faster → 8.0% overall');
    await workbench.untilStatus('8 CPUs · 1.6×');
  });

  void test('what if a function were faster: by slider and by key, kept for annotations and taken back', async () => {
    const { page } = workbench;
    await open('Functions');
    await workbench.rowAction(row('Functions', 'produce').first(), 'beaker');
    const panel = workbench.webview();
    const slider = panel.getByRole('slider', { name: 'How much of its time produce saves' });
    await slider.waitFor();
    await panel.getByText('24% less time at 8 CPUs: 1.25 s → 950 ms').waitFor();
    await panel.getByRole('row', { name: /^Show 8 CPUs 1\.25 s 950 ms −24% 1\.6× 2\.1×$/ }).waitFor();
    await slider.focus();
    for (let press = 0; press < 10; press++) {
      await page.keyboard.press('ArrowRight');
    }
    await panel.getByText('32% less time at 8 CPUs: 1.25 s → 850 ms').waitFor();
    assert.equal(await slider.getAttribute('aria-valuetext'), '40% of its time saved');
    await panel.getByRole('button', { name: 'Add a Change…' }).click();
    await workbench.untilAsked('Longpole: What If');
    await workbench.quickInput.fill('nobody waits for items');
    await page.keyboard.press('Enter');
    await panel.getByText('44% less time at 8 CPUs: 1.25 s → 700 ms').waitFor();
    await inAllThemes('what-if');
    const box = await slider.boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 1, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    await panel.getByText('80% less time at 8 CPUs: 1.25 s → 250 ms').waitFor();
    await slider.focus();
    await page.keyboard.press('Home');
    for (let press = 0; press < 4; press++) {
      await page.keyboard.press('PageUp');
    }
    await panel.getByText('44% less time at 8 CPUs: 1.25 s → 700 ms').waitFor();
    await panel.getByRole('button', { name: 'Show in the Editor' }).click();
    await panel.getByText('The editor shows the program as if: produce 40% faster, nobody waits for items. Its speed-ups there are against itself on one CPU.').waitFor();
    // Of the same 700 ms it says another speed-up than the panel, which compares with the recorded program.
    await workbench.untilStatus('8 CPUs · 2.1× · what if');
    await panel.getByRole('row', { name: /^Show 8 CPUs 1\.25 s 700 ms −44% 1\.6× 2\.9×$/ }).waitFor();
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('64%') ?? false, '64% of the changed program');
    await panel.getByRole('button', { name: 'Remove items' }).click();
    await panel.getByText('32% less time at 8 CPUs: 1.25 s → 850 ms').waitFor();
    await panel.getByRole('button', { name: 'Take Back' }).click();
    await workbench.untilStatus('8 CPUs · 1.6×');
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('80%') ?? false, '80% again');
    await closePanel();
  });

  void test("a hover on a lock's name says who waits for it and what the program would gain", async () => {
    const { page } = workbench;
    const path = join(workbench.folder, 'pipeline.c');
    const recorded = readFileSync(path, 'utf8');
    // A line more does no harm: the lock is declared where the program was not recorded at all.
    writeFileSync(path, `${recorded}static sem_t items;\nstruct { pthread_mutex_t sum; } all;\n`);
    await workbench.openFile('pipeline.c');
    await workbench.revertFile();
    const hover = await workbench.hover(17, 'items');
    await hover.getByText('Threads wait 4.10 s for it, in 311 of 1,204 calls.').waitFor();
    await hover.getByText('If nobody did, the program would take 25% less at 8 CPUs.').waitFor();
    await hover.getByText('consumer waits 4.00 s for producer 1, 300×').waitFor();
    await inAllThemes('hover on a lock');
    await hover.getByText('consume  pipeline.c:10').or(hover.getByText('consume pipeline.c:10')).click();
    await untilLine(10);
    await page.mouse.move(5, 400);
    // A member has no name in the recording: the lines tell that use it.
    const member = await workbench.hover(18, 'sum');
    await member.getByText('heap.c:7').waitFor();
    await member.getByText('What if nobody waited?').click();
    await workbench.webview().getByText('heap.c:7').first().waitFor();
    await closePanel();
    writeFileSync(path, recorded);
    await workbench.revertFile();
  });

  void test('a hover leads to the what-if, too', async () => {
    await workbench.openFile('pipeline.c');
    await workbench.goToLine(8);
    const hover = await workbench.hover(8, 'consume');
    await hover.getByText(/waits 4\.1\d? s for items/).waitFor();
    await hover.getByText('What if it were faster?').click();
    await workbench.webview().getByRole('slider', { name: 'How much of its time consume saves' }).waitFor();
    assert.equal(await workbench.webview().getByRole('slider').count(), 1, 'the question of before is another one');
    assert.equal(await workbench.webview().getByRole('button', { name: /^Remove/ }).count(), 1);
    await closePanel();
  });

  void test('a binding of threads to CPUs is searched, and simulated; Cancel keeps the best so far', async () => {
    const { page } = workbench;
    const search = async (effort: string): Promise<void> => {
      await workbench.runCommand('Longpole: Find a Binding');
      await workbench.untilAsked('Longpole: Find a Binding for 8 CPUs');
      await page.locator('.quick-input-list .monaco-list-row', { hasText: effort }).click();
    };
    await workbench.openFile('pipeline.c');
    await search('quick');
    const found = workbench.toast(
      'the best of 100 bindings to 8 CPUs takes 1.00 s (greedy), −20% against unbound threads (1.25 s). ' +
        'It takes up to 1.01 s where CPUs are slightly slower, switches and wake-ups take longer, or ticks come at other times. A better one exists',
    );
    await found.getByRole('button', { name: 'Simulate So' }).click();
    await workbench.untilAnnotations((shown) => shown.get(5)?.text.startsWith('44%') ?? false, '44% as bound');
    await workbench.runCommand('Longpole: Show Timeline');
    const canvas = workbench.webview().locator('#canvas');
    await eventually(async () => Number(await canvas.getAttribute('data-bound')) === 1.25e9 / 4, () => 'the bound in the timeline');
    await workbench.screenshot('timeline bound');
    await page.getByRole('button', { name: /Hide Panel/ }).first().click();
    await search('thorough');
    const progress = workbench.toast('7 tried, now by guided; the best takes 1.10 s');
    await progress.waitFor();
    await progress.getByText('Cancel', { exact: true }).click();
    await workbench.toast('the search was ended; the best of 7 bindings to 8 CPUs takes 1.10 s.').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.runCommand('Longpole: Set Machine');
    await workbench.untilAsked('Longpole: Machine');
    await workbench.choose('As usual again');
    await workbench.untilAsked('Longpole: Machine');
    await page.keyboard.press('Escape');
    await workbench.untilAnnotations((shown) => shown.get(5)?.text.startsWith('80%') ?? false, '80% again');
  });

  void test('the machine behind the status bar: each parameter with its value, checked, remembered, and followed', async () => {
    const { page } = workbench;
    // As it is written: the row of another parameter may speak of this one.
    const item = (text: string): Locator => page.locator('.quick-input-list .monaco-list-row', { hasText: new RegExp(text) });
    await workbench.openFile('pipeline.c');
    await workbench.statusItem.click();
    await workbench.untilAsked('Longpole: Set CPU Count');
    await item('Machine…').click();
    await workbench.untilAsked('Longpole: Machine');
    await item('Scheduler').getByText('shared; linux in the timeline').waitFor();
    await inAllThemes('machine');
    await item('Latency between CPUs').click();
    await workbench.untilAsked('Longpole: Latency Between CPUs');
    await workbench.quickInput.fill('fast');
    await page.getByText('A time with its unit').waitFor();
    await workbench.answer('Longpole: Latency Between CPUs', '1250 ms');
    // The list comes back with the new value, and the annotations have followed: a second machine's worth of time is consume's.
    await workbench.untilAsked('Longpole: Machine');
    await item('Latency between CPUs').getByText('1.25 s').waitFor();
    await item('Scheduler').getByText('linux').waitFor();
    await page.keyboard.press('Escape');
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('40%') ?? false, '40% on the slow machine');
    await workbench.untilStatus('8 CPUs · 1.3× · linux');
    // What ranks without that machine says so; what follows it names it.
    await open('Locks');
    await pane('Locks').getByText('This list is of a simulation in which threads share the CPUs evenly: it does not follow the chosen machine (linux, latency 1.25 s).').waitFor();
    await inAllThemes('locks on a machine');
    await open('Functions');
    await pane('Functions').getByText('at 8 CPUs, linux, latency 1.25 s').waitFor();
    await workbench.runCommand('Longpole: Set Machine');
    await workbench.untilAsked('Longpole: Machine');
    await workbench.choose('Priorities and bindings of threads…');
    await workbench.untilAsked('Longpole: Thread');
    await item('consumer').click();
    await workbench.answer('Longpole: CPU of consumer', '1');
    await workbench.answer('Longpole: Priority of consumer', '');
    await workbench.untilAsked('Longpole: Machine');
    await workbench.quickInput.fill('Priorities');
    await item('Priorities and bindings of threads…').getByText('1 changed').waitFor();
    await page.keyboard.press('Escape');
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('29%') ?? false, '29% with the binding');
    // The next window knows it.
    await page.reload();
    await page.locator('.monaco-workbench').waitFor();
    await workbench.openFile('pipeline.c');
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('29%') ?? false, '29% after a reload');
    await workbench.runCommand('Longpole: Set Machine');
    await workbench.untilAsked('Longpole: Machine');
    await workbench.choose('As usual again');
    await workbench.untilAsked('Longpole: Machine');
    await item('Latency between CPUs').getByText('as on the machine that recorded').waitFor();
    await page.keyboard.press('Escape');
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('80%') ?? false, '80% on the usual machine');
    await workbench.untilStatus('8 CPUs · 1.6×');
    await open('Locks');
    await pane('Locks').getByText('This list is of').waitFor({ state: 'detached' });
  });
});
