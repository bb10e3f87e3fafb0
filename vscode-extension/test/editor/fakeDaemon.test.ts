// What the user sees when things are not as usual, and what needs no real recording: with a daemon that does as it is told.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { fakeSettings } from './fakes';
import { eventually } from './eventually';
import { Workbench, type Annotation } from './workbench';

async function start(more: { trusted?: boolean } = {}): Promise<Workbench> {
  return Workbench.start({ folder: 'test/editor/fixture', settings: fakeSettings('usual'), ...more });
}

const programTitle = 'Longpole: Program to Record';
const cpusTitle = 'Longpole: Set CPU Count';

/** The fixture's file as it was recorded. */
const recorded = readFileSync('test/editor/fixture/pipeline.c', 'utf8');

const texts = (annotations: Map<number, Annotation>): Record<number, string> =>
  Object.fromEntries([...annotations].map(([line, { text }]) => [line, text]));

/** Text and bar: they are not painted at once. */
const isWhole = (annotation: Annotation | undefined): boolean => annotation !== undefined && annotation.text !== '' && annotation.barWidth > 0;

async function record(workbench: Workbench, command = './pipeline --short'): Promise<void> {
  await workbench.runCommand('Longpole: Record and Simulate');
  await workbench.answer(programTitle, command);
}

