import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesWords, programChange, shortLabel, speedChange, withChange, type Change } from '../../src/core/whatIf';
import { headline, resultPage } from '../../src/core/whatIfResult';

const merge = speedChange('function:Sorter::merge(List&)', 'Sorter::merge(List&)');
const all: Change[] = [merge, { kind: 'freed', object: 'listSem' }, { kind: 'split', object: 'pool', into: 4 }];

void test('changes are said in words and asked in the daemon’s', () => {
  assert.equal(changesWords(all), 'merge 30% faster, nobody waits for listSem, pool split into 4');
  assert.deepEqual(programChange(all), {
    speeds: [{ part: 'function:Sorter::merge(List&)', percent: 30, withCallees: false, curve: false }],
    splits: [{ lock: 'pool', into: 4 }],
    freed: ['listSem'],
  });
  assert.equal(changesWords([{ ...merge, percent: 0 } as Change]), '', 'no per cent is no change');
  assert.deepEqual(programChange([{ ...merge, percent: 0 } as Change]).speeds, []);
});

void test('a change about the same thing takes the place of the one before', () => {
  const faster = { ...merge, percent: 60 } as Change;
  assert.deepEqual(withChange(all, faster), [faster, ...all.slice(1)]);
  assert.equal(withChange(all, speedChange('line:/a.c:7', 'a.c:7')).length, 4);
});

void test('labels are short', () => {
  const rows: [string, string][] = [
    ['std::vector<int>::push_back(int&&)', 'push_back'],
    ['sorter.c:114', 'sorter.c:114'],
    ['merge 1', 'merge 1'],
    ['while list is held', 'while list is held'],
  ];
  for (const [label, short] of rows) {
    assert.equal(shortLabel(label), short);
  }
});

void test('the result names its count, and marks what got worse or stands still', () => {
  const results = [
    { cpus: 1, beforeNs: 1000, afterNs: 900, deadlock: false },
    { cpus: 8, beforeNs: 400, afterNs: 300, deadlock: false },
    { cpus: 16, beforeNs: 400, afterNs: 440, deadlock: false },
    { cpus: 64, beforeNs: 400, afterNs: 0, deadlock: true },
  ];
  assert.equal(headline(results, 8), '25% less time at 8 CPUs: 400 ns → 300 ns');
  assert.equal(headline(results, 16), '10% more time at 16 CPUs: 400 ns → 440 ns');
  assert.equal(headline(results, 64), 'Changed so, the program deadlocks at 64 CPUs.');
  assert.equal(headline(results, 3), '10% less time at 1 CPU: 1.00 µs → 900 ns');
  assert.equal(headline([], 8), '');
  const page = resultPage(results, [1, 8, 16, 64], 8);
  assert.match(page, /<tr class="chosen"><th scope="row"><button data-cpus="8" aria-pressed="true"/);
  assert.match(page, /worse/);
  assert.doesNotMatch(page, / style=|<script|onclick/);
});

void test('speed-ups before and after are against the recorded program on one CPU, in the table and in the curve', () => {
  const results = [
    { cpus: 1, beforeNs: 1000, afterNs: 500, deadlock: false },
    { cpus: 3, beforeNs: 500, afterNs: 200, deadlock: false },
    { cpus: 8, beforeNs: 400, afterNs: 100, deadlock: false },
    { cpus: 64, beforeNs: 400, afterNs: 0, deadlock: true },
  ];
  const page = resultPage(results, [1, 8, 64], 8);
  const [table = '', curve = ''] = page.split('<h2>');
  const rows = [...table.matchAll(/<tr[^>]*><th scope="row">.*?<\/tr>/g)].map(([row]) => row.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim());
  assert.deepEqual(rows, ['1 1.00 µs 500 ns −50% 1.0× 2.0×', '8 400 ns 100 ns −75% 2.5× 10×', '64 400 ns deadlock 2.5×']);
  assert.deepEqual([...curve.matchAll(/<title>(.*?)<\/title>/g)].map(([, title]) => title), ['1 CPU: 2.0×', '3 CPUs: 5.0×', '8 CPUs: 10×']);
  assert.match(curve, /against that program on one CPU/);
});
