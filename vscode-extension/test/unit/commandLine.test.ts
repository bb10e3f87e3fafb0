import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCommandLine, parseCommandLine } from '../../src/core/commandLine';

function words(text: string): readonly string[] {
  const parsed = parseCommandLine(text);
  assert.ok('words' in parsed, `${text}: ${JSON.stringify(parsed)}`);
  return parsed.words;
}

void test('words are split as a shell splits them', () => {
  assert.deepEqual(words('build/sorter numbers.txt'), ['build/sorter', 'numbers.txt']);
  assert.deepEqual(words("  a\t'b c'  \"d \\\" e\" f\\ g "), ['a', 'b c', 'd " e', 'f g']);
  assert.deepEqual(words('a "" \'\''), ['a', '', '']);
  assert.deepEqual(words('a b"c d"e\'f g\''), ['a', 'bc def g']);
  assert.deepEqual(words('a "\\n" \'\\n\' \\n'), ['a', '\\n', '\\n', 'n']);
  assert.deepEqual(words('echo $HOME *.c | wc'), ['echo', '$HOME', '*.c', '|', 'wc'], 'it is no shell');
});

void test('what cannot be a command says why', () => {
  const problem = (text: string): string => {
    const parsed = parseCommandLine(text);
    return 'problem' in parsed ? parsed.problem : 'none';
  };
  assert.match(problem(''), /Name a program/);
  assert.match(problem('   '), /Name a program/);
  assert.match(problem('"" x'), /Name a program/);
  assert.match(problem("a 'b"), /' is not closed/);
  assert.match(problem('a "b'), /" is not closed/);
  assert.match(problem('a \\'), /backslash/);
});

void test('formatted words are split into the same words', () => {
  for (const list of [['a'], ['a', ''], ['a b', "it's", '"', '\\', '$x', '*', 'ü', 'a\nb'], ['./x-1.2_3', '--n=4']]) {
    assert.deepEqual(words(formatCommandLine(list)), list);
  }
  assert.equal(formatCommandLine(['./sorter', '-n=4', 'a b']), "./sorter -n=4 'a b'");
});
