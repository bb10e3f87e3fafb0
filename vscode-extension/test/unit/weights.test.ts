import assert from 'node:assert/strict';
import { test } from 'node:test';
import { functionShare, holderShare, lineShare, waiting, type LineWeight } from '../../src/core/weights';
import { GetFunctionsResponse, GetLinesResponse } from '../../src/protocol/longpole/v1/lines';
import { file, weights } from './numbers';

function line(number: number, from = weights()): LineWeight {
  const found = from.linesOf(file).get(number);
  assert.ok(found);
  return found;
}

void test('the rows of one line add up', () => {
  assert.equal(line(13).selfNs, 60);
  assert.equal(line(13).criticalNs.get(8), 60);
  assert.deepEqual(line(13).functions, ['merge', 'inlined']);
});

void test('shares are of the completion time at the same CPU count', () => {
  const all = weights();
  assert.equal(lineShare(all, line(12, all), 1), 0.15);
  assert.equal(lineShare(all, line(12, all), 8), 0.375);
  assert.equal(lineShare(all, line(12, all), 64), 0, 'a count nobody asked for');
  const [merge] = all.functionsOf(file);
  assert.ok(merge);
  assert.equal(functionShare(all, merge, 8), 0.53);
});

void test('answers for more CPU counts join those that are there', () => {
  const all = weights();
  assert.ok(!all.has(2));
  all.add(
    [2],
    GetLinesResponse.create({
      totalNs: [600],
      lines: [{ file, line: 13, function: 'merge', selfNs: 50, criticalNs: [60] }],
    }),
    GetFunctionsResponse.create({ totalNs: [600] }),
  );
  assert.ok(all.has(2));
  assert.equal(line(13, all).criticalNs.get(2), 60);
  assert.equal(line(13, all).selfNs, 50, 'not added to what was known');
  assert.equal(line(13, all).criticalNs.get(8), 60, 'the earlier answer stays');
});

void test('the heaviest functions depend on the CPU count', () => {
  const names = (cpus: number): string[] => weights().heaviestFunctions(cpus, 1).map(({ name }) => name);
  assert.deepEqual(names(8), ['merge']);
  assert.deepEqual(names(1), ['bubble_sort']);
});

void test('waiting holds the program back like a function, at a CPU count', () => {
  const all = weights([0, 120]);
  const names = (cpus: number): string[] => all.heaviestFirst(cpus).map((holder) => (holder === waiting ? holder : holder.name));
  assert.deepEqual(names(1), ['bubble_sort', 'merge', 'waiting']);
  assert.deepEqual(names(8), ['merge', 'waiting', 'bubble_sort']);
  assert.equal(holderShare(all, waiting, 8), 0.3);
});

void test('an answer without a number for each CPU count is refused', () => {
  const lines = GetLinesResponse.create({ totalNs: [1, 2], lines: [{ file, line: 1, criticalNs: [1] }] });
  const functions = GetFunctionsResponse.create({});
  assert.throws(() => weights().add([1, 2], lines, functions), /1 numbers for line .* 2 CPU counts/);
});
