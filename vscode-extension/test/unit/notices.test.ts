import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endedBySignal, noticeText } from '../../src/core/notices';

void test('an editor has no options of the command line', () => {
  const notices = [
    'The program created no thread with pthread_create. If programs that it starts do, record with --follow.',
    'The program replaced itself by build/main (exec); record that one directly, or with --follow.',
    'It spins. Record with --lockstep N to have it as on N CPUs.',
  ];
  for (const text of notices) {
    assert.doesNotMatch(noticeText(text), /--/);
  }
  assert.match(noticeText(notices[0] ?? ''), /record that one \(Longpole: Record Another Program…\)\.$/);
  assert.equal(noticeText('2 samples were lost'), '2 samples were lost');
});

void test('a program that was ended by a signal has its name', () => {
  assert.equal(endedBySignal('crash', 'The program was ended by a signal (Segmentation fault).'), 'crash was ended by a signal (Segmentation fault).');
  assert.equal(endedBySignal('crash', ''), '');
});
