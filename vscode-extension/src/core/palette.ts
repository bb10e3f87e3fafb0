// From a share of the critical path to one of eight steps of heat, and the colours of the steps where the theme has no say.
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

/** `auto`: the theme's own colours, longpole.heat1 to longpole.heat8. */
export type PaletteName = 'auto' | 'cividis' | 'viridis' | 'blue' | 'grey';

type Colours = Record<ThemeKind, readonly string[]>;

/** The theme's longpole.gutter1 to longpole.gutter8 as they are by default, coolest first: for where a theme has no say. */
export const gutterColours: Colours = {
  dark: ['#4d4026', '#62502a', '#785f2b', '#90702c', '#a9812d', '#c3922f', '#e0a534', '#ffb93c'],
  light: ['#ecdcb8', '#e4c88d', '#dab265', '#cd9a3f', '#ba8222', '#a36b10', '#895508', '#6e4104'],
};

/**
 * Colours that do not depend on the theme, for those who know a scale by heart or see another one better. Each is a known colour
 * map, brought to a luminance that text can be read at.
 */
export const palettes: Record<Exclude<PaletteName, 'auto'>, Colours> = {
  cividis: {
    dark: ['#7a8193', '#949598', '#aaa698', '#beb590', '#d1c381', '#e2cf6e', '#f1db55', '#fce738'],
    light: ['#7b7145', '#716b51', '#676459', '#5b5c5d', '#4f5460', '#3e4a67', '#213e71', '#0a2f65'],
  },
  viridis: {
    dark: ['#3e88b3', '#32a3b2', '#29b9a7', '#37cc94', '#5cda77', '#90e450', '#c8e82c', '#fde725'],
    light: ['#3a7f3b', '#1e7952', '#147062', '#1b656e', '#265975', '#34487c', '#43327b', '#4a146a'],
  },
  blue: {
    dark: ['#71839a', '#7493b9', '#75a2d8', '#70aff4', '#80baff', '#98c3ff', '#aacdff', '#bad5ff'],
    light: ['#627287', '#556c89', '#486689', '#3b5e86', '#2d5681', '#224c77', '#1a4166', '#113251'],
  },
  grey: {
    dark: ['#818181', '#959595', '#a6a6a6', '#b5b5b5', '#c2c2c2', '#cecece', '#dadada', '#e5e5e5'],
    light: ['#717171', '#6b6b6b', '#646464', '#5c5c5c', '#545454', '#4a4a4a', '#3f3f3f', '#303030'],
  },
};

/** A bar that fills the height of its line, so that the marks of a function's lines join. */
export function gutterMark(step: number, theme: ThemeKind, palette: PaletteName): string {
  const colours = palette === 'auto' ? gutterColours : palettes[palette];
  const colour = colours[theme][Math.max(0, Math.min(heatSteps - 1, step))] ?? '';
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="64" viewBox="0 0 16 64" preserveAspectRatio="none">' +
    `<rect x="11" width="4" height="64" fill="${colour}"/></svg>`
  );
}
