// Bars made of characters, for lists that show nothing but text.

/** A bar for a part from 0 to 1 of `width` characters, to half a one; never empty for what is more than nothing. */
export function textBar(part: number, width: number): string {
  const halves = Math.max(part > 0 ? 1 : 0, Math.round(Math.max(0, Math.min(1, part)) * width * 2));
  return '━'.repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? '╸' : '');
}
