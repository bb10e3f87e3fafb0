// The whole way once, as a user goes it: the packed extension, its own daemon and recorder, the 1999 report's sorter. Leaves
// pictures of it in out/screenshots, in every kind of theme.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { eventually } from './eventually';
import { Workbench, type Annotation } from './workbench';

const themes = {
  dark: 'Default Dark Modern',
  light: 'Default Light Modern',
  'high-contrast': 'Default High Contrast',
  'high-contrast-light': 'Default High Contrast Light',
};

function settings(theme: keyof typeof themes): Record<string, unknown> {
  return {
    'workbench.colorTheme': themes[theme],
    'longpole.cpus': 8,
    'editor.fontSize': 14,
    'editor.occurrencesHighlight': 'off',
    'breadcrumbs.enabled': false,
  };
}

/** The lines of a function of sorter.c, by its definition; counted from 1, as the editor does. */
class Source {
  private readonly lines: string[];

  constructor(path: string) {
    this.lines = readFileSync(path, 'utf8').split('\n');
  }

  functionLines(definition: string): { first: number; last: number } {
    const first = this.lines.findIndex((line) => line.includes(definition));
    const length = this.lines.slice(first).findIndex((line) => line === '}');
    assert.ok(first >= 0 && length > 0, definition);
    return { first: first + 1, last: first + 1 + length };
  }
}

function percent(annotation: Annotation): number {
  return parseFloat(/^([\d.]+)%/.exec(annotation.text)?.[1] ?? '0');
}

function processes(): string {
  return execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' });
}

