import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gutterColours, gutterMark, heatStep, heatSteps, palettes } from '../../src/core/palette';
import { darkTheme, lightTheme } from '../../src/core/timeline/theme';

interface Manifest {
  contributes: { colors: { id: string; defaults: Record<Theme, string> }[] };
}
type Theme = 'dark' | 'light' | 'highContrast' | 'highContrastLight';

const backgrounds: Record<Theme, string> = {
  dark: '#1f1f1f',
  light: '#ffffff',
  highContrast: '#000000',
  highContrastLight: '#ffffff',
};

/** Relative luminance, as WCAG defines it. */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

function goesOneWay(numbers: readonly number[], direction: 1 | -1): boolean {
  return numbers.every((number, at) => at === 0 || (number - (numbers[at - 1] ?? 0)) * direction > 0);
}

function themeColours(name: string, theme: Theme): string[] {
  // Tests run in the extension's folder.
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
  return manifest.contributes.colors
    .filter(({ id }) => id.startsWith(`longpole.${name}`))
    .map(({ defaults }) => defaults[theme]);
}

void test('every share has a step, and a larger share never a cooler one', () => {
  const steps = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 1, 4].map(heatStep);
  assert.equal(steps[0], 0);
  assert.equal(steps.at(-1), heatSteps - 1);
  assert.ok(steps.every((step, at) => at === 0 || step >= (steps[at - 1] ?? 0)));
  assert.equal(heatStep(-0.3), heatStep(0.3));
});

void test('luminance goes one way, so that the scale reads without hue', () => {
  assert.ok(goesOneWay(gutterColours.dark.map(luminance), 1));
  assert.ok(goesOneWay(gutterColours.light.map(luminance), -1));
  assert.equal(gutterColours.dark.length, heatSteps);
  assert.equal(gutterColours.light.length, heatSteps);
  for (const [theme, direction] of [['dark', 1], ['light', -1], ['highContrast', 1], ['highContrastLight', -1]] as const) {
    const heat = themeColours('heat', theme);
    assert.equal(heat.length, heatSteps, theme);
    assert.ok(goesOneWay(heat.map(luminance), direction), `${theme}: ${heat.map(luminance).join(' ')}`);
    const gutter = themeColours('gutter', theme);
    assert.equal(gutter.length, heatSteps, theme);
    assert.ok(goesOneWay(gutter.map(luminance), direction), `${theme}: ${gutter.map(luminance).join(' ')}`);
  }
});

void test('text at line ends can be read in every theme', () => {
  for (const theme of ['dark', 'light', 'highContrast', 'highContrastLight'] as const) {
    const least = theme.startsWith('high') ? 7 : 3.8;
    for (const colour of themeColours('heat', theme)) {
      const found = contrast(colour, backgrounds[theme]);
      assert.ok(found >= least, `${theme} ${colour}: ${found.toFixed(2)}`);
    }
  }
});

void test('the images of the gutter have the colours of the theme', () => {
  assert.deepEqual(gutterColours.dark, themeColours('gutter', 'dark'));
  assert.deepEqual(gutterColours.light, themeColours('gutter', 'light'));
});

void test('the gutter mark is an image of its step', () => {
  assert.match(gutterMark(7, 'dark', 'auto'), /^<svg [^]*#ffb93c[^]*<\/svg>$/);
  assert.match(gutterMark(7, 'dark', 'viridis'), /#fde725/);
  assert.notEqual(gutterMark(0, 'light', 'auto'), gutterMark(0, 'dark', 'auto'));
});

void test('each palette goes one way and can be read', () => {
  for (const [name, colours] of Object.entries(palettes)) {
    for (const [theme, direction] of [['dark', 1], ['light', -1]] as const) {
      assert.equal(colours[theme].length, heatSteps, name);
      assert.ok(goesOneWay(colours[theme].map(luminance), direction), `${name} ${theme}`);
      for (const colour of colours[theme]) {
        assert.ok(contrast(colour, backgrounds[theme]) >= 3.8, `${name} ${theme} ${colour}`);
      }
    }
  }
});

void test('a thread that runs is seen in the timeline of every theme, however little it weighs', () => {
  for (const [{ heat }, themes, direction] of [
    [darkTheme, ['dark', 'highContrast'], 1],
    [lightTheme, ['light', 'highContrastLight'], -1],
  ] as const) {
    assert.ok(goesOneWay(heat.map(luminance), direction), heat.join(' '));
    for (const theme of themes) {
      for (const colour of heat) {
        // WCAG 2.1, 1.4.11: what is needed to understand a graphic.
        const found = contrast(colour, backgrounds[theme]);
        assert.ok(found >= 3, `${theme} ${colour}: ${found.toFixed(2)}`);
      }
    }
  }
});
