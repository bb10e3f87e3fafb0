import assert from 'node:assert/strict';
import { test } from 'node:test';
import { leaders, leadSentence, speedupCurve } from '../../src/core/curve';
import { formatAge } from '../../src/core/format';
import { recordingPage, type PageRecording } from '../../src/core/recordingPage';
import { weights } from './numbers';

const now = Date.UTC(2026, 0, 2);
const recording: PageRecording = {
  path: '/r/run.lptrace',
  command: ['./<b>sorter', 'a b'],
  startedAtUnixNs: BigInt(now - 120_000) * 1_000_000n,
  elapsedNs: 1_500_000_000n,
  source: 'kernel',
  sampleHz: 1000,
  events: 12345n,
  threads: 22,
  change: '',
  machine: '',
  scheduler: 'by the scheduler fifo',
  expected: '',
  replacedModel: '',
  shownThreads: '',
  notices: [{ text: 'two & three' }],
};

void test('the page says what ran, how fast it would be, and what leads', () => {
  const page = recordingPage(recording, weights(), 8, [1, 8], now);
  const text = page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  assert.match(text, /&#60;b&#62;sorter 2\.5× on 8 CPUs/);
  assert.match(text, /recorded 2 min ago · ran 1\.50 s · 22 threads · 12,345 events · kernel source, 1,000 samples a second/);
  assert.match(text, /CPUs 1 8 speed-up 1\.0× 2\.5× merge sorter\.c:10 21% 53% bubble_sort sorter\.c:3 70% –/);
  assert.match(text, /It takes 400 ns there, and 1\.00 µs on one CPU, by the scheduler fifo\. (?!On)/);
  assert.match(recordingPage({ ...recording, expected: 'Expect 1× to 2×.' }, weights(), 8, [8], now), /the scheduler fifo\. Expect 1× to 2×\.<\/p>/);
  assert.match(text, /two &#38; three/);
  assert.match(page, /data-file="\/src\/sorter\.c" data-line="10"/);
  // The policy of the page allows neither.
  assert.doesNotMatch(page, /<b>| style=|<script|onclick/);
});

void test('waiting stands among the functions, where its share is', () => {
  const page = recordingPage(recording, weights([0, 120]), 8, [1, 8], now);
  const text = page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  assert.match(text, /merge sorter\.c:10 21% 53% waiting, which no faster code shortens – 30% bubble_sort/);
});

void test('what is not as recorded, and whose part is shown, stands below the name', () => {
  const page = recordingPage({ ...recording, change: 'a faster', machine: 'linux', replacedModel: 'By another.', shownThreads: '1 of 22 threads: <main>' }, weights(), 8, [8], now);
  assert.match(page, /<p class="remark">As if: a faster\. Simulated with linux\. By another\. Of functions the part of 1 of 22 threads: &#60;main&#62;\.<\/p>/);
});

void test('the curve goes through its points and names who leads where', () => {
  const points = [
    { cpus: 1, speedup: 1, leader: 'bubble_sort' },
    { cpus: 2, speedup: 2, leader: 'bubble_sort' },
    { cpus: 4, speedup: undefined, leader: 'merge<&>' },
    { cpus: 8, speedup: 2.5, leader: 'merge<&>' },
  ];
  const svg = speedupCurve(points, 8);
  assert.equal([...svg.matchAll(/<circle/g)].length, 3, 'one that deadlocks has no point');
  assert.match(svg, /class="dot chosen"[^>]*><title>8 CPUs: 2\.5×/);
  assert.match(svg, /1 to 2 CPUs: bubble_sort leads/);
  assert.match(svg, /4 to 8 CPUs: merge&#60;&#38;&#62; leads/);
  assert.deepEqual(leaders(points), [
    { leader: 'bubble_sort', first: 1, last: 2 },
    { leader: 'merge<&>', first: 4, last: 8 },
  ]);
  assert.equal(leadSentence(leaders(points)), 'bubble_sort holds the program back most on 1 to 2 CPUs, merge<&> on 4 and more.');
  const changed = speedupCurve(points, 8, points.map((point) => ({ ...point, speedup: 20 })));
  assert.match(changed, /16×.*32×/, 'the axis reaches as far as the curve');
  assert.doesNotMatch(changed, /leads</);
  const exact = speedupCurve(points, 8, [], [{ leader: 'bubble_sort', first: 1, last: 5 }, { leader: 'merge', first: 6, last: 64 }]);
  assert.match(exact, /1 to 5 CPUs: bubble_sort leads.*6 to 64 CPUs: merge leads/s);
  const numbers = [...svg.matchAll(/="(-?[\d.]+|NaN)"/g)].map((match) => Number(match[1]));
  assert.ok(numbers.every(Number.isFinite));
  assert.ok(speedupCurve([{ cpus: 1, speedup: 1, leader: '' }], 1).includes('<circle'), 'one point is a curve');
});

void test('what is not as it was recorded is said', () => {
  const page = recordingPage({ ...recording, change: 'merge 30% faster', machine: 'linux, latency 5.00 µs' }, weights(), 8, [1, 8], now);
  assert.match(page, /As if: merge 30% faster\. Simulated with linux, latency 5\.00 µs\./);
});

void test('ages are told in the largest unit', () => {
  const rows: [number, string][] = [
    [59_000, 'just now'],
    [-5, 'just now'],
    [60_000, '1 min ago'],
    [59 * 60_000, '59 min ago'],
    [60 * 60_000, '1 hour ago'],
    [47 * 3_600_000, '1 day ago'],
    [48 * 3_600_000, '2 days ago'],
  ];
  for (const [ms, wanted] of rows) {
    assert.equal(formatAge(ms), wanted);
  }
});
