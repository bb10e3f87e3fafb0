// What is drawn above and around the rows: titles, overview, parallelism graph, an interval that is marked.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { intervalDetails, intervalTitle } from '../../src/core/timeline/details';
import { drawTimeline } from '../../src/core/timeline/draw';
import { heightOf } from '../../src/core/timeline/drawGraphs';
import { graphText, levelText } from '../../src/core/timeline/graphText';
import { hitTest } from '../../src/core/timeline/hit';
import { layOut } from '../../src/core/timeline/layout';
import { xOf } from '../../src/core/timeline/scale';
import type { Scene } from '../../src/core/timeline/scene';
import { darkTheme } from '../../src/core/timeline/theme';
import { data, Recorder, scene } from './timelineScenes';

function drawn(picture: Scene): Recorder {
  const recorder = new Recorder();
  drawTimeline(recorder, picture, darkTheme);
  return recorder;
}

/** On two CPUs above, and on one below, which takes longer; in a panel as low as one begins. */
function comparison(more: Partial<Scene> = {}): Scene {
  const [above, below] = [data(2), data(1)];
  const lanes = [scene(above, {}, { title: 'fast, 2 CPUs, linux, no thread bound' }), scene(below, {}, { title: '1 CPU, linux', cpus: 1 })].flatMap((each) => each.lanes);
  const layout = layOut({ width: 830, height: 208, lanes: lanes.map(({ threads }) => ({ rows: threads.length, scroll: 0 })) });
  return { ...scene(above), layout, lanes, view: below.view, ...more };
}

void describe('two runs', () => {
  void test('each has its whole title and its time, in a strip of its own', () => {
    const picture = comparison();
    const { texts } = drawn(picture);
    const titles = texts.filter(({ text }) => text.includes(' CPU'));
    assert.deepEqual(titles.map(({ text }) => text), ['fast, 2 CPUs, linux, no thread bound · 670 ms', '1 CPU, linux · 970 ms']);
    picture.layout.lanes.forEach(({ title, graph, rows, rowHeight }, index) => {
      const text = titles[index];
      assert.ok(text && text.y > title.y && text.y < title.y + title.height && (text.longest ?? 0) > 800);
      assert.ok(title.y + title.height <= graph.y && graph.y + graph.height <= rows.y);
      assert.ok(rows.height >= rowHeight, 'a low panel still has rows');
      assert.ok(rows.y + rows.height <= (picture.layout.lanes[index + 1]?.title.y ?? picture.layout.axis.y));
    });
    assert.equal(scene(data(2)).layout.lanes[0]?.title.height, 0, 'one run needs no title');
  });

  void test('the overview is of the longer one, and the frame in it is where the view is', () => {
    const late = { fromNs: 776e6, toNs: 970e6 };
    const picture = comparison({ view: late });
    const { overview } = picture.layout;
    const frame = drawn(picture).shapes.find(({ points, fill }) => fill === undefined && points[1] === overview.y)?.points;
    assert.ok(frame);
    const [left = 0, , right = 0] = frame;
    assert.ok(Math.abs(left - (overview.x + overview.width * 0.8)) < 0.01, `${left} of ${overview.x} and ${overview.width}`);
    assert.ok(Math.abs(right - (overview.x + overview.width)) < 0.01);
  });
});

void test('the line of the CPUs is there however few threads run, and where it would be is told', () => {
  const shown = data(8, 300e6, 330e6);
  for (const [cpus, mark] of [
    [8, '8'],
    [64, '↑64'],
  ] as const) {
    const picture = scene(shown, {}, { cpus });
    const { stroked, texts } = drawn(picture);
    const graph = picture.layout.lanes[0]?.graph;
    assert.ok(graph);
    const line = stroked.find(({ stroke }) => stroke.colour === darkTheme.quiet && stroke.dash?.[1] === 4);
    assert.equal(line !== undefined, cpus === 8);
    assert.ok(line === undefined || (line.segments[1] ?? 0) >= graph.y);
    // However many digits it has, it is not cut.
    assert.ok(texts.some(({ text, x, longest }) => text === mark && x > graph.x + graph.width && longest === undefined), mark);
  }
});

