import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countWords, filterWords, readFilter } from '../../src/core/threadFilter';

void test('a choice of threads in words, however many they are', () => {
  assert.equal(filterWords({ names: ['main'], functions: [] }), 'main');
  assert.equal(filterWords({ names: ['main', 'consumer'], functions: ['ns::produce(int)'] }), 'main, consumer and all that run produce');
  assert.equal(filterWords({ names: ['a', 'b', 'c', 'd'], functions: ['f'] }), 'a, b and 3 others');
});

void test('how many they are', () => {
  assert.equal(countWords({ places: [0, 4], total: 9 }), '2 of 9 threads');
  assert.equal(countWords({ places: [0], total: 1 }), '1 of 1 thread');
});

void test('what was kept is a choice, or none', () => {
  assert.deepEqual(readFilter({ names: ['main'], functions: ['work'] }), { names: ['main'], functions: ['work'] });
  assert.deepEqual(readFilter({ names: ['main', 3] }), { names: ['main'], functions: [] });
  for (const nothing of [undefined, null, 'main', {}, { names: [], functions: [] }]) {
    assert.equal(readFilter(nothing), undefined);
  }
});
