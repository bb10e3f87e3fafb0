// What is said of a recording once it is there: in a message, and in the side bar's list.
import assert from 'node:assert/strict';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { fakeSettings } from './fakes';
import { eventually, patience } from './eventually';
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
    // How far the recording is may still be seen to go.
    assert.equal(await workbench.page.locator('.notification-toast').filter({ hasNotText: 'Cancel' }).count(), 1);
    await inThemes('one-thread');
    await workbench.runCommand('Notifications: Clear All Notifications');
    await workbench.runCommand('Longpole: Record and Simulate');
    await toast.waitFor();
    assert.equal(await toast.filter({ hasText: 'If you expected threads' }).count(), 0);
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test('what spins is offered to be recorded in lockstep, for as many CPUs as are shown', async () => {
    const hint = 'Its threads spin or take work from each other';
    await workbench.recordAnother('./pipeline --short --spins');
    const offered = workbench.toast(hint);
    await offered.waitFor();
    await inThemes('lockstep');
    await offered.locator('.monaco-button', { hasText: 'Record in Lockstep for 8 CPUs' }).click();
    await workbench.untilPrinted('asked to run in lockstep for 8: ./pipeline|--short|--spins');
    await workbench.toast('Longpole: pipeline would take 1.25 s on 8 CPUs').waitFor();
    assert.equal(await offered.count(), 0);
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test('of a program that stood still the message says who waits for whom', async () => {
    await workbench.recordAnother('./pipeline --short --stands-still');
    const toast = workbench.toast('Longpole: Noticed: deadlocked.');
    await toast.waitFor();
    assert.doesNotMatch(await toast.innerText(), /would take/);
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test('long arguments do not push aside which recording is shown, and how old it is', async () => {
    const { page } = workbench;
    const given = `--short ${'--several-words-of-it=yes '.repeat(8).trim()}`;
    await page.locator('.activitybar .action-item', { has: page.locator('[aria-label="Longpole"]') }).click();
    await workbench.recordAnother(`./pipeline ${given}`);
    const row = page.locator('.pane:has(> .pane-header[aria-label^="Recordings"]) .monaco-list-row', { hasText: `shown · just now · ${given}` });
    await row.waitFor();
    // The words that matter are within what can be seen of the row.
    const words = row.locator('.label-description');
    const end = await words.evaluate((element) => {
      const range = document.createRange();
      const text = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode() as Text;
      range.setStart(text, 0);
      range.setEnd(text, 'shown · just now'.length);
      return range.getBoundingClientRect().right;
    });
    const seen = await row.boundingBox();
    assert.ok(seen && end < seen.x + seen.width, `${end} ${JSON.stringify(seen)}`);
    await inThemes('recordings');
    await workbench.tooltip(row, `./pipeline ${given}`);
  });

  void test('ages go on by themselves', async () => {
    const data = join(workbench.folder, '..', 'ud', 'User');
    const [kept] = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) => /recordings\/[^/.][^/]*\.lptrace$/.test(name)).sort();
    assert.ok(kept);
    const hours = 3 * 3600;
    utimesSync(join(data, kept), Date.now() / 1000 - hours, Date.now() / 1000 - hours);
    // Nobody tells the list: it looks again each minute. That row is the last now; below what can be seen it would not be there.
    await workbench.page.locator('.pane .monaco-list-row', { hasText: '3 hours ago' }).waitFor({ timeout: 3 * patience });
  });

  void test('of a program that did not come to its end a warning says so', async () => {
    await workbench.recordAnother('./pipeline --short --is-killed');
    await workbench.toast('Longpole: Noticed: cut-short. It would take').locator('.codicon-warning').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test('what was being recorded when the window was loaded anew is followed to its end', async () => {
    await workbench.recordAnother('./pipeline --long --stands-still');
    const progress = workbench.toast('Longpole: pipeline');
    await progress.getByText('recording, 10 records').waitFor();
    await workbench.page.reload();
    await workbench.page.locator('.monaco-workbench').waitFor();
    await progress.getByText('recording, 10 records').waitFor();
    await progress.getByText('Cancel', { exact: true }).click();
    await workbench.toast('pipeline was stopped. What it did until then is kept: 12,345 events. Noticed: deadlocked.').waitFor();
    await workbench.page.locator('.pane .monaco-list-row', { hasText: 'shown · just now · --long --stands-still' }).waitFor();
    // Of how far it was nothing is left.
    const hidden = (): string[] => readdirSync(join(workbench.folder, '..', 'ud', 'User'), { recursive: true, encoding: 'utf8' }).filter((name) => /recordings\/\./.test(name));
    await eventually(() => Promise.resolve(hidden().length === 0), () => `none of ${hidden().join(', ')}`);
    await workbench.runCommand('Notifications: Clear All Notifications');
  });
});
