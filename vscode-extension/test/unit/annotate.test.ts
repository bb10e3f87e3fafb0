import assert from 'node:assert/strict';
import { test } from 'node:test';
import { annotateLines, closingLine, functionHeat, type AnnotationOptions } from '../../src/core/annotate';
import { Weights } from '../../src/core/weights';
import { GetFunctionsResponse, GetLinesResponse } from '../../src/protocol/longpole/v1/lines';
import { file, weights } from './numbers';

const usual: AnnotationOptions = { inline: 'percentAndEffect', threshold: 1, maxLines: 200 };

function texts(cpus: number, options: Partial<AnnotationOptions> = {}): Record<number, string> {
  return Object.fromEntries(
    annotateLines(weights(), file, cpus, { ...usual, ...options }).map(({ line, text }) => [line, text.replaceAll('\u00a0', ' ')]),
  );
}

void test('the share stands at the line, and what it means at the heaviest', () => {
  assert.deepEqual(texts(8), {
    3: 'not on the critical path at 8 CPUs',
    12: '38%  · 10% faster → 3.8% overall',
    13: '15%',
  });
});

void test('another CPU count, other lines', () => {
  assert.deepEqual(texts(1), { 5: '70%  · 10% faster → 7.0% overall', 12: '15%', 13: '6.0%' });
});

void test('options', () => {
  assert.deepEqual(texts(1, { inline: 'percent' }), { 5: '70%', 12: '15%', 13: '6.0%' });
  assert.deepEqual(texts(1, { inline: 'percent', maxLines: 2 }), { 5: '70%', 12: '15%' });
  assert.deepEqual(texts(1, { inline: 'none' }), { 5: '', 12: '', 13: '' });
  assert.deepEqual(texts(1, { inline: 'percent', threshold: 10 }), { 5: '70%', 12: '15%' });
  assert.deepEqual(texts(1, { inline: 'percent', threshold: 0 }), { 5: '70%', 12: '15%', 13: '6.0%', 14: '0.2%' });
});

void test('of some threads alone, the heaviest line and a function off their path say so', () => {
  const some = weights();
  some.add([8], GetLinesResponse.create({ totalNs: [400], lines: [{ file, line: 12, function: 'merge', criticalNs: [80] }], threads: [2, 5] }), GetFunctionsResponse.create({ totalNs: [400] }));
  const texts = annotateLines(some, file, 8, usual).map(({ line, text }) => `${line} ${text.replaceAll('\u00a0', ' ')}`);
  assert.deepEqual(texts, ['3 not on the critical path at 8 CPUs in 2 threads', '12 20%  · in 2 threads alone', '13 15%']);
});

void test('a function is not off the path when what it calls is on it', () => {
  const known = weights();
  const at = (criticalTotalNs: number): object => ({ at: [{ criticalSelfNs: 0, criticalTotalNs }] });
  const functions = [{ name: 'main', file, line: 20, selfNs: 500, ...at(300) }, { name: 'idle', file, line: 30, selfNs: 500, ...at(2) }];
  known.add([8], GetLinesResponse.create({ totalNs: [400] }), GetFunctionsResponse.fromPartial({ totalNs: [400], functions }));
  const remarks = annotateLines(known, file, 8, usual).filter(({ share }) => share === 0);
  assert.deepEqual(remarks.map(({ line }) => line), [3, 30]);
});

void test('a file the recording does not know has none', () => {
  assert.deepEqual(annotateLines(weights(), '/src/other.c', 8, usual), []);
});

void test('a negative share is shown as one, without a promise', () => {
  const negative = new Weights();
  negative.add(
    [3],
    GetLinesResponse.create({ totalNs: [300], lines: [{ file, line: 1, function: 's', criticalNs: [-100] }] }),
    GetFunctionsResponse.create({ totalNs: [300] }),
  );
  assert.deepEqual(
    annotateLines(negative, file, 3, usual).map(({ text }) => text),
    ['−33%'],
  );
});

void test('a function ends with its bracket, which may have no code', () => {
  const ends = (text: string, first: number, last: number): number => closingLine((line) => text.split('\n')[line], first, last);
  assert.equal(ends('int f() {\n  for (;;) {\n    g();\n  }\n\n}\n\nint h() {\n}', 0, 2), 5);
  assert.equal(ends('int f() {\n  g();\n}\n}', 0, 2), 2, 'its own has code');
  assert.equal(ends('  int f() {\n    g(); }\n}', 0, 1), 1, 'that of the class is another');
  assert.equal(ends('int f() { g(); }\n}', 0, 0), 0, 'all in one line');
  assert.equal(ends('int f() {\n  g();\n#endif\n}', 0, 1), 1, 'who knows');
  assert.equal(ends('int f() {\n  g();\n', 0, 1), 1, 'the file ends before');
});

void test('functions are hot along all their lines, the hottest drawn last', () => {
  assert.deepEqual(functionHeat(weights(), file, 8, 1), [{ firstLine: 10, lastLine: 16, step: 7 }]);
  assert.deepEqual(
    functionHeat(weights(), file, 1, 1).map(({ firstLine }) => firstLine),
    [10, 3],
  );
});