void describe('with a daemon that works', () => {
  let workbench: Workbench;
  before(async () => {
    workbench = await start();
    await workbench.openFile('pipeline.c');
  });
  after(() => workbench.stop());
  // What a failed test left half done is no failure of those that follow it.
  beforeEach(async () => {
    if (await workbench.quickInput.isVisible()) {
      await workbench.page.keyboard.press('Escape');
    }
    const path = join(workbench.folder, 'pipeline.c');
    const dirty = (await workbench.page.locator('.tab.dirty').count()) > 0;
    if (dirty || readFileSync(path, 'utf8') !== recorded) {
      writeFileSync(path, recorded);
      await workbench.openFile('pipeline.c');
      await workbench.revertFile();
    }
  });
  afterEach(async (context) => {
    await workbench.screenshot(context.name);
  });

  const edited = async (edit: () => Promise<void>, wanted: Record<number, string>): Promise<void> => {
    await edit();
    await workbench.untilAnnotations(
      (annotations) => JSON.stringify(texts(annotations)) === JSON.stringify(wanted),
      JSON.stringify(wanted),
    );
  };

  void test('before the first recording the status bar offers it', async () => {
    await workbench.untilStatus('Longpole');
  });

  void test('cancel stops the program, keeps what was recorded and says so', async () => {
    await record(workbench, "./pipeline 'two words'");
    const progress = workbench.toast('Longpole: pipeline');
    await progress.waitFor();
    await workbench.page.locator('.terminal-wrapper.active .xterm').waitFor();
    await progress.getByText('recording, 10 records').waitFor();
    await workbench.untilStatus(/^ ?pipeline 0:0\d$/);
    await workbench.screenshot('recording');
    await progress.getByText('Cancel', { exact: true }).click();
    await workbench.toast('was stopped. What it did until then is kept: 12,345 events.').waitFor();
    await workbench.untilAnnotations((annotations) => annotations.get(5)?.text.startsWith('80%') ?? false, '80% on line 5');
  });

  void test('what was recorded before is offered again, can be changed, and is one key away', async () => {
    await workbench.runCommand('Longpole: Choose What to Record');
    await workbench.untilAsked('Longpole: What to Record');
    const row = workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: "./pipeline 'two words'" });
    await workbench.rowAction(row, 'edit');
    await workbench.untilAsked(programTitle);
    await eventually(async () => (await workbench.quickInput.inputValue()) === "./pipeline 'two words'", () => 'the command that was recorded');
    await workbench.answer(programTitle, './pipeline --short');
    await workbench.runCommand('Longpole: Clear');
    await workbench.untilAnnotations((annotations) => annotations.size === 0, 'no annotations');
    await workbench.page.keyboard.press('Control+K');
    await workbench.page.keyboard.press('Control+Alt+R');
    await workbench.untilAnnotations((annotations) => annotations.has(5), 'annotations again');
  });

  void test('the picker shows each count while one moves through it, and goes back on Escape', async () => {
    await workbench.untilStatus('8 CPUs · 1.6×');
    await workbench.statusItem.click();
    const row = (text: string): ReturnType<typeof workbench.page.locator> =>
      workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: text });
    await row('16 CPUs').waitFor();
    for (const text of ['1 CPU', '2 CPUs', '4 CPUs', '8 CPUs', '16 CPUs', '32 CPUs', '64 CPUs', 'Other number…']) {
      await row(text).first().waitFor();
    }
    await workbench.page.keyboard.press('ArrowUp');
    await workbench.page.keyboard.press('ArrowUp');
    await workbench.untilAnnotations((annotations) => annotations.get(5)?.text.startsWith('67%') ?? false, '67% at 2 CPUs');
    await workbench.untilStatus('2 CPUs · 1.3×');
    await workbench.page.keyboard.press('Escape');
    await workbench.untilAnnotations((annotations) => annotations.get(5)?.text.startsWith('80%') ?? false, '80% again');
    await workbench.untilStatus('8 CPUs · 1.6×');
  });

  void test('any number can be typed', async () => {
    await workbench.statusItem.click();
    await workbench.untilAsked(cpusTitle);
    await workbench.quickInput.fill('many');
    await workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'A whole number from 1 to 65,536.' }).waitFor();
    await workbench.quickInput.fill('Other');
    await workbench.page.keyboard.press('Enter');
    await eventually(async () => (await workbench.quickInput.inputValue()) === '8', () => 'the input box');
    await workbench.quickInput.fill('0');
    await workbench.page.getByText('A whole number from 1 to 65,536.').waitFor();
    await workbench.answer(cpusTitle, '3');
    await workbench.untilStatus('3 CPUs · 1.5×');
    const told = (): Promise<string> => workbench.statusItem.getByRole('button').getAttribute('aria-label').then((label) => label ?? '');
    assert.match(await told(), /3 CPUs · 1\.5×$/);
    // Where it would be much slower on a machine as it is, there is a sign, and words for whoever asks.
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked(cpusTitle);
    await workbench.quickInput.fill('Other');
    await workbench.page.keyboard.press('Enter');
    await eventually(async () => (await workbench.quickInput.inputValue()) === '3', () => 'the input box');
    await workbench.answer(cpusTitle, '11');
    await workbench.untilStatus('11 CPUs · 1.6×');
    await eventually(async () => / by the scheduler linux, it is [\d.]+ m?s at 11 CPUs, /.test(await told()), () => 'what a machine would take');
    await workbench.statusItem.locator('.codicon-info').waitFor();
    // Whoever records hears it at once.
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.toast('pipeline would take 1.25 s on 11 CPUs, 1.6× as fast as on one. With what wake-ups and switches take: 2.50 s, 0.8×. Hottest: produce, ').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked(cpusTitle);
    await workbench.quickInput.fill('8 CPUs');
    await workbench.page.keyboard.press('Enter');
    await workbench.untilStatus('8 CPUs · 1.6×');
  });

  void test('toggling hides and shows', async () => {
    await workbench.runCommand('Longpole: Toggle Annotations');
    await workbench.untilAnnotations((annotations) => annotations.size === 0, 'no annotations');
    await workbench.runCommand('Longpole: Toggle Annotations');
    await workbench.untilAnnotations((annotations) => annotations.size === 2, 'annotations');
  });

  void test('bars are as long as shares are large', async () => {
    await workbench.untilAnnotations((found) => {
      const [large, small] = [found.get(5)?.barWidth ?? 0, found.get(10)?.barWidth ?? 0];
      return small > 0 && Math.abs(large / small - 0.8 / 0.2) < 0.2;
    }, 'a bar on line 5 that is four times as long as that on line 10');
  });

  void test('edits move lines, touch lines, dim the rest; undo brings all back', async () => {
    const { page } = workbench;
    const before = await workbench.untilAnnotations((found) => isWhole(found.get(5)) && isWhole(found.get(10)), 'both lines');
    const [first, second] = [before.get(5), before.get(10)];
    assert.ok(first && second);
    await workbench.goToLine(1);
    await edited(() => page.keyboard.insertText('// new\n'), { 6: first.text, 11: second.text });
    await workbench.untilAnnotations((annotations) => annotations.get(6)?.colour !== first.colour, 'dimmed text');
    await workbench.untilStatus('8 CPUs · 1.6× · stale');
    await workbench.goToLine(11);
    await page.keyboard.press('End');
    await edited(() => page.keyboard.insertText(' '), { 6: first.text });
    for (let count = 0; count < 4; count++) {
      await page.keyboard.press('Control+Z');
    }
    await workbench.untilDirty(false);
    await workbench.untilSameAnnotations(before);
    await workbench.untilStatus('8 CPUs · 1.6×');
  });

  void test('the gutter is marked along the function, unless that is not wanted', async () => {
    const marks = workbench.page.locator('.glyph-margin-widgets .cgmr[class*="ced-"]');
    await eventually(async () => (await marks.count()) === 10, () => 'ten marks: five lines of each function, its bracket the last');
    const images = (): Promise<string> => marks.evaluateAll((all) => all.map((mark) => getComputedStyle(mark).backgroundImage).join('\n'));
    for (const [theme, name, colour] of [
      ['Default Dark Modern', 'vs-dark', 'rgb(255, 185, 60)'],
      ['Default Light Modern', 'vs', 'rgb(110, 65, 4)'],
      ['Default High Contrast Light', 'hc-light', 'rgb(91, 26, 0)'],
      ['Default High Contrast', 'hc-black', 'rgb(255, 205, 71)'],
    ] as const) {
      workbench.server.settings = { ...fakeSettings('usual'), 'workbench.colorTheme': theme };
      await workbench.page.locator(`.monaco-workbench.${name}`).waitFor();
      await eventually(async () => (await images()).includes(colour), () => `${colour} in the gutter of ${theme}`);
      await workbench.screenshot(`gutter-${name}`);
    }
    // A theme has its say.
    workbench.server.settings = {
      ...fakeSettings('usual'),
      'workbench.colorCustomizations': { 'longpole.gutter8': '#ff00ff' },
    };
    await eventually(async () => (await images()).includes('rgb(255, 0, 255)'), () => 'the colour of the settings');
    workbench.server.settings = { ...fakeSettings('usual'), 'longpole.annotations.gutter': false };
    await eventually(async () => (await marks.count()) === 0, () => 'no marks');
    workbench.server.settings = fakeSettings('usual');
  });

  void test('a change repaints all editors that can be seen', async () => {
    await workbench.page.locator('.view-lines').first().click();
    await workbench.page.keyboard.press('Control+\\');
    const both = async (share: string): Promise<void> => {
      for (const editor of [0, 1]) {
        const what = `${share} in editor ${editor}`;
        await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith(share) ?? false, what, editor);
      }
    };
    await both('80%');
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked(cpusTitle);
    await workbench.quickInput.fill('2 CPUs');
    await both('67%');
    await workbench.page.keyboard.press('Escape');
    await both('80%');
    await workbench.runCommand('View: Join All Editor Groups');
    await eventually(async () => (await workbench.page.locator('.editor-instance').count()) === 1, () => 'one editor');
  });

  void test('text for the active line only, in a palette of another name', async () => {
    workbench.server.settings = {
      ...fakeSettings('usual'),
      'longpole.annotations.lines': 'activeLine',
      'longpole.annotations.palette': 'viridis',
    };
    await workbench.goToLine(5);
    await workbench.untilAnnotations((found) => {
      const [active, other] = [found.get(5), found.get(10)];
      return isWhole(active) && active?.text.startsWith('80%') === true && active.colour === 'rgb(74, 20, 106)' && other?.text === '' && other.barWidth > 0;
    }, "text on line 5 alone, in viridis' colour, and the bar of line 10");
    await workbench.goToLine(10);
    await workbench.untilAnnotations((annotations) => annotations.get(10)?.text === '20%', 'text on line 10');
    workbench.server.settings = fakeSettings('usual');
    await workbench.untilAnnotations((annotations) => annotations.get(5)?.text.startsWith('80%') ?? false, 'all lines again');
  });

  void test('a comparison shows no annotations on either side', async () => {
    await workbench.goToLine(3);
    await workbench.page.keyboard.press('Control+\\');
    await eventually(async () => (await workbench.page.locator('.editor-instance').count()) === 2, () => 'two editors');
    await workbench.page.keyboard.insertText(' ');
    await workbench.untilDirty(true);
    await workbench.runCommand('File: Compare Active File with Saved');
    await workbench.page.locator('.monaco-diff-editor .view-line').first().waitFor();
    // All editors are painted together: once the other one shows another CPU count, the comparison has been painted too.
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked(cpusTitle);
    await workbench.quickInput.fill('2 CPUs');
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('67%') ?? false, '67% beside it');
    const marks = workbench.page.locator('.monaco-diff-editor .view-line span[class*="ced-"]');
    const shown = await marks.evaluateAll((spans) => spans.map((span) => getComputedStyle(span, '::after').content));
    assert.deepEqual(shown.filter((text) => text.includes('%')), []);
    await workbench.page.keyboard.press('Escape');
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('80%') ?? false, '80% again');
    await workbench.runCommand('View: Join All Editor Groups');
    await workbench.openFile('pipeline.c');
    await workbench.revertFile();
    await workbench.runCommand('View: Close All Editors');
    await workbench.openFile('pipeline.c');
    await workbench.untilAnnotations((annotations) => annotations.get(5)?.text.startsWith('80%') ?? false, 'line 5 again');
  });

  void test('a later version of the file is compared with the recorded one', async () => {
    const path = join(workbench.folder, 'pipeline.c');
    await workbench.openFile('pipeline.c');
    await workbench.untilDirty(false);
    const shown = await workbench.untilAnnotations((found) => isWhole(found.get(5)) && isWhole(found.get(10)), 'both lines');
    // Read again by hand: whether the editor's watcher sees each write is not in question here.
    writeFileSync(path, `// later\n${recorded.replace('return', 'return 0 +')}`);
    await workbench.revertFile();
    await workbench.untilAnnotations((found) => found.get(6)?.text.startsWith('80%') ?? false, 'line 5 on line 6');
    await workbench.untilStatus('8 CPUs · 1.6× · stale');
    writeFileSync(path, recorded);
    await workbench.revertFile();
    await workbench.untilSameAnnotations(shown);
    await workbench.untilStatus('8 CPUs · 1.6×');
  });

  void test('a configuration of launch.json is recorded, with its variables and after its task', async () => {
    const folder = join(workbench.folder, '.vscode');
    mkdirSync(folder, { recursive: true });
    const build = { type: 'shell', label: 'build', command: 'echo yes > built', problemMatcher: [] };
    writeFileSync(join(folder, 'tasks.json'), JSON.stringify({ version: '2.0.0', tasks: [build] }));
    const configuration = {
      type: 'lldb',
      request: 'launch',
      name: 'short run',
      program: '${workspaceFolder}/pipeline',
      args: ['--short', '${fileBasename}'],
      preLaunchTask: 'build',
    };
    writeFileSync(join(folder, 'launch.json'), JSON.stringify({ version: '0.2.0', configurations: [configuration] }));
    const row = workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'short run' });
    await eventually(
      async () => {
        await workbench.runCommand('Longpole: Record Another Program');
        await workbench.untilAsked('Longpole: What to Record');
        const there = (await row.count()) > 0;
        if (!there) {
          await workbench.page.keyboard.press('Escape');
        }
        return there;
      },
      () => 'the configuration in the list',
    );
    await workbench.screenshot('targets');
    await row.click();
    const printed = workbench.page.locator('.terminal-wrapper.active .xterm-rows');
    await eventually(
      async () => (await printed.innerText()).replace(/\s/g, '').includes('pipeline|--short|pipeline.cinaterminal'),
      () => 'the program in the terminal',
    );
    assert.equal(readFileSync(join(workbench.folder, 'built'), 'utf8'), 'yes\n');
    await workbench.toast('pipeline would take').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test('a recording opens as a page whose numbers lead on', async () => {
    await workbench.runCommand('Longpole: Record Another Program');
    await workbench.untilAsked('Longpole: What to Record');
    await workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: 'Another program…' }).click();
    await workbench.answer(programTitle, "./pipeline 'two words'");
    const progress = workbench.toast('Longpole: pipeline');
    await progress.getByText('recording, 10 records').waitFor();
    await workbench.openRecording('run.lptrace');
    const page = workbench.webview();
    await page.getByText('1.6× on 8 CPUs', { exact: true }).waitFor();
    await page.getByText('expect between 1.44× and 1.76×: by the scheduler linux it takes 1.25 s, 1.60×.').waitFor();
    // The program that ends beside the page takes its place in the window, until the page is asked for something.
    await progress.getByText('Cancel', { exact: true }).click();
    await workbench.toast('was stopped. What it did until then is kept: 12,345 events.').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
    await page.getByRole('row', { name: /^produce pipeline\.c:3 50% 67% 80% 80% 80% 80%$/ }).waitFor();
    await page.getByRole('button', { name: 'Show 2 CPUs' }).click();
    await page.getByText('1.3× on 2 CPUs', { exact: true }).waitFor();
    await workbench.untilStatus('2 CPUs · 1.3×');
    await page.getByRole('button', { name: 'Show 8 CPUs' }).click();
    await page.getByText('1.6× on 8 CPUs', { exact: true }).waitFor();
    await workbench.untilStatus('8 CPUs · 1.6×');
    await workbench.screenshot('page');
    await page.getByRole('link', { name: 'consume' }).click();
    await workbench.page.locator('.tab.active[data-resource-name="pipeline.c"]').waitFor();
    await eventually(async () => (await workbench.page.getByText('Ln 8, Col 1').count()) > 0, () => 'line 8');
  });

  void test('the side bar lists functions and recordings, which can be compared, renamed and deleted', async () => {
    const { page } = workbench;
    await page.locator('.activitybar .action-item', { has: page.locator('[aria-label="Longpole"]') }).click();
    const row = (view: string, text: string): ReturnType<typeof page.locator> =>
      page.locator(`.pane:has([aria-label^="${view}"]) .monaco-list-row`, { hasText: text });
    await row('Functions', 'produce').first().waitFor();
    // It follows the CPU count, which was another one a moment ago, by itself.
    await row('Functions', 'produce').filter({ hasText: /^produce\s*80%\s*━+/ }).first().waitFor();
    await row('Functions', 'consume').first().click();
    await eventually(async () => (await page.getByText('Ln 8, Col 1').count()) > 0, () => 'line 8');
    const kept = row('Recordings', 'pipeline');
    await kept.first().waitFor();
    const before = await kept.count();
    await workbench.rowAction(kept.first(), 'diff');
    const comparison = workbench.webview();
    await comparison.getByRole('row', { name: 'change 0% 0% 0% 0% 0% 0%' }).waitFor();
    await page.locator('.tab.active', { hasText: /pipeline \d\d\.\d\d\.\d\d(-\d+)? → run/ }).waitFor();
    await workbench.screenshot('comparison');
    await workbench.rowAction(kept.first(), 'edit');
    await workbench.answer('Longpole: Rename Recording', 'before the change');
    await row('Recordings', 'before the change').waitFor();
    await workbench.rowAction(row('Recordings', 'before the change'), 'trash');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await eventually(async () => (await kept.count()) === before - 1, () => 'one recording fewer');
  });

  void test('after a reload the recording is there again', async () => {
    // The comparison does not come back, and another page would be in front.
    await workbench.openFile('pipeline.c');
    await workbench.page.reload();
    await workbench.page.locator('.monaco-workbench').waitFor();
    await workbench.openFile('pipeline.c');
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('80%') ?? false, 'annotations without a question');
  });

  void test('a file of another version shows nothing, and the status bar says so', async () => {
    await workbench.openFile('pipeline.c');
    await workbench.recordAnother('./pipeline --short --other-version');
    await workbench.untilStatus('8 CPUs · 1.6× · stale');
    await workbench.untilAnnotations((found) => found.size === 0, 'no annotations');
    // The tab of a recording that has no name of its own says what ran, and when.
    await workbench.runCommand('Longpole: Show Speed-Up and Functions');
    await workbench.page.locator('.tab.active', { hasText: /^pipeline \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d(-\d+)?\.lptrace/ }).waitFor();
    await workbench.runCommand('View: Close Editor');
    await workbench.openFile('pipeline.c');
  });

  void test('a daemon that died is started again, and the next question is answered', async () => {
    const choose = async (cpus: string): Promise<void> => {
      await workbench.runCommand('Longpole: Set CPU Count');
      await workbench.untilAsked(cpusTitle);
      await workbench.quickInput.fill('Other');
      await workbench.page.keyboard.press('Enter');
      await eventually(async () => (await workbench.quickInput.inputValue()) === '8', () => 'the input box');
      await workbench.answer(cpusTitle, cpus);
    };
    await choose('13');
    await workbench.toast('The daemon went away before it answered').waitFor();
    await choose('5');
    await workbench.untilStatus(/^5 CPUs/);
  });

  void test('a daemon that dies while nobody asks it anything is one message, and nothing is lost', async () => {
    await workbench.runCommand('Notifications: Clear All Notifications');
    const choose = async (from: string, cpus: string): Promise<void> => {
      await workbench.runCommand('Longpole: Set CPU Count');
      await workbench.untilAsked(cpusTitle);
      await workbench.quickInput.fill('Other');
      await workbench.page.keyboard.press('Enter');
      await eventually(async () => (await workbench.quickInput.inputValue()) === from, () => 'the input box');
      await workbench.answer(cpusTitle, cpus);
    };
    await choose('5', '14');
    await workbench.toast("Longpole's daemon ended with status 9 and was started again. Nothing is lost.").waitFor();
    assert.equal(await workbench.toast('Longpole').count(), 1);
    await workbench.untilStatus(/^14 CPUs · 1.6×/);
    await choose('14', '6');
    await workbench.untilStatus(/^6 CPUs · 1.6×/);
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test('diagnostics say what works', async () => {
    await workbench.runCommand('Longpole: Collect Diagnostics');
    const lines = workbench.page.locator('.view-line');
    const untilSaid = async (wanted: string): Promise<void> => {
      let said: string[] = [];
      await eventually(
        async () => {
          said = (await lines.allTextContents()).map((text) => text.replace(/\u00a0/g, ' '));
          return said.some((text) => text.includes(wanted));
        },
        () => `${wanted}; it says ${said.join(' | ')}`,
      );
    };
    await untilSaid('**its version**: longpole 0.9.0');
    // The last line, which a low editor does not show.
    await workbench.page.keyboard.press('Control+End');
    await untilSaid('**record and simulate**: works (2 simulations). recorded 1 event');
  });
});

