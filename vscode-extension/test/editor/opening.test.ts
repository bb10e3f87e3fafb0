// A recording that is opened is asked about once, however many parts of the window want to know of it.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from './eventually';
import { fakeSettings } from './fakes';
import { Workbench } from './workbench';

void describe('opening a recording', () => {
  const source = mkdtempSync(join(tmpdir(), 'opening-'));
  let workbench: Workbench;
  const callsFile = (): string => join(workbench.folder, '..', 'calls');
  const calls = (): string[] => readFileSync(callsFile(), 'utf8').trim().split('\n');
  before(async () => {
    cpSync('test/editor/fixture', source, { recursive: true });
    // Time enough for somebody else to ask the same.
    writeFileSync(join(source, 'run.lptrace'), JSON.stringify({ file: 'pipeline.c', args: ['--slow'] }));
    workbench = await Workbench.start({ folder: source, settings: { ...fakeSettings('usual'), 'longpole.cpus': 11 } });
  });
  after(async () => {
    await workbench.stop();
    rmSync(source, { recursive: true });
  });

  /** Once all questions about what was opened are answered. */
  const untilAnswered = async (): Promise<void> => {
    await workbench.webview().getByText('1.6× on 11 CPUs', { exact: true }).waitFor();
    // The last is what a machine would take, and the sign says that it is there.
    await workbench.statusItem.locator('.codicon-info').waitFor();
    await workbench.webview().getByText('On a real machine with 11 CPUs, expect between').waitFor();
    await eventually(() => Promise.resolve(calls().some((line) => line.startsWith('GetLeads'))), () => `who leads: ${calls().join(', ')}`);
  };
  const assertEachOnce = (): void => {
    const all = calls();
    const asked = all.flatMap((line) => {
      const [method = '', cpus = ''] = line.split(' ');
      return cpus.split(',').map((count) => `${method} ${count}`);
    });
    for (const method of ['OpenRecording', 'GetLines', 'GetFunctions', 'GetLeads']) {
      const questions = asked.filter((question) => question.startsWith(`${method} `));
      assert.ok(questions.length > 0, method);
      assert.deepEqual(questions, [...new Set(questions)], `asked more than once:\n${all.join('\n')}`);
    }
    // Predictions come with lines; one more is what a machine would take, and one between which speed-ups a real one would be.
    const of = (method: string): number => all.filter((line) => line.startsWith(`${method} `)).length;
    assert.equal(of('Predict'), of('GetLines') + 2, all.join('\n'));
  };

  void test('by a double click, each number is asked for once', async () => {
    await workbench.openRecording('run.lptrace');
    await untilAnswered();
    assertEachOnce();
  });

  void test('by a window that comes up with its page in front, each number is asked for once', async () => {
    await workbench.untilPageIsKept();
    writeFileSync(callsFile(), '');
    await workbench.page.reload();
    await workbench.page.locator('.monaco-workbench').waitFor();
    await untilAnswered();
    assertEachOnce();
  });
});
