// The ways to a recording besides the palette: the editor's run menu, tasks, CMake Tools, launch.json's environment; and workspaces of
// several folders; and breakpoints. With the fake daemon, and an extension that answers as CMake Tools and a debugger do.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Locator } from 'playwright-core';
import { fakeSettings } from './fakes';
import { eventually } from './eventually';
import { Workbench } from './workbench';

void describe('ways to a recording', () => {
  let workbench: Workbench;

  const item = (text: string): Locator => workbench.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  const untilRecorded = (): Promise<unknown> =>
    workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('80%') ?? false, 'annotations');
  const runTask = (label: string): Promise<void> =>
    eventually(
      async () => {
        await workbench.page.keyboard.press('Control+P');
        await workbench.quickInput.waitFor();
        await workbench.quickInput.fill(`task ${label}`);
        const there = await item(label).waitFor({ timeout: 5000 }).then(
          () => true,
          () => false,
        );
        await (there ? item(label).click() : workbench.page.keyboard.press('Escape'));
        return there;
      },
      () => 'the task in the list',
    );
  const file = (name: string, content: unknown): void => {
    mkdirSync(join(workbench.folder, '.vscode'), { recursive: true });
    writeFileSync(join(workbench.folder, '.vscode', name), JSON.stringify(content));
  };

  before(async () => {
    workbench = await Workbench.start({
      folder: 'test/editor/fixture',
      settings: fakeSettings('usual'),
      extensions: ['test/editor/fake-cmake-tools'],
    });
    await workbench.openFile('pipeline.c');
  });
  after(() => workbench.stop());
  beforeEach(async () => {
    if (await workbench.quickInput.isVisible()) {
      await workbench.page.keyboard.press('Escape');
    }
  });
  afterEach((context) => workbench.screenshot(context.name));

  void test("the run menu of the editor's title records CMake Tools' launch target, which is built once", async () => {
    const run = workbench.page.locator('.editor-actions .action-item', { has: workbench.page.locator('.codicon-pulse') });
    await run.first().click();
    await workbench.untilAsked('Longpole: What to Record');
    await item('CMake launch target').click();
    await workbench.untilPrinted(`asked to run: ${workbench.folder}/pipeline in a terminal`);
    const progress = workbench.toast('Longpole: pipeline');
    await progress.getByText('Cancel', { exact: true }).click();
    await untilRecorded();
    assert.equal(readFileSync(join(workbench.folder, 'asked'), 'utf8'), 'built\n');
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test('a breakpoint keeps its place in the gutter', async () => {
    const marks = workbench.page.locator('.glyph-margin-widgets .cgmr[class*="ced-"]');
    await eventually(async () => (await marks.count()) === 10, () => 'ten marks: five lines of each function, its bracket the last');
    await workbench.goToLine(5);
    await workbench.runCommand('Debug: Toggle Breakpoint');
    await workbench.page.locator('.glyph-margin-widgets [class*="codicon-debug-breakpoint"]').first().waitFor();
    await eventually(async () => (await marks.count()) === 9, () => 'no mark at the breakpoint');
    await workbench.screenshot('breakpoint');
    await workbench.runCommand('Debug: Toggle Breakpoint');
    await eventually(async () => (await marks.count()) === 10, () => 'ten marks again');
    workbench.server.settings = { ...fakeSettings('usual'), 'longpole.annotations.gutter': false };
    await eventually(async () => (await marks.count()) === 0, () => 'no marks');
    workbench.server.settings = fakeSettings('usual');
  });

  void test('a task of tasks.json records, and what it recorded is shown', async () => {
    file('tasks.json', {
      version: '2.0.0',
      tasks: [
        { type: 'longpole', program: '${workspaceFolder}/pipeline', args: ['--short', 'by a task'], env: { PIPELINE_MODE: 'task' }, label: 'record it' },
        { type: 'longpole', program: '${workspaceFolder}/pipeline', args: ['--spins'], turns: 3, label: 'find out about caches' },
      ],
    });
    await workbench.runCommand('Longpole: Clear');
    await workbench.untilAnnotations((found) => found.size === 0, 'no annotations');
    await runTask('record it');
    await workbench.untilPrinted(`asked to run: ${workbench.folder}/pipeline|--short|by a task in a terminal mode=task`);
    await untilRecorded();
  });

  void test('a task that asks for turns says how far its further runs are, and asks for none in lockstep', async () => {
    await runTask('find out about caches');
    await workbench.untilPrinted(`asked to run with 3 rounds of turns: ${workbench.folder}/pipeline|--spins in a terminal`);
    const progress = workbench.toast('Longpole: pipeline');
    const stopped = workbench.toast('pipeline was stopped. What it did until then is kept');
    await progress.getByText('running it as it is, round 1 of 3 …').waitFor();
    await progress.getByText('Cancel', { exact: true }).click();
    await stopped.locator('.monaco-button', { hasText: 'Record in Lockstep for 8 CPUs' }).click();
    await workbench.untilPrinted(`asked to run in lockstep for 8: ${workbench.folder}/pipeline|--spins in a terminal`);
    await progress.getByText('Cancel', { exact: true }).click();
    await stopped.waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test('the same once more, while it is recorded, is refused with a way to it and one to its end', async () => {
    await workbench.recordAnother('./pipeline --long');
    const progress = workbench.toast('Longpole: pipeline');
    await progress.getByText('recording, 10 records').waitFor();
    await workbench.recordAnother('./pipeline --long');
    const refusal = workbench.toast('pipeline is being recorded already, with the same arguments in the same folder.');
    await refusal.waitFor();
    for (const [theme, kind] of [['Default Light Modern', 'vs'], ['Default Dark Modern', 'vs-dark']] as const) {
      workbench.server.settings = { ...fakeSettings('usual'), 'workbench.colorTheme': theme };
      await workbench.page.locator(`.monaco-workbench.${kind}`).waitFor();
      await workbench.screenshot(`recorded-already-${kind}`);
    }
    await workbench.press(refusal, 'Show');
    await workbench.untilPrinted('asked to run: ./pipeline|--long in a terminal');
    await workbench.recordAnother('./pipeline --long');
    await workbench.press(refusal, 'Stop It');
    // Told as after a Cancel.
    await workbench.toast('pipeline was stopped. What it did until then is kept').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test("launch.json's envFile is read, and env has the last word", async () => {
    writeFileSync(join(workbench.folder, 'settings.env'), '# of the program\nexport PIPELINE_MODE="from the file"\nOTHER=1\n');
    const configuration = { type: 'cppdbg', request: 'launch', program: '${workspaceFolder}/pipeline', args: ['--short'], envFile: '${workspaceFolder}/settings.env' };
    file('launch.json', {
      version: '0.2.0',
      configurations: [
        { ...configuration, name: 'with the file' },
        { ...configuration, name: 'with its own', environment: [{ name: 'PIPELINE_MODE', value: 'own' }] },
        { ...configuration, name: 'with none', envFile: 'nowhere.env' },
      ],
    });
    const record = async (name: string): Promise<void> => {
      await eventually(
        async () => {
          await workbench.runCommand('Longpole: Record Another Program');
          await workbench.untilAsked('Longpole: What to Record');
          const there = await item(name).waitFor({ timeout: 3000 }).then(
            () => true,
            () => false,
          );
          await (there ? item(name).click() : workbench.page.keyboard.press('Escape'));
          return there;
        },
        () => `${name} in the list`,
      );
    };
    await record('with the file');
    await workbench.untilPrinted('mode=from the file');
    await record('with its own');
    await workbench.untilPrinted('mode=own');
    await record('with none');
    await workbench.toast('launch.json, "with none": its envFile').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
  });
});

void describe('a window without a folder', () => {
  let workbench: Workbench | undefined;
  after(() => workbench?.stop());
  afterEach((context) => workbench?.screenshot(context.name));

  void test('records a program in a terminal, from where it is told to', async () => {
    workbench = await Workbench.start({ folder: 'test/editor/fixture', settings: fakeSettings('usual'), opensFolder: false });
    const { page, folder } = workbench;
    // Without a folder a program runs at home.
    cpSync(join(folder, 'pipeline.c'), join(folder, '..', 'pipeline.c'));
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.answer('Longpole: Program to Record', `${folder}/pipeline --short`);
    await workbench.untilStatus('8 CPUs · 1.6×');
    const rows = page.locator('.terminal-wrapper.active .xterm-rows');
    await eventually(
      async () => (await rows.innerText().catch(() => '')).replace(/\s/g, '').includes(`askedtorun:${folder}/pipeline|--shortinaterminal`),
      () => 'what the program was asked in the terminal',
    );
    // Record again needs no question.
    await workbench.runCommand('Longpole: Clear');
    await eventually(async () => !(await workbench?.statusItem.isVisible()), () => 'nothing shown');
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.untilStatus('8 CPUs · 1.6×');
  });
});

void describe('a workspace of two folders', () => {
  let workbench: Workbench | undefined;
  after(() => workbench?.stop());
  afterEach((context) => workbench?.screenshot(context.name));

  void test('recordings belong to their folder, and each folder has its own source map', async () => {
    const source = join(process.cwd(), 'out', 'two-folders');
    for (const folder of ['one', 'two']) {
      cpSync('test/editor/fixture', join(source, folder), { recursive: true });
      mkdirSync(join(source, folder, '.vscode'), { recursive: true });
      const map = { [`/elsewhere/${folder}`]: '${workspaceFolder}' };
      writeFileSync(join(source, folder, '.vscode', 'settings.json'), JSON.stringify({ 'longpole.sourceFileMap': map }));
      writeFileSync(
        join(source, folder, 'run.lptrace'),
        JSON.stringify({ file: `/elsewhere/${folder}/pipeline.c`, args: [], content: 'pipeline.c' }),
      );
    }
    writeFileSync(join(source, 'both.code-workspace'), JSON.stringify({ folders: [{ path: 'one' }, { path: 'two' }] }));
    const opened = await Workbench.start({ folder: source, settings: fakeSettings('usual'), workspace: 'both.code-workspace' });
    workbench = opened;
    const { page } = opened;
    const shown = (count: number): Promise<unknown> =>
      opened.untilAnnotations((found) => found.size === count, `${count} annotations`);
    const tree = page.locator('.explorer-folders-view .monaco-list-row');
    const open = async (folder: string, name: string): Promise<void> => {
      // Folded and unfolded, so that the files below it are this folder's.
      const other = folder === 'one' ? 'two' : 'one';
      await eventually(
        async () => {
          for (const [each, wanted] of [[folder, 'true'], [other, 'false']] as const) {
            const row = tree.filter({ has: page.locator(`[aria-label="${each}"], .label-name`, { hasText: new RegExp(`^${each}$`) }) }).first();
            if ((await row.getAttribute('aria-expanded')) !== wanted) {
              await row.click();
            }
            if ((await row.getAttribute('aria-expanded')) !== wanted) {
              return false;
            }
          }
          return true;
        },
        () => `${folder} alone unfolded`,
      );
      await tree.filter({ hasText: name }).dblclick();
    };
    await opened.untilRecording(() => open('two', 'run.lptrace'), 'run.lptrace');
    await opened.webview().getByText('1.6× on 8 CPUs', { exact: true }).waitFor();
    await opened.webview().getByRole('link', { name: 'produce' }).click();
    await page.locator('.tab.active[data-resource-name="pipeline.c"]').waitFor();
    await shown(2);
    await page.locator('.breadcrumbs-control, .monaco-breadcrumbs').getByText('two').first().waitFor();
    await page.locator('.tab.active .codicon-close, .tab.active .tab-actions a').first().click();
    await open('one', 'pipeline.c');
    await page.locator('.tab.active[data-resource-name="pipeline.c"]').waitFor();
    // The same name and content in the other folder, but not the file of this recording's folder: known by its content.
    await shown(2);
    await opened.runCommand('Longpole: Record and Simulate');
    await opened.answer('Longpole: Program to Record', './pipeline --short');
    await page.locator('.activitybar .action-item', { has: page.locator('[aria-label="Longpole"]') }).click();
    await page.locator('.pane:has(> .pane-header[aria-label^="Recordings"]) .monaco-list-row', { hasText: /pipeline.*shown · just now · one · --short/ }).waitFor();
  });
});
