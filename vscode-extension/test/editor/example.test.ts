// The walkthrough's first step, in a window without a folder: the packed extension builds its example, records it and shows it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { eventually } from './eventually';
import { Workbench } from './workbench';

void describe('the first run', () => {
  let workbench: Workbench;
  before(async () => {
    assert.ok(existsSync('bin/longpole'), 'the package has no daemon: build the preset release before packing it');
    workbench = await Workbench.start({ folder: 'test/editor/fixture', opensFolder: false, settings: { 'longpole.cpus': 8 } });
  });
  after(() => workbench.stop());
  afterEach((context) => workbench.screenshot(context.name));

  void test('all pictures that it shows are in the package', () => {
    const folder = workbench.server.extensionFolder;
    const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
    const pictures = [...new Set([...manifest.matchAll(/"(images\/[^"]+)"/g)].map(([, path = '']) => path))];
    assert.ok(pictures.length > 12, pictures.join(', '));
    assert.deepEqual(pictures.filter((path) => !existsSync(join(folder, path))), []);
  });

  void test('the walkthrough records the example and shows it, in an empty window', async () => {
    const { page } = workbench;
    await eventually(
      async () => {
        await workbench.runCommand('Welcome: Open Walkthrough');
        const row = page.locator('.quick-input-list .monaco-list-row', { hasText: 'Find the long pole' });
        const there = await row.waitFor({ timeout: 5000 }).then(
          () => true,
          () => false,
        );
        await (there ? row.click() : page.keyboard.press('Escape'));
        return there;
      },
      () => 'the walkthrough in the list',
    );
    await page.getByText('Try it on an example').first().waitFor();
    await workbench.screenshot('walkthrough');
    await page.getByRole('button', { name: 'Record the Example' }).or(page.getByText('Record the Example', { exact: true })).first().click();
    await workbench.untilStatus(/^8 CPUs · [\d.]+×$/, 100_000);
    await page.locator('.tab[data-resource-name="sorter.c"]').waitFor();
    await page.locator('.notification-toast', { hasText: /sorter would take .* Hottest: merge, \d+%\./ }).getByRole('button', { name: 'Show Hottest Line' }).waitFor();
    const merge = readFileSync('../examples/sorter/sorter.c', 'utf8').split('\n').findIndex((line) => line.includes('static void merge(')) + 1;
    const line = async (): Promise<number> => Number(/Ln (\d+)/.exec(await page.locator('[id="status.editor.selection"]').innerText())?.[1] ?? 0);
    await eventually(async () => (await line()) > merge && (await line()) < merge + 12, () => 'the cursor on the hottest line');
    await workbench.untilAnnotations((found) => [...found.values()].some(({ text }) => /^\d+% .*overall$/.test(text)), 'what merge is worth');
  });
});
