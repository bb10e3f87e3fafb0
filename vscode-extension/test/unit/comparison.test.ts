import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textBar } from '../../src/core/bars';
import { changeText, comparisonPage, moves } from '../../src/core/comparison';
import { Weights } from '../../src/core/weights';
import { GetFunctionsResponse, GetLinesResponse } from '../../src/protocol/longpole/v1/lines';
import { file, weights } from './numbers';

function faster(): Weights {
  const result = new Weights();
  const at = (ns: number): object[] => [{ criticalSelfNs: ns, criticalTotalNs: ns }];
  result.add(
    [8],
    GetLinesResponse.create({ totalNs: [300] }),
    GetFunctionsResponse.create({
      totalNs: [300],
      functions: [
        { name: 'merge', file: `/elsewhere${file}`, line: 11, at: at(106) },
        { name: 'fresh<int>', file, line: 90, at: at(50) },
      ],
    }),
  );
  return result;
}

void test('functions move by what they hold back, wherever their file is now', () => {
  assert.deepEqual(moves(weights(), faster(), 8), [
    { name: 'merge', beforeNs: 212, afterNs: 106 },
    { name: 'fresh<int>', beforeNs: 0, afterNs: 50 },
  ]);
  const page = comparisonPage({ name: 'old', weights: weights() }, { name: '<new>', weights: faster() }, [1, 8], 8);
  const text = page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  assert.match(text, /old → &#60;new&#62; −25% on 8 CPUs/);
  assert.match(text, /merge 212 ns 106 ns −50%/);
  assert.match(text, /fresh 0 ns 50 ns new/);
  assert.doesNotMatch(text, /CPUs 1 8/, 'one CPU is not known of both');
  assert.doesNotMatch(page, / style=|<script|<new>/);
});

void test('changes read as changes', () => {
  const rows: [number, number, string][] = [
    [100, 80, '−20%'],
    [100, 105, '+5.0%'],
    [100, 100.01, '0%'],
    [0, 0, '0%'],
    [0, 5, 'new'],
    [5, 0, 'gone'],
  ];
  for (const [before, after, wanted] of rows) {
    assert.equal(changeText(before, after), wanted);
  }
});

void test('a bar is as long as its part, and never nothing for something', () => {
  const rows: [number, string][] = [
    [0, ''],
    [1, '━━━━'],
    [2, '━━━━'],
    [0.5, '━━'],
    [0.62, '━━╸'],
    [0.001, '╸'],
    [-1, ''],
  ];
  for (const [part, wanted] of rows) {
    assert.equal(textBar(part, 4), wanted, String(part));
  }
});
