import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingDescription } from '../../src/core/recordingRow';

void test('what is short stands before the arguments, which the side bar cuts off', () => {
  const row = { isShown: true, ageMs: 3 * 60_000, folder: 'server', command: ['./build/sorter', 'two words', '--rounds=3'] };
  assert.equal(recordingDescription(row), "shown · 3 min ago · server · 'two words' --rounds=3");
  assert.equal(recordingDescription({ ...row, isShown: false, folder: '' }), "3 min ago · 'two words' --rounds=3");
  assert.equal(recordingDescription({ isShown: false, ageMs: 0, folder: '', command: ['./sorter'] }), 'just now');
  assert.equal(recordingDescription({ isShown: false, ageMs: 0, folder: '', command: [] }), 'just now');
});
