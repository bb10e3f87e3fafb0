import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hottestLine, needsLockstep, recordedSentence } from '../../src/core/hottest';
import { Weights } from '../../src/core/weights';
import { GetFunctionsResponse, GetLinesResponse } from '../../src/protocol/longpole/v1/lines';
import { file, weights } from './numbers';

void test('the hottest line is another one at another CPU count', () => {
  assert.deepEqual(hottestLine(weights(), ['/src/none.c', file], 8), { file, line: 12, share: 0.375 });
  assert.deepEqual(hottestLine(weights(), [file], 1), { file, line: 5, share: 0.7 });
  assert.equal(hottestLine(weights(), [], 8), undefined);
});

void test('what came out, in a sentence', () => {
  assert.equal(recordedSentence('sorter', weights(), 8), 'sorter would take 400 ns on 8 CPUs, 2.5× as fast as on one. Hottest: merge, 53%.');
  const slower = { cpus: 8, totalNs: 800, speedup: 1.25, model: 'direct', deadlock: undefined, unlikeShared: true };
  assert.equal(
    recordedSentence('sorter', weights(), 8, slower),
    'sorter would take 400 ns on 8 CPUs, 2.5× as fast as on one. With what wake-ups and switches take: 800 ns, 1.3×. Hottest: merge, 53%.',
  );
  assert.match(recordedSentence('sorter', weights(), 8, slower, [{ code: 'caches' }]), /switches take, and caches save or cost: 800 ns/);
  assert.doesNotMatch(recordedSentence('sorter', weights(), 8, { ...slower, unlikeShared: false }), /wake-ups/);
  assert.equal(recordedSentence('sorter', weights(), 1), 'sorter would take 1.00 µs on one CPU. Hottest: bubble_sort, 70%.');
  assert.equal(recordedSentence('sorter', new Weights(), 8), 'sorter is recorded.');
  assert.equal(recordedSentence('sorter', weights(), 8, undefined, [{ code: 'no-threads-created' }]), 'sorter ran in a single thread: it would take 400 ns on any number of CPUs. Hottest: merge, 53%.');
  const some = weights();
  some.add([2], GetLinesResponse.create({ totalNs: [400], threads: [1] }), GetFunctionsResponse.create({ totalNs: [400] }));
  assert.match(recordedSentence('sorter', some, 8), / Hottest of the shown threads: merge, 53%\.$/);
});

void test('what depends on time on one CPU is told by its notices', () => {
  for (const code of ['spinning', 'work-handed-out', 'work-stolen', 'waiting-loops']) {
    assert.ok(needsLockstep([{ code: 'cut-short' }, { code }]), code);
  }
  assert.ok(!needsLockstep([{ code: 'lockstep' }, { code: 'no-threads-created' }]));
});
