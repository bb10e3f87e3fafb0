// Which lines of one text are which of another, by patience: lines that occur once in both are paired, as many as stay in
// order, and what lies between is treated alike. Lines that occur often, braces and blanks, are paired only where
// they adjoin a pair, so that none is taken for another.

/** For each line of `after`, the line of `before` that it is; undefined where there is none. */
export function matchLines(before: readonly string[], after: readonly string[]): (number | undefined)[] {
  const matches = new Array<number | undefined>(after.length).fill(undefined);
  // Ranges are half open; the stack replaces a recursion that could be as deep as the text is long.
  const ranges = [{ b0: 0, b1: before.length, a0: 0, a1: after.length }];
  for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
    let { b0, b1, a0, a1 } = range;
    while (b0 < b1 && a0 < a1 && before[b0] === after[a0]) {
      matches[a0++] = b0++;
    }
    while (b0 < b1 && a0 < a1 && before[b1 - 1] === after[a1 - 1]) {
      matches[--a1] = --b1;
    }
    if (b0 === b1 || a0 === a1) {
      continue;
    }
    const anchors = longestIncreasing(uniquePairs(before, b0, b1, after, a0, a1));
    let [b, a] = [b0, a0];
    for (const [anchorBefore, anchorAfter] of anchors) {
      matches[anchorAfter] = anchorBefore;
      ranges.push({ b0: b, b1: anchorBefore, a0: a, a1: anchorAfter });
      [b, a] = [anchorBefore + 1, anchorAfter + 1];
    }
    if (anchors.length > 0) {
      ranges.push({ b0: b, b1, a0: a, a1 });
    }
  }
  return matches;
}

type Pair = readonly [before: number, after: number];

/** Lines that occur once in either range, in the order of `after`. */
function uniquePairs(
  before: readonly string[],
  b0: number,
  b1: number,
  after: readonly string[],
  a0: number,
  a1: number,
): Pair[] {
  const placesBefore = places(before, b0, b1);
  const pairs: Pair[] = [];
  for (const [line, place] of places(after, a0, a1)) {
    const other = placesBefore.get(line);
    if (place >= 0 && other !== undefined && other >= 0) {
      pairs.push([other, place]);
    }
  }
  return pairs.sort((x, y) => x[1] - y[1]);
}

/** Where each line stands; −1 for one that occurs more than once. */
function places(lines: readonly string[], from: number, to: number): Map<string, number> {
  const found = new Map<string, number>();
  for (let at = from; at < to; at++) {
    const line = lines[at] ?? '';
    found.set(line, found.has(line) ? -1 : at);
  }
  return found;
}

/** The longest subsequence whose first numbers ascend. */
function longestIncreasing(pairs: readonly Pair[]): Pair[] {
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  pairs.forEach(([value], at) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[0] ?? 0) < value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    previous[at] = low > 0 ? ends[low - 1] : undefined;
    ends[low] = at;
  });
  const result: Pair[] = [];
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) {
    const pair = pairs[at];
    if (pair !== undefined) {
      result.push(pair);
    }
  }
  return result.reverse();
}
