import assert from 'node:assert/strict';
import { test } from 'node:test';

import { shortened } from '../../src/core/timeline/shorten';

void test('a name that fits is left alone', () => {
  assert.equal(shortened('', 0), '');
  assert.equal(shortened('worker 12', 9), 'worker 12');
});

void test('a longer one keeps its end, where others like it differ', () => {
  const names = ['[libboost_thread.so.1.74.0+0x1a2b0]', '[libboost_thread.so.1.74.0+0x1a2c8]'].map((name) => shortened(name, 20));
  assert.deepEqual(names, ['[libboost_thr…1a2b0]', '[libboost_thr…1a2c8]']);
});

void test('it shows its beginning alone where there is room for little', () => {
  assert.equal(shortened('compress_block', 8), 'compres…');
  assert.equal(shortened('compress_block', 9), 'compre…ck');
  assert.equal(shortened('compress_block', 1), '…');
  assert.equal(shortened('compress_block', 0), '…');
});

void test('it is never longer than asked for, and no character is cut in two', () => {
  const name = 'a🧵b🧶'.repeat(40);
  for (let most = 1; most < name.length; most++) {
    const shown = shortened(name, most);
    assert.ok(shown.length <= most, `${shown.length} of ${most}`);
    assert.doesNotMatch(shown, /\p{Surrogate}/u, String(most));
  }
});
