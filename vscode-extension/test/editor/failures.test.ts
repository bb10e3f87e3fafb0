// What the user sees when a daemon does not do as it should, and what can be done about it from there.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { eventually } from './eventually';
import { behaviourFile, fakeSettings, type Behaviour } from './fakes';
import { Workbench } from './workbench';

const programTitle = 'Longpole: Program to Record';

void describe('when something is wrong', () => {
  let workbench: Workbench;
  /** The next process of the daemon's program behaves so. */
  const behave = (behaviour: Behaviour): void => writeFileSync(behaviourFile, behaviour);
  before(async () => {
    workbench = await Workbench.start({ folder: 'test/editor/fixture', settings: fakeSettings('as-the-file-says') });
    await workbench.openFile('pipeline.c');
  });
  after(() => workbench.stop());
  afterEach(async (context) => {
    await workbench.screenshot(context.name);
    await workbench.runCommand('Notifications: Clear All Notifications');
  });

  void test('a refusal to record is shown as it is', async () => {
    behave('refuse-record');
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.answer(programTitle, './nothing --short');
    await workbench.toast('cannot record ./nothing: there is no such program; check the path').waitFor();
  });

  /** After a failure it asks, with the program that failed in front. */
  const recordIt = async (): Promise<void> => {
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.untilAsked('Longpole: What to Record');
    await workbench.page.locator('.quick-input-list .monaco-list-row.focused', { hasText: 'nothing' }).waitFor();
    await workbench.page.keyboard.press('Enter');
  };

  void test('a recording that dies is not silence', async () => {
    behave('crash-on-record');
    await recordIt();
    await workbench.toast('Recording nothing ended without a result. Its terminal may say why.').waitFor();
  });

  void test('another protocol is refused, with both versions', async () => {
    behave('other-protocol');
    await recordIt();
    // Fails when there are two.
    await workbench.toast(/daemon 0\.9\.0 speaks protocol 99 and the extension .* speaks protocol 1/).waitFor();
  });

  void test('a command that failed is changed from the message that says so, as often as it takes', async () => {
    behave('refuse-record');
    await workbench.recordAnother('./nothing --short');
    for (const [failed, next] of [
      ['./nothing --short', './nearly --short'],
      ['./nearly --short', './pipeline --short'],
    ] as const) {
      const [program = ''] = failed.split(' ');
      await workbench.press(workbench.toast(`cannot record ${program}: there is no such program`), 'Change Command');
      await workbench.untilAsked(programTitle);
      assert.equal(await workbench.quickInput.inputValue(), failed);
      behave(next.startsWith('./pipeline') ? 'usual' : 'refuse-record');
      await workbench.answer(programTitle, next);
    }
    await workbench.toast('pipeline would take').waitFor();
    // It has taken the place of those that failed.
    await workbench.runCommand('Longpole: Choose What to Record');
    await workbench.untilAsked('Longpole: What to Record');
    const rows = workbench.page.locator('.quick-input-list .monaco-list-row');
    await rows.filter({ hasText: './pipeline --short' }).waitFor();
    assert.equal(await rows.filter({ hasText: /nothing|nearly/ }).count(), 0);
    await workbench.page.keyboard.press('Escape');
  });

  void test('in place of a configuration of launch.json that failed, another one can be chosen', async () => {
    const configuration = { type: 'lldb', request: 'launch', name: 'misspelt', program: '${workspaceFolder}/nothing' };
    mkdirSync(join(workbench.folder, '.vscode'), { recursive: true });
    writeFileSync(join(workbench.folder, '.vscode', 'launch.json'), JSON.stringify({ version: '0.2.0', configurations: [configuration] }));
    behave('refuse-record');
    await eventually(
      async () => {
        await workbench.runCommand('Longpole: Record Another Program');
        await workbench.untilAsked('Longpole: What to Record');
        await workbench.quickInput.fill('misspelt');
        const found = await workbench.page.locator('.quick-input-list .monaco-list-row.focused', { hasText: 'misspelt' }).waitFor({ timeout: 3000 }).then(() => true, () => false);
        await workbench.page.keyboard.press(found ? 'Enter' : 'Escape');
        return found;
      },
      () => 'the configuration',
    );
    await workbench.press(workbench.toast(/Cannot record .*nothing: there is no such program/), 'Choose Another');
    await workbench.untilAsked('Longpole: What to Record');
    behave('usual');
    await workbench.choose('./pipeline --short');
    await workbench.toast('pipeline would take').waitFor();
  });

  const inThemes = async (name: string): Promise<void> => {
    for (const [theme, kind] of [['Default Light Modern', 'vs'], ['Default Dark Modern', 'vs-dark']] as const) {
      workbench.server.settings = { ...fakeSettings('as-the-file-says'), 'workbench.colorTheme': theme };
      await workbench.page.locator(`.monaco-workbench.${kind}`).waitFor();
      await workbench.screenshot(`${name}-${kind}`);
    }
  };

  void test('a damaged recording opens as a page that says so, and can be tried again', async () => {
    behave('usual');
    const path = join(workbench.folder, 'damaged.lptrace');
    writeFileSync(path, 'nothing');
    await workbench.openRecording('damaged.lptrace');
    const page = workbench.webview();
    const words = page.getByRole('main').getByText('damaged.lptrace: it is damaged from its first byte on; record again');
    await words.waitFor();
    await inThemes('damaged');
    // It is said once, where it was asked for.
    assert.equal(await workbench.toast('it is damaged').count(), 0);
    await page.getByRole('button', { name: 'Show Log' }).click();
    const logged = workbench.page.locator('.part.panel .view-line', { hasText: 'damaged.lptrace: Error: cannot open' });
    await logged.first().waitFor();
    await page.getByRole('button', { name: 'Try Again' }).click();
    // The words are those of before until the file has been read once more.
    await logged.nth(1).waitFor();
    await words.waitFor();
    writeFileSync(path, JSON.stringify({ file: 'pipeline.c', args: [] }));
    await page.getByRole('button', { name: 'Try Again' }).click();
    await page.getByText('1.6× on 8 CPUs', { exact: true }).waitFor();
    await workbench.runCommand('View: Close Editor');
  });

  void test('a daemon that does not start is shown with its last words', async () => {
    behave('crash-on-start');
    await workbench.runCommand('Longpole: Restart Daemon');
    await workbench.toast(/ended with status 3\.[^]*there is no room on this machine/).waitFor();
    await workbench.statusItem.locator('.codicon-warning').waitFor();
    // The status bar says it as long as it is so, and is the way out.
    await workbench.untilStatus('8 CPUs · 1.6×');
    const said = "Longpole's daemon does not run.";
    const tooltip = await workbench.tooltip(workbench.statusItem, said);
    await tooltip.getByText('there is no room on this machine').waitFor();
    await tooltip.getByRole('link', { name: 'Restart Daemon' }).waitFor();
    await workbench.screenshot('daemon-failed-vs-dark');
    workbench.server.settings = { ...fakeSettings('as-the-file-says'), 'workbench.colorTheme': 'Default Light Modern' };
    await workbench.page.locator('.monaco-workbench.vs').waitFor();
    await workbench.tooltip(workbench.statusItem, said);
    await workbench.screenshot('daemon-failed-vs');
    behave('usual');
    await workbench.statusItem.click();
    await workbench.statusItem.locator('.codicon-pulse').waitFor();
  });
});
