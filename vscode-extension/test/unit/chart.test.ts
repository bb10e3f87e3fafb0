import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareChart } from '../../src/core/chart';

const colours = { line: '#ffb93c', other: '#9d9d9d', mark: '#ffffff' };

function labels(svg: string): { text: string; y: number }[] {
  return [...svg.matchAll(/<text [^>]*y="([\d.]+)"[^>]*>([^<]*)</g)].map(([, y = '', text = '']) => ({ text, y: Number(y) }));
}

void test('a larger share is higher up', () => {
  const svg = shareChart({ name: 'merge', shares: [0.1, 0.5, 0.6] }, undefined, 1, ['1', '2', '4'], colours);
  const heights = /points="([^"]*)"/.exec(svg)?.[1]?.split(' ').map((point) => Number(point.split(',')[1]));
  assert.ok(heights?.every((height, at) => at === 0 || height < (heights[at - 1] ?? 0)));
});

void test('names that would lie on each other are moved apart, at the top and the bottom, too', () => {
  for (const [own, others] of [
    [[0.4, 0.3], [0.1, 0.3]],
    [[0.1, 0.5], [0.1, 0.48]],
    [[0.5, 0], [0.4, 0.01]],
  ] as const) {
    const [first, second] = labels(shareChart({ name: 'a', shares: own }, { name: 'b', shares: others }, 0, [], colours));
    assert.ok(first && second && Math.abs(first.y - second.y) >= 11, JSON.stringify([first, second]));
  }
});

void test('a single column, equal shares and names with markup are drawn all the same', () => {
  const svg = shareChart({ name: '<f>&', shares: [0] }, undefined, 0, ['1'], colours);
  assert.doesNotMatch(svg, /NaN|Infinity/);
  assert.match(svg, /&#60;f&#62;&#38;/);
});