void test('what is said of a place in the graph, and of a bar beside it', () => {
  const shown = data(2);
  const picture = scene(shown);
  const graph = picture.layout.lanes[0]?.graph;
  assert.ok(graph);
  const x = picture.layout.plotX + xOf(150e6, picture.view, picture.layout.plotWidth);
  const hit = hitTest(picture, x, graph.y + 5);
  assert.ok(hit.kind === 'graph' && hit.lane === 0 && Math.abs(hit.timeNs - 150e6) < 1);
  assert.equal(graphText(shown, hit.timeNs, shown.view), '150 ms · 2 running · 2 waiting for a CPU');
  assert.equal(graphText(shown, 1e12, shown.view), '', 'behind the end there is nothing');
  // Where it changes within a pixel, the mean and between what.
  const parallelism = {
    ...{ meanRunning: Float32Array.of(1.5), leastRunning: Uint32Array.of(1), mostRunning: Uint32Array.of(2) },
    ...{ meanRunnable: Float32Array.of(0.25), leastRunnable: Uint32Array.of(0), mostRunnable: Uint32Array.of(3) },
  };
  const summed = graphText({ ...shown, pixels: 1, parallelism }, 200e6, shown.view);
  assert.equal(summed, '200 ms · 1.5 (1 to 2) running · 0.3 (0 to 3) waiting for a CPU');
  const level = (above: number): number | undefined => {
    const beside = hitTest(picture, graph.x - 20, graph.y + graph.height - above);
    return beside.kind === 'level' ? beside.level : undefined;
  };
  const unit = graph.height / heightOf({ cpus: 2, data: shown }).top;
  assert.deepEqual([level(0), level(unit / 2), level(unit * 2.5)], [0, 1, 3]);
  const levels = [
    { running: 2, runnable: 0, timeNs: 500e6 },
    { running: 2, runnable: 1, timeNs: 250e6 },
    { running: 1, runnable: 0, timeNs: 250e6 },
  ];
  const timed = { ...shown, levels };
  assert.equal(levelText(timed, 3, 2), '3 threads run or could: 25% · 250 ms, oversubscribed');
  assert.equal(levelText(timed, 2, 2), '2 threads run or could: 50% · 500 ms, parallel');
  assert.equal(levelText(timed, 2, 4), '2 threads run or could: 50% · 500 ms, undersubscribed');
  assert.equal(levelText(timed, 1, 4), '1 thread runs or could: 25% · 250 ms, serial');
  assert.equal(levelText(timed, 7, 4), '', 'no bar, no words');
});

void test('what an interval is used for is told of as much of it as the run takes', () => {
  const classes = { idle: 0, serial: 10e6, undersubscribed: 0, parallel: 30e6, oversubscribed: 0 };
  const run = { ...data(2), totalNs: 40e6, classes };
  const told = (fromNs: number, toNs: number): string[] => intervalDetails(run, { fromNs, toNs }).map(({ label, text }) => `${label} ${text}`);
  assert.deepEqual(told(0, 40e6), ['serial 25% · 10.0 ms', 'parallel 75% · 30.0 ms']);
  assert.deepEqual(told(0, 100e6), told(0, 40e6), 'a longer run is beside it');
  // The picture has moved, and what is in it is not known yet.
  assert.deepEqual(told(20e6, 40e6), ['serial 25% · 5.00 ms', 'parallel 75% · 15.0 ms']);
  assert.deepEqual(told(50e6, 100e6), [], 'the run has ended');
  const title = (fromNs: number, toNs: number): string => intervalTitle({ fromNs, toNs }, run.totalNs);
  assert.equal(title(10e6, 30e6), '10.0 ms – 30.0 ms');
  assert.equal(title(10e6, 100e6), '10.0 ms – 40.0 ms', 'it says so');
  assert.equal(title(50e6, 100e6), 'ended at 40.0 ms');
});

