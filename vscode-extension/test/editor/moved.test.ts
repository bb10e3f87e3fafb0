// Where the recording's lines are found in sources that are no longer, or not yet again, what was recorded.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { fakeSettings } from './fakes';
import { Workbench } from './workbench';

void describe('a line of the recording', () => {
  const source = mkdtempSync(join(tmpdir(), 'moved-'));
  const outside = mkdtempSync(join(tmpdir(), 'compiled-'));
  let workbench: Workbench;
  before(async () => {
    cpSync('test/editor/fixture', source, { recursive: true });
    const program = 'static int produce(int seed) {\n  for (int i = 0; i < 1000; i++)\n    seed = seed * 31 + i; // ü\n  return seed;\n}\n';
    writeFileSync(join(source, 'latin.c'), Buffer.from(`// Größe\n\n${program}`, 'latin1'));
    writeFileSync(join(source, 'latin.lptrace'), JSON.stringify({ file: 'latin.c', args: [] }));
    writeFileSync(join(source, 'older.c'), 'int nothing;\n');
    writeFileSync(join(source, 'newer.c'), `// newer\n\n${program}`);
    writeFileSync(join(source, 'newer.lptrace'), JSON.stringify({ file: 'older.c', content: 'newer.c', args: [] }));
    cpSync(join(source, 'latin.c'), join(outside, 'latin.c'));
    writeFileSync(join(source, 'copied.lptrace'), JSON.stringify({ file: join(outside, 'latin.c'), args: [] }));
    workbench = await Workbench.start({ folder: source, settings: { ...fakeSettings('usual'), 'files.encoding': 'iso88591' } });
  });
  after(async () => {
    await workbench.stop();
    [source, outside].forEach((folder) => rmSync(folder, { recursive: true }));
  });
  afterEach((context) => workbench.screenshot(context.name));

  const shows = (line: number): Promise<void> => workbench.page.getByText(`Ln ${line}, Col 1`).waitFor();

  void test('is gone to where it stands now', async () => {
    await workbench.openRecording('run.lptrace');
    await workbench.openFile('pipeline.c');
    await workbench.untilAnnotations((found) => found.get(5) !== undefined, 'annotations');
    await workbench.goToLine(1);
    await workbench.page.keyboard.press('Home');
    await workbench.page.keyboard.type('// two\n// more\n');
    await workbench.untilAnnotations((found) => found.get(7) !== undefined, 'line 5 on line 7');
    await workbench.runCommand('Longpole: Go to Hottest Line');
    await shows(7);
    const hover = await workbench.hover(7, 'seed');
    await hover.getByText(/^Line 7/).waitFor();
    await hover.getByText(/, 5 when it was recorded/).waitFor();
    await workbench.page.mouse.move(5, 400);
  });

  void test('is told as a function where that is called, and not where its name is but a word', async () => {
    const hovers = workbench.page.locator('.monaco-hover:not(.hidden) .hover-contents');
    const called = await workbench.hover(17, 'produce');
    await called.getByText('pipeline.c:5').waitFor();
    await workbench.page.mouse.move(5, 400);
    await hovers.first().waitFor({ state: 'detached' }).catch(() => undefined);
    await workbench.goToLine(1);
    await workbench.page.keyboard.press('Home');
    await workbench.page.keyboard.type('// produce(1), ');
    await workbench.untilAnnotations((found) => found.get(7) !== undefined, 'line 7 as before');
    await assert.rejects(workbench.hover(1, 'produce'), /a hover on/);
  });

  void test('that was edited is gone to nearly, and it is said', async () => {
    await workbench.goToLine(7);
    await workbench.page.keyboard.press('Home');
    await workbench.page.keyboard.type('1 + ');
    await workbench.untilAnnotations((found) => found.get(7) === undefined, 'line 7 without a number');
    const hover = await workbench.hover(7, 'seed');
    await hover.getByText('Before that, line 5 had 80% of the critical path at 8 CPUs.').waitFor();
    await workbench.page.mouse.move(5, 400);
    await workbench.runCommand('Longpole: Go to Hottest Line');
    await workbench.page.getByText('That line was edited since it was recorded; the place is near.').waitFor();
    await shows(6);
    await workbench.revertFile();
  });

  void test('is gone to in the copy of the workspace, where what was compiled is outside of it', async () => {
    await workbench.openRecording('copied.lptrace');
    await workbench.runCommand('Longpole: Go to Hottest Line');
    await workbench.page.locator(`.editor-instance .monaco-editor[data-uri$="${workbench.folder}/latin.c"]`).waitFor();
    await shows(5);
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('80%') ?? false, 'line 5');
  });

  void test('keeps its number in a file that is not in UTF-8', async () => {
    await workbench.openRecording('latin.lptrace');
    await workbench.openFile('latin.c');
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('80%') ?? false, 'line 5');
    await workbench.untilStatus('8 CPUs · 1.6×');
  });

  void test('has its number back once the editor has read the recorded version again', async () => {
    await workbench.openRecording('newer.lptrace');
    await workbench.openFile('older.c');
    await workbench.untilStatus('8 CPUs · 1.6× · stale');
    // As a checkout does it: nothing is saved in the editor.
    cpSync(join(workbench.folder, 'newer.c'), join(workbench.folder, 'older.c'));
    await workbench.untilAnnotations((found) => found.get(5)?.text.startsWith('80%') ?? false, 'line 5');
    await workbench.untilStatus('8 CPUs · 1.6×');
  });
});
