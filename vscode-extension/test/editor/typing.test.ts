// Typing asks the daemon nothing, in however long a file.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fakeSettings } from './fakes';
import { Workbench } from './workbench';

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

void describe('typing', () => {
  const source = mkdtempSync(join(tmpdir(), 'typing-'));
  let opened: Workbench | undefined;
  after(async () => {
    await opened?.stop();
    rmSync(source, { recursive: true });
  });

  void test('typing in an annotated file of 5,000 lines asks the daemon nothing', async (context) => {
    const recorded = readFileSync('test/editor/fixture/pipeline.c', 'utf8');
    writeFileSync(join(source, 'pipeline.c'), recorded + '// a line of no weight\n'.repeat(5000));
    writeFileSync(join(source, 'run.lptrace'), JSON.stringify({ file: 'pipeline.c', args: [] }));
    const workbench = await Workbench.start({ folder: source, settings: { ...fakeSettings('usual'), 'longpole.cpus': 11 } });
    opened = workbench;
    await workbench.openRecording('run.lptrace');
    await workbench.webview().getByText('1.6× on 11 CPUs', { exact: true }).waitFor();
    await workbench.openFile('pipeline.c');
    await workbench.untilAnnotations((found) => found.size === 2, 'annotations');
    const calls = (): string[] => readFileSync(join(workbench.folder, '..', 'calls'), 'utf8').split('\n');
    // The last question about a recording that was opened is what a machine would take; the sign says that it was answered.
    await workbench.statusItem.locator('.codicon-info').waitFor();
    await workbench.goToLine(1);
    await workbench.page.keyboard.press('Home');
    const before = calls();
    const took: number[] = [];
    for (const letter of '// typed at some speed') {
      const start = performance.now();
      await workbench.page.keyboard.type(letter);
      took.push(performance.now() - start);
    }
    await workbench.page.keyboard.press('Enter');
    // Once the lines below have moved the edit has been taken in.
    await workbench.untilAnnotations((found) => found.get(6) !== undefined, 'line 5 on line 6');
    await workbench.untilAnnotations((found) => found.size === 2, 'both');
    assert.deepEqual(calls(), before, 'the daemon was asked something');
    context.diagnostic(`a key in a file of 5,000 annotated lines: median ${median(took).toFixed(1)} ms, worst ${Math.max(...took).toFixed(1)} ms`);
    await workbench.revertFile();
  });
});