void describe('without trust', () => {
  let workbench: Workbench;
  afterEach(async (context) => {
    await workbench.screenshot(context.name);
    await workbench.stop();
  });

  void test('in a workspace that is not trusted no program runs, and recordings can be looked at', async () => {
    workbench = await start({ trusted: false });
    const { page } = workbench;
    await page.getByText('Restricted Mode', { exact: true }).waitFor();
    await workbench.openFile('pipeline.c');
    await page.keyboard.press('F1');
    await workbench.quickInput.fill('>Longpole:');
    const rows = page.locator('.quick-input-list .monaco-list-row');
    await rows.filter({ hasText: 'Longpole: Toggle Annotations' }).waitFor();
    assert.equal(await rows.filter({ hasText: 'Longpole: Record' }).count(), 0);
    await page.keyboard.press('Escape');
    // The status bar item still leads to the command.
    await workbench.statusItem.click();
    await workbench.toast('Longpole runs no program until you trust this workspace.').waitFor();
    // Looking at what was recorded runs nothing of the workspace's.
    await workbench.openRecording('run.lptrace');
    await workbench.webview().getByText('1.6× on 8 CPUs', { exact: true }).waitFor();
    await workbench.runCommand('View: Close All Editors');
    // Nothing is started by itself before there is trust, and what was shown is there again once there is.
    await page.reload();
    await page.locator('.monaco-workbench').waitFor();
    await workbench.openFile('pipeline.c');
    await workbench.untilStatus('Longpole');
    await workbench.runCommand('Workspaces: Manage Workspace Trust');
    await page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true }).click();
    await workbench.openFile('pipeline.c');
    await workbench.untilStatus('8 CPUs · 1.6×');
  });
});