void test('a time stands right of its line, and left of it only where it would be cut off', () => {
  for (const [toNs, beside] of [
    [620e6, 3],
    [600e6, 0],
  ] as const) {
    const picture = scene(data(2), { view: { fromNs: 0, toNs } });
    const label = drawn(picture).texts.find(({ text, y }) => text === '600 ms' && y > picture.layout.axis.y);
    const x = picture.layout.plotX + xOf(600e6, picture.view, picture.layout.plotWidth);
    assert.ok(label !== undefined && Math.abs(label.x - x - beside) < 0.01, `${label?.x} beside ${x}`);
  }
});

void test('the critical path crosses the rows only where there is room for it', () => {
  const shown = data(2);
  const crossing = (count: number, lengthNs = 200e6): number[] => {
    const startNs = Float64Array.from({ length: count }, (_unused, at) => 100e6 + at * (lengthNs / count));
    const path = { thread: Uint32Array.from(startNs, (_ns, at) => 2 + (at % 2)), startNs, endNs: startNs.slice(1), parts: new Uint32Array(count), arrival: new Uint8Array(count) };
    const { filled } = drawn(scene({ ...shown, path: { ...path, endNs: Float64Array.from(startNs, (ns) => ns + lengthNs / count) } }));
    const parts = filled.filter(({ colour }) => colour === darkTheme.path).map(({ xywh }) => xywh);
    return parts.filter(([, , , height = 0]) => height > 10).map(([, , width = 0]) => width);
  };
  assert.ok(crossing(6).length === 5 && crossing(6).every((width) => width > 2));
  assert.deepEqual(crossing(200), []);
  assert.deepEqual(crossing(60), [], 'some pixels apart');
  assert.equal(crossing(5, 4e6).length, 4, 'some in one place');
});

void test('an interval that is marked is seen as it is, what is around it through a veil; its length is told', () => {
  const picture = scene(data(2), { marked: { fromNs: 100e6, toNs: 200e6 } });
  const { filled, texts } = drawn(picture);
  const { plotX, plotWidth } = picture.layout;
  const x = (ns: number): number => plotX + xOf(ns, picture.view, plotWidth);
  const veils = filled.filter(({ texture }) => texture === 'veil').map(({ xywh: [left = 0, , width = 0] }) => [left, left + width]);
  assert.deepEqual(veils, [
    [plotX, x(100e6)],
    [x(200e6), plotX + plotWidth],
  ]);
  assert.ok(texts.some(({ text }) => text === '100 ms'));
  // Of one that has no end yet, there is its beginning.
  const begun = drawn({ ...picture, marked: { fromNs: 100e6, toNs: 100e6 } });
  assert.ok(!begun.filled.some(({ texture }) => texture === 'veil'), 'all can be looked at for its end');
  assert.ok(begun.stroked.some(({ segments: [left] }) => left === x(100e6)));
});

void test('the sign of a call where the run begins or ends is whole', () => {
  const picture = scene(data(2));
  const signs = drawn(picture).shapes.filter(({ fill, clip }) => fill !== undefined && clip.length > 0);
  assert.ok(signs.length > 5);
  const { plotX, plotWidth } = picture.layout;
  const edge = signs.filter(({ points }) => points.some((x, at) => at % 2 === 0 && (x < plotX || x > plotX + plotWidth)));
  assert.ok(edge.length > 0, 'the program ends with a call');
  for (const { points, clip } of edge) {
    points.forEach((at, index) => assert.ok(index % 2 === 1 || (at >= (clip[0] ?? 0) && at <= (clip[0] ?? 0) + (clip[2] ?? 0))));
  }
});

void test('a turn of a CPU tells whose it is where there is room, and no part of a short name where there is not', () => {
  const named = (toNs: number): string[] => {
    const rows = scene(data(2), { rowsAre: 'cpus', view: { fromNs: 0, toNs } });
    const first = rows.layout.lanes[0]?.rows.y ?? 0;
    return drawn(rows).texts.filter(({ x, y }) => x > rows.layout.plotX && y > first && y < rows.layout.axis.y).map(({ text }) => text);
  };
  assert.ok(named(670e6).includes('producer 2'));
  // Of its 200 ms, 46 pixels are left.
  assert.ok(!named(4e9).includes('producer 2'));
});
