import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchLines } from '../../src/core/lineDiff';
import { LineMap } from '../../src/core/lineMap';
import { bestCandidate, hasSameFiles, mapPath } from '../../src/core/sourcePaths';

const shown = (before: string, after: string): string =>
  matchLines(before.split(' '), after.split(' ')).map((line) => line ?? '-').join(' ');

void test('lines are found again in another version', () => {
  const rows: [string, string, string][] = [
    ['a b c', 'a b c', '0 1 2'],
    ['a b c', 'x a b c y', '- 0 1 2 -'],
    ['a b c d e', 'a x c y e', '0 - 2 - 4'],
    // A block that was moved is found where it is longest in order.
    ['a b c d e f', 'd e f a b', '3 4 5 - -'],
    // What occurs often is not taken for another of its kind.
    ['f { a } g { b }', 'g { b } h { c }', '4 5 6 - - - - 7'],
    ['} } a } }', '} x }', '0 - 4'],
    ['a', 'b', '-'],
  ];
  for (const [before, after, wanted] of rows) {
    assert.equal(shown(before, after), wanted, `${before} → ${after}`);
  }
  assert.deepEqual(matchLines([], ['a']), [undefined]);
});

void test('matches are equal lines in order, whatever was done to a text', () => {
  let seed = 3;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  for (let round = 0; round < 500; round++) {
    const text = (): string[] => Array.from({ length: random(30) }, () => String(random(1 + random(40))));
    const [before, after] = [text(), text()];
    let last = -1;
    matchLines(before, after).forEach((line, at) => {
      if (line !== undefined) {
        assert.ok(line > last, 'in order');
        assert.equal(before[line], after[at]);
        last = line;
      }
    });
  }
});

void test('an edit that replaces everything, as formatters make it, keeps the lines that it did not change', () => {
  const map = new LineMap(['a', 'b', 'c', 'd']);
  map.apply([{ startLine: 0, startCharacter: 0, endLine: 3, endCharacter: 1, text: 'new\na\n  b\nc\nd' }]);
  assert.deepEqual([0, 1, 2, 3, 4].map((line) => map.recordedLine(line)), [undefined, 0, undefined, 2, 3]);
});

void test('a text of 5,000 lines that was turned around is compared at once', () => {
  const lines = Array.from({ length: 5000 }, (_unused, line) => `line ${line % 4000}`);
  assert.equal(matchLines(lines, [...lines].reverse()).length, 5000);
});

void test('paths of a recording are those of this machine', () => {
  const map = { '/build/src': '/home/me/project', '/build': '/elsewhere/' };
  const rows: [string, string][] = [
    ['/build/src/a.c', '/home/me/project/a.c'],
    ['/build/srcs/a.c', '/elsewhere/srcs/a.c'],
    ['/other/a.c', '/other/a.c'],
  ];
  for (const [path, wanted] of rows) {
    assert.equal(mapPath(path, map), wanted);
  }
  assert.equal(bestCandidate('/build/x/lib/a.c', ['/w/a.c', '/w/lib/a.c', '/w/test/a.c']), '/w/lib/a.c');
  assert.equal(bestCandidate('/build/x/lib/a.c', ['/w/p/lib/a.c', '/w/q/lib/a.c']), undefined);
  assert.equal(bestCandidate('/build/a.c', []), undefined);
});

void test('a run that was changed in a what-if has the files that were recorded; another run may not', () => {
  const recorded = { startedAtUnixNs: 5n, files: [{ path: '/a.c', sha256: 'one', modules: ['/a'] }, { path: '/b.c', sha256: '', modules: [] }] };
  assert.ok(hasSameFiles(recorded, { ...recorded, files: recorded.files.map((file) => ({ ...file, modules: [] })) }));
  assert.ok(!hasSameFiles(recorded, { ...recorded, startedAtUnixNs: 6n }), 'a file whose content is not known may be another one by then');
  assert.ok(!hasSameFiles(recorded, { ...recorded, files: recorded.files.slice(1) }));
  assert.ok(!hasSameFiles(recorded, { ...recorded, files: recorded.files.map((file) => ({ ...file, sha256: 'two' })) }));
  assert.ok(!hasSameFiles(recorded, { ...recorded, files: recorded.files.map((file) => ({ ...file, path: `/other${file.path}` })) }));
});
