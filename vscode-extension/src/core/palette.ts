// From a share of the critical path to one of eight steps of heat, and the colours of the steps where the theme has no
// say: in the images of the gutter.
//
// One hue, and luminance that goes one way, so that nothing is told by hue alone: the scale reads the same for every
// kind of colour vision, and in grey.

export const heatSteps = 8;

/** The least share of each step but the first. Finer below, where most lines are. */
const stepStarts: readonly number[] = [0.02, 0.04, 0.08, 0.14, 0.22, 0.34, 0.5];

/** The step of a share, from 0 (coolest) to 7. Negative shares are as hot as positive ones. */
export function heatStep(share: number): number {
  const size = Math.abs(share);
  return stepStarts.filter((start) => size >= start).length;
}

export type ThemeKind = 'light' | 'dark';

/** The colours of the gutter's marks, coolest first. The tests check that their luminance goes one way. */
export const gutterColours: Record<ThemeKind, readonly string[]> = {
  dark: ['#4d4026', '#62502a', '#785f2b', '#90702c', '#a9812d', '#c3922f', '#e0a534', '#ffb93c'],
  light: ['#ecdcb8', '#e4c88d', '#dab265', '#cd9a3f', '#ba8222', '#a36b10', '#895508', '#6e4104'],
};

/** A bar that fills the height of its line, so that the marks of a function's lines join. */
export function gutterMark(step: number, theme: ThemeKind): string {
  const colour = gutterColours[theme][Math.max(0, Math.min(heatSteps - 1, step))] ?? '';
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="64" viewBox="0 0 16 64" preserveAspectRatio="none">' +
    `<rect x="11" width="4" height="64" fill="${colour}"/></svg>`
  );
}