void describe('recording the sorter', () => {
  let workbench: Workbench;
  let source: Source;
  let merge: { first: number; last: number };
  let bubbleSort: { first: number; last: number };

  const sumOver = (annotations: Map<number, Annotation>, lines: { first: number; last: number }): number =>
    [...annotations]
      .filter(([line]) => line >= lines.first && line <= lines.last)
      .reduce((sum, [, annotation]) => sum + percent(annotation), 0);

  /** Those of this editor's extension. */
  const daemons = (): { pid: number }[] => {
    const extensions = workbench.folder.replace(/workspace$/, 'xd');
    const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
    return lines
      .filter((line) => line.includes(extensions) && line.includes(' serve '))
      .map((line) => ({ pid: parseInt(line, 10) }));
  };

  before(async () => {
    assert.ok(existsSync('bin/longpole'), 'the package has no daemon: build the preset release before packing it');
    workbench = await Workbench.start({ folder: '../examples/sorter', settings: settings('dark') });
    // As a user's own build would be, in the folder that is open.
    const flags = ['-O1', '-g', '-fno-omit-frame-pointer', '-fno-inline-functions-called-once', '-D_GNU_SOURCE'];
    execFileSync('cc', [...flags, 'sorter.c', '-o', 'sorter', '-pthread'], { cwd: workbench.folder });
    // With so many numbers each of the bubble sorts is done well before all is read, on whatever machine: with a third more it
    // is a matter of how fast that one reads.
    execFileSync('./sorter', ['--make-input', 'numbers', '9000'], { cwd: workbench.folder });
    source = new Source(join(workbench.folder, 'sorter.c'));
    merge = source.functionLines('static void merge(');
    bubbleSort = source.functionLines('static void* bubble_sort(');
  });
  after(() => workbench.stop());
  afterEach((context) => workbench.screenshot(context.name));

  void test('command palette → record → annotations on the lines of merge', async () => {
    await workbench.openFile('sorter.c');
    await workbench.goToLine(merge.first);
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.answer('Longpole: Program to Record', './sorter numbers');
    await workbench.untilStatus(/^8 CPUs · [\d.]+×$/, 180_000);
    await workbench.page.locator('.terminal-wrapper.active .xterm').waitFor();
    await workbench.screenshot('recorded');
    // Out of the way, for lines that cannot be seen are not there.
    await workbench.page.keyboard.press('Control+J');
    await workbench.goToLine(Math.round((merge.last + bubbleSort.first) / 2));
    // The report's point: bubble sort is where the time goes, and not worth a minute.
    const remark = 'not on the critical path at 8 CPUs';
    const annotations = await workbench.untilAnnotations(
      (found) => sumOver(found, merge) > 0 && found.get(bubbleSort.first)?.text === remark,
      'the lines of merge, and that bubble_sort does not matter',
    );
    const [heaviest] = [...annotations].sort(([, a], [, b]) => percent(b) - percent(a));
    assert.ok(heaviest && heaviest[0] > merge.first && heaviest[0] <= merge.last, JSON.stringify([...annotations]));
    assert.match(heaviest[1].text, /^\d+% +· 10% faster → \d\.\d% overall$/);
    assert.ok(heaviest[1].barWidth > 0);
    assert.equal(sumOver(annotations, bubbleSort), 0);
  });

  void test('the hottest line is one button away, and one command', async () => {
    const { page } = workbench;
    const toast = workbench.toast(/sorter would take [\d.]+ m?s on 8 CPUs, [\d.]+× as fast as on one\..* Hottest: merge, \d+%\./);
    await workbench.press(toast, 'Show Hottest Line');
    const line = async (): Promise<number> => Number(/Ln (\d+)/.exec(await page.locator('[id="status.editor.selection"]').innerText())?.[1] ?? 0);
    const isInMerge = async (): Promise<boolean> => (await line()) > merge.first && (await line()) <= merge.last;
    await eventually(isInMerge, () => 'the cursor in merge');
    await workbench.goToLine(1);
    await workbench.runCommand('Longpole: Go to Hottest Line');
    await eventually(isInMerge, () => 'the cursor in merge again');
  });

  void test("a hover where a lock is declared says who waits for it", async () => {
    const declared = readFileSync(join(workbench.folder, 'sorter.c'), 'utf8').split('\n').indexOf('static sem_t list_lock;') + 1;
    await workbench.goToLine(declared);
    const hover = await workbench.hover(declared, 'list_lock');
    const text = (await hover.innerText()).replace(/\u00a0/g, ' ');
    assert.match(text, /^list_lock +semaphore +What if nobody waited\?/);
    assert.match(text, /[\d,]+ calls/);
    assert.match(text, /sorter\.c:\d+: ([\d.]+ [mµn]?s|no wait), [\d,]+×/);
    await workbench.page.mouse.move(5, 400);
    await workbench.goToLine(Math.round((merge.last + bubbleSort.first) / 2));
  });

  void test('hover', async () => {
    const hover = await workbench.hover(merge.first, 'merge');
    const text = (await hover.innerText()).replace(/\u00a0/g, ' ');
    assert.match(text, /^merge +sorter\.c:\d+/);
    assert.match(text, /\d+% (± [\d.]+% )?of the critical path at 8 CPUs \([\d.]+ m?s of [\d.]+ m?s(, [\d,]+ samples)?\)\./);
    assert.match(text, /10% faster here makes the whole program \d\.\d% faster\./);
    assert.match(text, /CPUs\s+1\s+2\s+4\s+8\s+16\s+64\s/);
    assert.match(text, /in itself(\s+[\d.]+%){6}/);
    assert.match(text, /program(\s+[\d.]+ m?s){6}/);
    assert.match(text, /self [\d.]+ m?s · with callees [\d.]+ m?s/);
    const width = (): Promise<number> => hover.locator('img').first().evaluate((image) => (image as HTMLImageElement).naturalWidth);
    await eventually(async () => (await width()) > 0, () => 'the picture of the shares');
  });

  void test('pictures in every kind of theme', async () => {
    const [heaviest = 0] = [...(await workbench.annotations())].sort(([, a], [, b]) => percent(b) - percent(a))[0] ?? [];
    await workbench.page.keyboard.press('Control+B');
    for (const theme of ['light', 'high-contrast', 'high-contrast-light', 'dark'] as const) {
      await workbench.page.mouse.move(5, 400);
      workbench.server.settings = settings(theme);
      const wanted = themes[theme].includes('Light') ? 'vs' : 'vs-dark';
      const kind = theme.startsWith('high') ? `hc-${wanted === 'vs' ? 'light' : 'black'}` : wanted;
      await workbench.page.locator(`.monaco-workbench.${kind}`).waitFor();
      const hover = await workbench.hover(heaviest, 'value');
      await workbench.screenshot(`editor-${theme}`);
      const hidden = await hover.evaluate((content) => {
        const box = content.closest('.monaco-scrollable-element') ?? content;
        return content.scrollHeight - box.clientHeight;
      });
      assert.ok(hidden <= 0, `${hidden} pixels of the hover are hidden`);
    }
  });

  void test('the timeline: the merges, one after the other, are the critical path; the bubble sorts are beside it', async () => {
    const { page } = workbench;
    await workbench.runCommand('Longpole: Show Timeline');
    const panel = workbench.webview();
    const canvas = panel.locator('#canvas');
    const box = await page.locator('.part.panel').boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width / 2, box.y - 1);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, 300, { steps: 4 });
    await page.mouse.up();
    // Away from the edge of the panel, which is marked as long as the pointer is on it.
    await page.mouse.move(5, 400);
    const threads = async (): Promise<string> => (await canvas.getAttribute('data-threads')) ?? '';
    await eventually(async () => (await threads()).startsWith('main,initThr.1,'), () => 'the threads');
    for (const theme of ['light', 'high-contrast', 'dark'] as const) {
      workbench.server.settings = settings(theme);
      await page.locator(`.monaco-workbench.${theme === 'light' ? 'vs' : theme === 'dark' ? 'vs-dark' : 'hc-black'}`).waitFor();
      await eventually(async () => (await canvas.getAttribute('data-drawn')) === '22', () => 'all rows');
      await workbench.screenshot(`timeline-${theme}`);
    }
    await canvas.focus();
    await page.keyboard.press('t');
    await panel.getByRole('row', { name: /^bubble_sort\.3 [\d.]+ m?s .* – \d+$/ }).waitFor();
    await panel.getByRole('row', { name: /^thrMerge\.7 .* [\d.]+ m?s \d+$/ }).click();
    await panel.locator('aside').getByText(/^thrMerge\.7/).first().waitFor();
    await page.getByRole('button', { name: /Hide Panel/ }).first().click();
    await page.locator('.part.panel').waitFor({ state: 'hidden' });
  });

  void test('a binding is searched for two CPUs; annotations and timeline show the program as bound, until it is undone', async () => {
    const { page } = workbench;
    const chooseCpus = async (cpus: number): Promise<void> => {
      await workbench.statusItem.click();
      await workbench.untilAsked('Longpole: Set CPU Count');
      await workbench.quickInput.fill(`${cpus} CPUs`);
      await page.keyboard.press('Enter');
      await workbench.untilStatus(new RegExp(`^${cpus} CPUs · [\\d.]+×$`));
    };
    const texts = (annotations: Map<number, Annotation>): string => [...annotations].map(([line, { text }]) => `${line} ${text}`).join('\n');
    await chooseCpus(2);
    const unbound = texts(await workbench.untilAnnotations((found) => found.size > 0, 'annotations at 2 CPUs'));
    await workbench.runCommand('Longpole: Find a Binding');
    await workbench.untilAsked('Longpole: Find a Binding for 2 CPUs');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'thorough' }).click();
    await workbench.toast(/[1-9][\d,]* tried, now by [\w-]+; the best takes [\d.]+ m?s/).waitFor();
    const found = workbench.toast(/the best of [\d,]+ bindings to 2 CPUs takes [\d.]+ m?s \([\w-]+\), .*against unbound threads/);
    await eventually(async () => (await found.count()) > 0, () => 'the best binding', 300_000);
    await workbench.screenshot('binding found');
    const [, predicted = '', unit] = /takes ([\d.]+) (m?s)/.exec(await found.innerText()) ?? [];
    await workbench.press(found, 'Simulate So');
    await workbench.untilAnnotations((shown) => shown.size > 0 && texts(shown) !== unbound, 'annotations of the program as bound');
    await workbench.tooltip(workbench.statusItem, /linux, \d+ threads bound/);
    await workbench.screenshot('annotations as bound');
    await page.mouse.move(5, 400);

    // No thread leaves its CPU, and the run ends when the search says that it does; the line is what some binding surely reaches.
    await workbench.runCommand('Longpole: Show Timeline');
    const panel = workbench.webview();
    const canvas = panel.locator('#canvas');
    await panel.getByText('2 CPUs, linux').waitFor();
    await canvas.focus();
    await page.keyboard.press('0');
    await page.keyboard.press('c');
    await eventually(async () => (await canvas.getAttribute('data-drawn')) === '2', () => 'two rows');
    await eventually(async () => Number(await canvas.getAttribute('data-bound')) > 0, () => 'the bound');
    const endNs = Number(await canvas.getAttribute('data-to'));
    const foundNs = Number(predicted) * (unit === 's' ? 1e9 : 1e6);
    assert.ok(Math.abs(endNs / foundNs - 1) < 0.006, `${endNs} ns in place of ${predicted} ${unit}`);
    await workbench.screenshot('timeline as bound');
    await page.keyboard.press('t');
    for (const cpu of [0, 1]) {
      await panel.getByRole('row', { name: new RegExp(`^CPU ${cpu} [\\d.]+ m?s \\d+% \\d+ [\\d,]+ 0$`) }).waitFor();
    }
    await panel.locator('#table').press('t');
    await canvas.focus();
    await page.keyboard.press('c');
    await page.getByRole('button', { name: /Hide Panel/ }).first().click();
    await page.locator('.part.panel').waitFor({ state: 'hidden' });

    await workbench.runCommand('Longpole: Set Machine');
    await workbench.untilAsked('Longpole: Machine');
    await workbench.choose('As usual again');
    await workbench.untilAsked('Longpole: Machine');
    await page.keyboard.press('Escape');
    await workbench.untilAnnotations((shown) => texts(shown) === unbound, 'the annotations of before');
    await chooseCpus(8);
  });

  void test('status bar → 1 CPU → the annotation on bubble_sort appears', async () => {
    await workbench.untilStatus(/^8 CPUs · [\d.]+×$/);
    await workbench.statusItem.click();
    await workbench.untilAsked('Longpole: Set CPU Count');
    await workbench.quickInput.fill('1 CPU');
    await workbench.screenshot('picker');
    await workbench.page.keyboard.press('Enter');
    await workbench.untilAnnotations(
      (found) => sumOver(found, bubbleSort) > sumOver(found, merge) && !found.has(bubbleSort.first),
      'bubble_sort above merge, and no remark that it is off the path',
    );
    await workbench.untilStatus('1 CPU · 1.0×');
  });

  void test('a daemon that is killed in the middle of a change of the CPU count: one message, and nothing is lost', async () => {
    await workbench.runCommand('Notifications: Clear All Notifications');
    const [daemon] = daemons();
    assert.ok(daemon);
    // It takes the question and never answers.
    process.kill(daemon.pid, 'SIGSTOP');
    await workbench.runCommand('Longpole: Set CPU Count');
    await workbench.untilAsked('Longpole: Set CPU Count');
    await workbench.quickInput.fill('Other');
    await workbench.page.keyboard.press('Enter');
    await eventually(async () => (await workbench.quickInput.inputValue()) === '1', () => 'the input box');
    await workbench.answer('Longpole: Set CPU Count', '11');
    await workbench.statusItem.locator('.codicon-loading').waitFor();
    await workbench.untilStatus(/^1 CPU/); // shown until there is an answer
    process.kill(daemon.pid, 'SIGKILL');
    await workbench.toast(/Longpole's daemon .*SIGKILL.* and was started again\. Nothing is lost\./).waitFor();
    assert.equal(await workbench.toast('Longpole').count(), 1);
    await workbench.untilStatus(/^11 CPUs · [\d.]+×$/);
    await workbench.untilAnnotations((found) => sumOver(found, merge) > 0, 'annotations at 11 CPUs');
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.statusItem.click();
    await workbench.untilAsked('Longpole: Set CPU Count');
    await workbench.quickInput.fill('1 CPU');
    await workbench.page.keyboard.press('Enter');
    await workbench.untilStatus('1 CPU · 1.0×');
  });

  void test('cancel stops a long run and shows what was recorded of it, even when the daemon was killed meanwhile', async () => {
    execFileSync('./sorter', ['--make-input', 'many', '100000'], { cwd: workbench.folder });
    await workbench.runCommand('Longpole: Clear');
    await workbench.untilAnnotations((found) => found.size === 0, 'no annotations');
    await workbench.recordAnother(`${workbench.folder}/sorter many`);
    const progress = workbench.toast(/recording, [1-9][\d,]* records/);
    await progress.waitFor();
    // The daemon has no part in a recording: its death takes nothing away.
    daemons().forEach(({ pid }) => process.kill(pid, 'SIGKILL'));
    await progress.getByText('Cancel', { exact: true }).click();
    await workbench.toast(/sorter was stopped\. What it did until then is kept: [1-9][\d,]* events\./).waitFor();
    await workbench.untilStatus(/^1 CPU · 1\.0×/);
    await eventually(() => Promise.resolve(!processes().includes(`${workbench.folder}/sorter`)), () => "the program's end");
  });

  void test('what will go wrong is said before the program runs', async () => {
    const { folder } = workbench;
    execFileSync('cc', ['-O1', '-D_GNU_SOURCE', 'sorter.c', '-o', 'plain', '-pthread'], { cwd: folder });
    await workbench.recordAnother('./plain numbers');
    const question = workbench.toast(/plain was built without debug information: .* Build it with -g\./);
    await question.waitFor();
    await workbench.press(question, 'Record Anyway');
    // There is no line to go to.
    const toast = workbench.toast('plain would take');
    await toast.getByRole('button', { name: 'Show Functions' }).waitFor();
    assert.equal(await toast.getByRole('button', { name: 'Show Hottest Line' }).count(), 0);
    await workbench.runCommand('Notifications: Clear All Notifications');
    await toast.waitFor({ state: 'detached' });
    // Saved after the program was built.
    const later = new Date(Date.now() + 60_000);
    utimesSync(join(folder, 'sorter.c'), later, later);
    await workbench.recordAnother('./sorter numbers');
    await workbench.toast(/sorter\.c was edited after sorter was built: .* Build it first\./).waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
    execFileSync('cc', ['-O1', '-g', '-static', '-D_GNU_SOURCE', 'sorter.c', '-o', 'fixed', '-pthread'], { cwd: folder });
    await workbench.recordAnother('./fixed numbers');
    await workbench.toast('fixed is statically linked, so the recorder cannot be loaded into it and nothing would be recorded. Link it dynamically').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
    // Neither of these two was run: nothing took the place of what is shown.
    await workbench.untilStatus(/^1 CPU · 1\.0×/);
    assert.doesNotMatch(processes(), /(plain|sorter|fixed) numbers/);
  });

  void test('nothing is left behind when the editor is closed', async () => {
    await eventually(() => Promise.resolve(daemons().length === 1), () => 'one daemon');
    await workbench.stop();
    await eventually(() => Promise.resolve(daemons().length === 0), () => `the daemon's end: ${daemons().map(({ pid }) => pid).join()}`);
  });
});
