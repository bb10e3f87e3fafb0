// A source is held against what holds its code, and against nothing else.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { eventually } from './eventually';
import { fakeSettings } from './fakes';
import { Workbench } from './workbench';

void describe('a source that was edited since', () => {
  const source = mkdtempSync(join(tmpdir(), 'edited-'));
  let workbench: Workbench;
  before(async () => {
    cpSync('test/editor/fixture', source, { recursive: true });
    workbench = await Workbench.start({ folder: source, settings: fakeSettings('usual') });
    await workbench.openFile('pipeline.c');
  });
  after(async () => {
    await workbench.stop();
    rmSync(source, { recursive: true });
  });
  afterEach((context) => workbench.screenshot(context.name));

  /** A file that is older than the source. */
  const writeOld = (name: string, content: string): void => {
    const path = join(workbench.folder, name);
    writeFileSync(path, content, { mode: 0o755 });
    utimesSync(path, 1, 1);
  };

  const writeTasks = (task: object): void => {
    mkdirSync(join(workbench.folder, '.vscode'), { recursive: true });
    writeFileSync(join(workbench.folder, '.vscode', 'tasks.json'), JSON.stringify({ version: '2.0.0', tasks: [task] }));
  };

  void test('is not held against a script, which is made of none', async () => {
    writeOld('pipeline', '#!/bin/sh\nexec ./program\n');
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.answer('Longpole: Program to Record', './pipeline --short');
    await workbench.untilStatus('8 CPUs · 1.6×');
    assert.equal(await workbench.toast('was edited after').count(), 0);
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test('is held against the library that held its code when that was recorded', async () => {
    writeOld('libpipeline.so', '');
    // Opened again, it is of that library.
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.toast('pipeline would take').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.toast('pipeline.c was edited after libpipeline.so was built: its lines will be those of the old version. Build it first.').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
    // A task that builds is offered, and then the program runs.
    const build = { type: 'shell', label: 'make', command: 'touch libpipeline.so && echo yes > built', group: { kind: 'build', isDefault: true }, problemMatcher: [] };
    writeTasks(build);
    const question = workbench.toast('pipeline.c was edited after libpipeline.so was built');
    await eventually(
      async () => {
        await workbench.runCommand('Longpole: Record and Simulate');
        await question.waitFor();
        const offered = (await question.getByRole('button', { name: 'Build First' }).count()) > 0;
        if (!offered) {
          await workbench.runCommand('Notifications: Clear All Notifications');
        }
        return offered;
      },
      () => 'the task',
    );
    await workbench.press(question, 'Build First');
    await workbench.toast('pipeline would take').waitFor();
    assert.equal(readFileSync(join(workbench.folder, 'built'), 'utf8'), 'yes\n');
    writeOld('libpipeline.so', '');
    // What does not build is not recorded without a question.
    writeTasks({ ...build, command: 'echo again >> built && exit 3' });
    await workbench.runCommand('Notifications: Clear All Notifications');
    const failure = workbench.toast('The task "make" ended with status 3.');
    await eventually(
      async () => {
        // The editor may know the task of before for a while.
        await workbench.runCommand('Longpole: Record and Simulate');
        await workbench.press(question, 'Build First');
        const told = await failure.waitFor({ timeout: 10_000 }).then(() => true, () => false);
        writeOld('libpipeline.so', '');
        return told;
      },
      () => 'the task that fails',
    );
    assert.equal(await workbench.toast('pipeline would take').count(), 0);
    await workbench.press(failure, 'Record Anyway');
    await workbench.toast('pipeline would take').waitFor();
    // No other program is held to account for it.
    writeOld('another', '#!/bin/sh\nexec ./program\n');
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.recordAnother('./another --short');
    await workbench.toast('another would take').or(workbench.toast('pipeline would take')).first().waitFor();
  });

  void test('is not held against a program of the system, whose lines are elsewhere', async () => {
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.recordAnother('/usr/bin/true');
    // It runs, without a question first.
    await workbench.untilStatus(/^true \d/);
    assert.equal(await workbench.toast('was edited after').count(), 0);
  });
});
