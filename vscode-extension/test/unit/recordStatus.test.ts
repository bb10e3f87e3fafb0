import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRecordStatus, progressText } from '../../src/core/recordStatus';

void test('the status of a recording is read while it is written', () => {
  const nothing = { doing: '', events: 0, result: undefined };
  const rows: [string, object][] = [
    ['', nothing],
    ['{"doing":"recor', nothing],
    ['{"doing":"recording","events":7}\n{"doing":"mer', { ...nothing, doing: 'recording', events: 7 }],
    ['{"doing":"merging","events":7}\n{"doing":"running it as it is"}\n', { ...nothing, doing: 'running it as it is', events: 7 }],
    ['{"doing":"merging","events":7}\n{"recording":"a b"}\n', { doing: 'merging', events: 7, result: { recording: 'a b' } }],
    ['{"error":"no"}\n', { ...nothing, result: { error: 'no' } }],
    ['nonsense\n[]\n3\n', nothing],
  ];
  for (const [text, wanted] of rows) {
    assert.deepEqual(parseRecordStatus(text), wanted, text);
  }
});

/** What is said at each line of a status file, one after the other. */
function said(lines: readonly object[], stopped = false): string[] {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`);
  return text.map((_line, last) => progressText(parseRecordStatus(text.slice(0, last + 1).join('')), stopped));
}

void test('events are counted while they are recorded, and never fewer than before', () => {
  const lines = [
    { doing: 'recording', events: 0 },
    { doing: 'recording', events: 12345 },
    // Records were counted until here; several may be one event.
    { doing: 'merging', events: 700 },
    { doing: 'symbolizing', events: 701 },
  ];
  const cancel = 'Cancel stops the program and keeps what was recorded.';
  assert.deepEqual(said(lines), [`recording. ${cancel}`, `recording, 12,345 records. ${cancel}`, 'merging …', 'symbolizing …']);
  assert.deepEqual(said(lines, true), ['', '', 'merging …', 'symbolizing …'], 'that it is being stopped is said already');
  assert.equal(progressText(parseRecordStatus(''), false), '');
});
