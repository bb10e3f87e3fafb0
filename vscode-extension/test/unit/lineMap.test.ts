import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LineMap, type TextChange } from '../../src/core/lineMap';

const recorded = ['zero', 'one', 'two', 'three', '', 'five'];

function change(from: [number, number], to: [number, number], text: string): TextChange {
  return { startLine: from[0], startCharacter: from[1], endLine: to[0], endCharacter: to[1], text };
}

/** The recorded number of every line, with `-` for none. */
function shown(map: LineMap): string {
  return Array.from({ length: map.lineCount }, (_unused, line) => map.recordedLine(line) ?? '-').join(' ');
}

function after(...changes: TextChange[]): string {
  const map = new LineMap(recorded);
  map.apply(changes);
  return shown(map);
}

void test('a text as recorded has all its lines', () => {
  const map = new LineMap(recorded);
  assert.equal(shown(map), '0 1 2 3 4 5');
  assert.ok(map.unchanged);
});

void test('a touched line loses its number and no other does', () => {
  assert.equal(after(change([2, 1], [2, 2], 'W')), '0 1 - 3 4 5');
  assert.equal(after(change([2, 3], [2, 3], ';')), '0 1 - 3 4 5');
  assert.equal(after(change([2, 0], [2, 0], '//')), '0 1 - 3 4 5');
});

void test('lines move with what is inserted or deleted above them', () => {
  assert.equal(after(change([1, 0], [1, 0], 'new\n')), '0 - 1 2 3 4 5', 'before a line');
  assert.equal(after(change([0, 4], [0, 4], '\nnew')), '0 - 1 2 3 4 5', 'after a line');
  assert.equal(after(change([1, 3], [1, 3], '\r\na\r\nb')), '0 1 - - 2 3 4 5', 'with other line ends');
  assert.equal(after(change([1, 0], [3, 0], '')), '0 3 4 5', 'whole lines deleted');
  assert.equal(after(change([0, 4], [2, 3], '')), '0 3 4 5', 'deleted from the end of a line on');
});

void test('a line that is split or joined is touched', () => {
  assert.equal(after(change([3, 2], [3, 2], '\n')), '0 1 2 - - 4 5');
  assert.equal(after(change([2, 3], [3, 0], ' ')), '0 1 - 4 5');
  assert.equal(after(change([1, 2], [3, 2], 'x\ny')), '0 - - 4 5');
  assert.equal(after(change([2, 0], [3, 5], 'x\nthree')), '0 1 - 3 4 5', 'replaced by itself');
  assert.equal(after(change([2, 0], [2, 0], 'two\n')), '0 1 - 2 3 4 5', 'a copy before it');
});

void test('several changes of one edit are all in positions of the text before it', () => {
  assert.equal(after(change([1, 0], [1, 0], 'a\nb\n'), change([3, 0], [3, 1], 'T')), '0 - - 1 2 - 4 5');
  assert.equal(after(change([3, 0], [3, 1], 'T'), change([1, 0], [1, 0], 'a\nb\n')), '0 - - 1 2 - 4 5');
});

void test('an empty line that is doubled stands once', () => {
  const doubled = after(change([4, 0], [4, 0], '\n'));
  assert.equal(doubled.split(' ').filter((line) => line === '4').length, 1);
});

void test('undo brings everything back', () => {
  const map = new LineMap(recorded);
  map.apply([change([2, 0], [2, 3], 'TWO')]);
  map.apply([change([0, 0], [0, 0], 'new\n')]);
  assert.equal(shown(map), '- 0 1 - 3 4 5');
  map.apply([change([0, 0], [1, 0], '')]);
  assert.ok(!map.unchanged);
  map.apply([change([2, 0], [2, 3], 'two')]);
  assert.equal(shown(map), '0 1 2 3 4 5');
  assert.ok(map.unchanged);
});

void test('a text whose edits were not seen keeps what is the same at both ends', () => {
  const map = new LineMap(recorded);
  map.reset(['zero', 'one', 'inserted', 'other', '', 'five']);
  assert.equal(shown(map), '0 1 - - 4 5');
  map.reset(['zero', 'three', '', 'five']);
  assert.equal(shown(map), '0 3 4 5');
  map.reset(recorded);
  assert.ok(map.unchanged);
});

void test('currentLines is recordedLine the other way round', () => {
  const map = new LineMap(recorded);
  map.apply([change([1, 0], [2, 0], 'a\nb\nc\n')]);
  assert.deepEqual([...map.currentLines()], [[0, 0], [2, 4], [3, 5], [4, 6], [5, 7]]);
});

void test('random edits, followed as lines are followed by hand', () => {
  // A unique mark per line tells where it went; a line is whole when its whole text is there.
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  for (let round = 0; round < 300; round++) {
    const original = Array.from({ length: 6 }, (_unused, line) => `<line ${line}>`);
    const map = new LineMap(original);
    let text = original.join('\n');
    for (let edit = 0; edit < 4; edit++) {
      const start = random(text.length + 1);
      const end = start + random(Math.min(20, text.length - start) + 1);
      const inserted = ['', 'x', '\n', 'x\n', '\nx', 'x\ny'][random(6)] ?? '';
      const position = (offset: number): [number, number] => {
        const before = text.slice(0, offset).split('\n');
        return [before.length - 1, before.at(-1)?.length ?? 0];
      };
      map.apply([change(position(start), position(end), inserted)]);
      text = text.slice(0, start) + inserted + text.slice(end);
    }
    const lines = text.split('\n');
    assert.equal(map.lineCount, lines.length);
    lines.forEach((line, at) => {
      const number = map.recordedLine(at);
      if (number !== undefined) {
        assert.equal(line, original[number], `round ${round}`);
      }
    });
    // A line that was cut once and put together again by chance is the only one that may be whole and unknown.
    const whole = lines.filter((line) => original.includes(line)).length;
    assert.ok(map.currentLines().size >= whole - 1, `round ${round}: ${shown(map)} of\n${text}`);
  }
});

void test('a place of the recording is where its line stands now, or the nearest that still stands', () => {
  const map = new LineMap(recorded);
  map.apply([change([0, 0], [0, 0], 'new\nnew\n')]);
  assert.deepEqual(map.placeOf(3), { line: 5, stands: true });
  map.apply([change([5, 0], [5, 1], 'T')]);
  assert.deepEqual(map.placeOf(3), { line: 4, stands: false });
  map.apply([change([4, 0], [6, 0], '')]);
  assert.deepEqual(map.placeOf(3), { line: 4, stands: false }, 'the next one, which has moved up');
  assert.equal(new LineMap([]).placeOf(3), undefined);
});

void test('what stood where a line is by now is known, and where nothing did as well', () => {
  const replaced = (line: number, ...changes: TextChange[]): number[] => {
    const map = new LineMap(recorded);
    map.apply(changes);
    return map.replacedAt(line);
  };
  assert.deepEqual(replaced(2, change([2, 1], [2, 2], 'W')), [2]);
  assert.deepEqual(replaced(2, change([2, 0], [3, 3], 'both')), [2, 3], 'one line in place of two');
  assert.deepEqual(replaced(1, change([1, 0], [1, 0], 'new\n')), [], 'nothing stood there');
  assert.deepEqual(replaced(3, change([2, 1], [2, 2], 'W')), [], 'it stands there');
  assert.deepEqual(replaced(5, change([5, 0], [5, 1], 'F')), [5], 'the last line');
});
