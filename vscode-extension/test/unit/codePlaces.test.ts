import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCalled, isCode } from '../../src/core/codePlaces';

void test('a word in a comment or a literal is no code', () => {
  const text = [
    'mix(a); // mix(b)',
    '/* mix(c)',
    '   mix(d) */ mix(e);',
    'puts("mix(f) \\" mix(g)"); mix(h);',
    "char c = '\"'; mix(i);",
    "long n = 1'000'000; mix(j);",
    'auto r = R"x(mix(k) )" mix(l))x"; mix(m);',
    '// goes on \\',
    'mix(n)',
    'mix(o)',
  ].join('\n');
  const inCode = [...text.matchAll(/mix\((\w)\)/g)].filter(({ index }) => isCode(text, index)).map(([, letter]) => letter);
  assert.equal(inCode.join(''), 'aehijmo');
});

void test('what is not closed goes to the end', () => {
  assert.ok(!isCode('/* mix()', 4));
  assert.ok(!isCode('R"(mix()', 4));
  assert.ok(isCode('"mix\nmix()', 5), 'a string ends with its line');
});

void test('a call has its arguments behind it', () => {
  for (const behind of ['(', ' (a)', '<int>(x)', '<std::less<int>, 3> (x)']) {
    assert.ok(isCalled(behind), behind);
  }
  for (const behind of ['', ' = 3;', ';', ', b)', ' < (a + b)', '.size()', '{1}']) {
    assert.ok(!isCalled(behind), behind);
  }
});
