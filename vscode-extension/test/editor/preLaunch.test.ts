// Tasks that launch.json wants to be run before the program.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { eventually } from './eventually';
import { fakeSettings } from './fakes';
import { Workbench } from './workbench';

void describe('a task before the recording', () => {
  let workbench: Workbench;
  before(async () => {
    const task = (label: string, command: string, more: object = {}): object => ({ type: 'shell', label, command, problemMatcher: [], ...more });
    const tasks = [
      task('build', 'echo yes > built', { group: { kind: 'build', isDefault: true } }),
      task('broken', 'exit 3'),
      task('all', 'echo yes > all-built', { dependsOn: ['broken'] }),
      task('for ever', 'echo $$ > pid; sleep 1000'),
      task('watch', 'sleep 1000', { isBackground: true }),
    ];
    const configuration = (name: string, preLaunchTask: unknown): object => ({ type: 'lldb', request: 'launch', name, program: '${workspaceFolder}/pipeline', args: ['--short'], preLaunchTask });
    const configurations = [
      configuration('after the default', '${defaultBuildTask}'),
      configuration('after a failure', 'all'),
      configuration('after no end', 'for ever'),
      configuration('after a watch', 'watch'),
      configuration('after none', 'not there'),
    ];
    workbench = await Workbench.start({
      folder: 'test/editor/fixture',
      files: { '.vscode/tasks.json': { version: '2.0.0', tasks }, '.vscode/launch.json': { version: '0.2.0', configurations } },
      settings: fakeSettings('usual'),
    });
    await workbench.openFile('pipeline.c');
  });
  after(() => workbench.stop());
  afterEach(async (context) => {
    await workbench.screenshot(context.name);
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  const record = (name: string): Promise<void> =>
    eventually(
      async () => {
        await workbench.runCommand('Longpole: Record Another Program');
        await workbench.untilAsked('Longpole: What to Record');
        await workbench.quickInput.fill(name);
        const found = await workbench.page.locator('.quick-input-list .monaco-list-row.focused', { hasText: name }).waitFor({ timeout: 3000 }).then(() => true, () => false);
        await workbench.page.keyboard.press(found ? 'Enter' : 'Escape');
        return found;
      },
      () => name,
    );
  const recorded = (): Promise<void> => workbench.toast('pipeline would take').waitFor();
  const inThemes = async (name: string): Promise<void> => {
    for (const [theme, kind] of [['Default Light Modern', 'vs'], ['Default Dark Modern', 'vs-dark']] as const) {
      workbench.server.settings = { ...fakeSettings('usual'), 'workbench.colorTheme': theme };
      await workbench.page.locator(`.monaco-workbench.${kind}`).waitFor();
      await workbench.screenshot(`${name}-${kind}`);
    }
  };

  void test('may be the default one that builds', async () => {
    await record('after the default');
    await recorded();
    assert.equal(readFileSync(join(workbench.folder, 'built'), 'utf8'), 'yes\n');
  });

  void test('that could not run, for one before it failed, is a question', async () => {
    await record('after a failure');
    const question = workbench.toast('The task "all" ended without a status: it could not be run, or a task that it depends on failed.');
    await question.waitFor();
    assert.equal(existsSync(join(workbench.folder, 'all-built')), false);
    await workbench.press(question, 'Record Anyway');
    await recorded();
  });

  void test('that does not end can be stopped', async () => {
    await record('after no end');
    const progress = workbench.toast('Longpole: for ever');
    await progress.getByText('runs before the recording. Cancel stops it, and records nothing.').waitFor();
    await eventually(() => Promise.resolve(existsSync(join(workbench.folder, 'pid'))), () => 'the task to run');
    await inThemes('task-before');
    await progress.getByText('Cancel', { exact: true }).click();
    const pid = Number(readFileSync(join(workbench.folder, 'pid'), 'utf8'));
    await eventually(
      () => {
        try {
          return Promise.resolve(!process.kill(pid, 0));
        } catch {
          return Promise.resolve(true);
        }
      },
      () => 'the task to end',
    );
    assert.equal(await workbench.toast('pipeline would take').count(), 0);
  });

  void test('in the background is not waited for', async () => {
    await record('after a watch');
    const question = workbench.toast('The task "watch" runs in the background and does not end');
    await workbench.press(question, 'Record Now');
    await recorded();
    await workbench.runCommand('Notifications: Clear All Notifications');
    // It runs by now.
    await record('after a watch');
    await recorded();
    assert.equal(await question.count(), 0);
  });

  void test('that is not there is named, and missing it is no reason not to record', async () => {
    await record('after none');
    await workbench.press(workbench.toast('launch.json has the preLaunchTask "not there", but its folder has no such task.'), 'Record Anyway');
    await recorded();
  });
});
