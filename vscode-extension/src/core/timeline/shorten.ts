// Names that are longer than their place.

/** Fewer than that show their beginning alone: of what would be left on both sides nobody could tell anything. */
const fewestForBothEnds = 9;

/**
 * The text in at most `most` characters, as JavaScript counts them. It is cut where it tells least, in the middle: names that were
 * made by one program often differ at their ends alone.
 */
export function shortened(text: string, most: number): string {
  if (text.length <= most) {
    return text;
  }
  const kept = Math.max(0, most - 1);
  const tail = most < fewestForBothEnds ? 0 : Math.floor(kept / 3);
  return `${text.slice(0, between(text, kept - tail, -1))}…${text.slice(between(text, text.length - tail, 1))}`;
}

/** A place that is not within a character of two numbers, as an emoji has them: `at`, or its neighbour in that direction. */
function between(text: string, at: number, direction: -1 | 1): number {
  const isWithin = (text.codePointAt(at - 1) ?? 0) > 0xffff;
  return isWithin ? at + direction : at;
}
