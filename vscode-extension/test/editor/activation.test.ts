// What a window that has nothing to do with C is spared, and how the extension comes to life.
import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { fakeSettings } from './fakes';
import { eventually } from './eventually';
import { Workbench } from './workbench';

void describe('activation', () => {
  const source = mkdtempSync(join(tmpdir(), 'activation-'));
  let workbench: Workbench;
  const activated = (wanted: RegExp): boolean => workbench.server.activated().some((name) => wanted.test(name));

  before(async () => {
    writeFileSync(join(source, 'notes.md'), '# Notes\n\nNo program here.\n');
    writeFileSync(join(source, 'tool.py'), 'print("no C here")\n');
    workbench = await Workbench.start({ folder: source, settings: fakeSettings('usual') });
  });
  after(async () => {
    await workbench.stop();
    rmSync(source, { recursive: true });
  });
  afterEach((context) => workbench.screenshot(context.name));

  void test('a window without C or C++ does not activate it; the first such file does', async () => {
    await workbench.openFile('tool.py');
    await workbench.openFile('notes.md');
    await eventually(() => Promise.resolve(activated(/markdown/)), () => `Markdown's extension: ${workbench.server.activated().join(', ')}`);
    assert.ok(!activated(/longpole/), workbench.server.activated().join(', '));
    assert.equal(await workbench.statusItem.count(), 0);
    writeFileSync(join(workbench.folder, 'main.c'), 'int main(void) {\n  return 0;\n}\n');
    // A window that is new may not be watching its folder yet; the list of files that commands go by does not know it either.
    await workbench.runCommand('Refresh Explorer');
    await workbench.page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'main.c' }).dblclick();
    await workbench.page.locator('.tab.active[data-resource-name="main.c"]').waitFor();
    await eventually(() => Promise.resolve(activated(/longpole/)), () => `Longpole: ${workbench.server.activated().join(', ')}`);
  });

  void test('what could not be loaded is loaded the next time', async () => {
    const product = join(workbench.server.extensionFolder, 'dist', 'product.js');
    renameSync(product, `${product}.away`);
    await workbench.runCommand('Longpole: Show Log');
    await workbench.toast('Longpole could not be loaded. Try again').waitFor();
    await workbench.runCommand('Notifications: Clear All Notifications');
    renameSync(`${product}.away`, product);
    await workbench.runCommand('Longpole: Collect Diagnostics');
    await workbench.page.locator('.view-line', { hasText: 'its version' }).getByText('longpole 0.9.0').waitFor();
  });
});
