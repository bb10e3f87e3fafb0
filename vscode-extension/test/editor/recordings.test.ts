// What is said of a recording once it is there.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { fakeSettings } from './fakes';
import { Workbench } from './workbench';

void describe('what was recorded', () => {
  let workbench: Workbench;
  before(async () => {
    workbench = await Workbench.start({ folder: 'test/editor/fixture', settings: fakeSettings('usual') });
    await workbench.openFile('pipeline.c');
  });
  after(() => workbench.stop());
  afterEach((context) => workbench.screenshot(context.name));

  const inThemes = async (name: string): Promise<void> => {
    for (const [theme, kind] of [['Default Light Modern', 'vs'], ['Default Dark Modern', 'vs-dark']] as const) {
      workbench.server.settings = { ...fakeSettings('usual'), 'workbench.colorTheme': theme };
      await workbench.page.locator(`.monaco-workbench.${kind}`).waitFor();
      await workbench.screenshot(`${name}-${kind}`);
    }
  };

  void test('what it means that a program has no threads is said once, with what is left to see', async () => {
    const toast = workbench.toast('Longpole: pipeline ran in a single thread: it would take 1.25 s on any number of CPUs. Hottest: produce, 80%.');
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.answer('Longpole: Program to Record', './pipeline --short --one-thread');
    await toast.filter({ hasText: 'If you expected threads' }).waitFor();
    assert.equal(await workbench.page.locator('.notification-toast').count(), 1);
    await inThemes('one-thread');
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.runCommand('Longpole: Record and Simulate');
    await toast.waitFor();
    assert.equal(await toast.filter({ hasText: 'If you expected threads' }).count(), 0);
    await workbench.runCommand('Notifications: Clear All Notifications');
  });
});
