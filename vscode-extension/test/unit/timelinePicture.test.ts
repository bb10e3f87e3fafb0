// The calls in the rows, and a picture that is saved.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { crowdText } from '../../src/core/timeline/details';
import { drawTimeline } from '../../src/core/timeline/draw';
import { signSizes } from '../../src/core/timeline/drawCalls';
import { layOut, rowMiddle } from '../../src/core/timeline/layout';
import { colouringOf, legendOf } from '../../src/core/timeline/legend';
import type { Counts, Events, Row, TimelineData } from '../../src/core/timeline/model';
import { pictureOf } from '../../src/core/timeline/picture';
import type { Scene } from '../../src/core/timeline/scene';
import { SvgSurface } from '../../src/core/timeline/svgSurface';
import { darkTheme, lightTheme } from '../../src/core/timeline/theme';
import { hostileName } from '../fake-daemon/fakeTimeline';
import { data, Recorder, scene } from './timelineScenes';

/** The run, with a thread that makes these calls and these that are counted. */
function calling(timeNs: readonly number[], counts: Partial<Counts> = {}): TimelineData {
  const shown = data(2);
  const zeros = new Uint32Array(timeNs.length);
  const kind = new Uint8Array(timeNs.length).fill(shown.eventKinds.indexOf('post'));
  const events: Events = { event: zeros, timeNs: Float64Array.from(timeNs), kind, object: zeros, place: zeros };
  const none: Counts = { cell: new Uint32Array(), kind: new Uint8Array(), count: new Uint32Array() };
  return { ...shown, rows: shown.rows.map((row) => (row.thread === 2 ? { ...row, events, counts: { ...none, ...counts } } : { ...row, events: { ...events, timeNs: new Float64Array() }, counts: none })) };
}

/** The signs in the row of the thread, as their tops and bottoms below its middle, and the strips likewise. */
function inRow(picture: Scene): { signs: number[][]; strips: number[][]; texts: string[]; half: number } {
  const recorder = new Recorder();
  drawTimeline(recorder, picture, darkTheme);
  const lane = picture.layout.lanes[0];
  assert.ok(lane);
  const middle = rowMiddle(lane, 2);
  const colour = darkTheme.hues.semaphore;
  const signs = recorder.shapes.filter(({ fill }) => fill === colour).map(({ points }) => points.filter((_at, index) => index % 2 === 1).map((y) => y - middle));
  const strips = recorder.filled.filter((each) => each.colour === colour).map(({ xywh: [, y = 0, , height = 0] }) => [y - middle, y + height - middle]);
  return { signs, strips, texts: recorder.texts.map(({ text }) => text), half: Math.round(lane.rowHeight * 0.52) / 2 };
}

void describe('calls', () => {
  void test('that stand alone or in pairs have large signs; those that crowd small ones; those that would lie on another one none', () => {
    assert.deepEqual(signSizes([0, 50, 55, 200]), ['large', 'large', 'large', 'large']);
    assert.deepEqual(signSizes([0, 8, 16, 100]), ['small', 'small', 'small', 'large']);
    assert.deepEqual(signSizes([0, 1, 2, 7, 8]), ['small', 'none', 'none', 'small', 'none']);
    assert.deepEqual(signSizes([]), []);
  });

  void test('leave the bars to be seen where they crowd, and it is told how many have no sign', () => {
    const few = inRow(scene(calling([100e6, 300e6])));
    assert.equal(few.signs.length, 2);
    assert.ok(few.texts.every((text) => !text.endsWith(' calls')), 'all have one');
    const many = inRow(scene(calling(Array.from({ length: 400 }, (_unused, at) => 100e6 + at * 0.5e6))));
    assert.ok(many.signs.length > 20 && many.signs.length < 100, String(many.signs.length));
    assert.ok(many.signs.flat().every((y) => Math.abs(y) >= many.half - 0.01), 'none reaches into the bar');
    assert.ok(many.texts.includes(`${many.signs.length} of 400 calls`), many.texts.join());
  });

  void test('that are only counted are a strip above the bar, within the row, and count as calls without a sign', () => {
    const counts = { cell: Uint32Array.of(30, 30), kind: Uint8Array.of(1, 2), count: Uint32Array.of(1_000_000, 7) };
    const picture = scene(calling([], counts));
    const { strips, texts, half } = inRow(picture);
    assert.equal(strips.length, 1, 'one strip a cell, in the colour of what is called most');
    assert.ok(strips.flat().every((y) => y <= -half && y >= -(picture.layout.lanes[0]?.rowHeight ?? 0) / 2));
    // Half of one is before the view: nothing of it stands among the names.
    const late = { ...picture, view: { fromNs: (picture.view.toNs / 900) * 8 * 30.5, toNs: picture.view.toNs } };
    const recorder = new Recorder();
    drawTimeline(recorder, late, darkTheme);
    const strip = recorder.filled.find(({ colour }) => colour === darkTheme.hues.semaphore)?.xywh ?? [];
    assert.equal(strip[0], late.layout.plotX);
    assert.ok(texts.includes('0 of 1,000,007 calls'), texts.join());
  });

  void test('without a sign of their own are counted where the pointer is', () => {
    const counts = { cell: Uint32Array.of(30, 30), kind: Uint8Array.of(1, 2), count: Uint32Array.of(5, 7) };
    const shown = calling([100e6, 100e6, 100e6, 200e6], counts);
    const row = shown.rows.find(({ thread }) => thread === 2) as Row;
    const cellNs = (shown.totalNs / shown.pixels) * shown.eventCellPixels;
    assert.equal(crowdText(row, 30.5 * cellNs, 1e6, shown), '12 calls: 7 × wait for a semaphore, 5 × post a semaphore; zoom in to tell them apart');
    assert.equal(crowdText(row, 100.5e6, 1e6, shown), 'one of 3 calls here; zoom in to tell them apart');
    assert.equal(crowdText(row, 200e6, 1e6, shown), undefined);
    assert.equal(crowdText(row, 150e6, 1e6, shown), undefined);
  });
});

void describe('a picture that is saved', () => {
  const textsOf = (picture: Scene, title = 'sorter'): string[] => {
    const recorder = new Recorder();
    pictureOf(picture, title).draw(recorder, lightTheme);
    return recorder.texts.map(({ text }) => text);
  };

  void test('says of what program it is, on which machine, and which part of the run', () => {
    const shown = data(2);
    const whole = textsOf(scene(shown, {}, { title: '2 CPUs, linux' }));
    assert.deepEqual(whole.slice(0, 2), ['sorter', '2 CPUs, linux · whole run, 670 ms']);
    const part = textsOf(scene(shown, { view: { fromNs: 100e6, toNs: 300e6 } }, { title: '2 CPUs, linux' }));
    assert.equal(part[1], '2 CPUs, linux · 100 ms to 300 ms of 670 ms');
    for (const text of ['running', 'waits for a CPU', 'blocked', 'critical path', 'post a semaphore', 'end of the thread']) {
      assert.ok(whole.includes(text), text);
    }
    assert.ok(!whole.includes('sleeping'), 'what is not in it needs no words');
  });

  void test('has whole rows, and says how many are left out', () => {
    const shown = data(2);
    const low = scene(shown);
    const layout = layOut({ width: 1100, height: 172, lanes: [{ rows: low.lanes[0]?.threads.length ?? 0, scroll: 20 }] });
    const [lane] = layout.lanes;
    assert.ok(lane && lane.rows.height % lane.rowHeight !== 0 && lane.contentHeight > lane.rows.height, 'a row is cut in two');
    const cut = { ...low, layout };
    const rows = Math.floor(lane.rows.height / lane.rowHeight);
    assert.match(textsOf(cut)[1] ?? '', new RegExp(` · ${rows} of 6 threads$`));
    const recorder = new Recorder();
    pictureOf(cut, '').draw(recorder, lightTheme);
    const names = recorder.texts.map(({ text }) => text).filter((text) => low.lanes[0]?.threads.some(({ thread }) => thread.name === text));
    assert.equal(names.length, rows);
    // Nothing is left empty below the last row.
    const tall = scene(shown, { layout: layOut({ width: 1100, height: 900, lanes: [{ rows: 6, scroll: 0 }] }) });
    assert.ok(pictureOf(tall, '').height < 500, String(pictureOf(tall, '').height));
  });

  void test('explains the colours that are chosen', () => {
    const shown = data(2);
    const texts = (more: Partial<Scene>): string[] => legendOf(scene(shown, more)).map(({ text }) => text);
    assert.ok(texts({ colourBy: 'function' }).includes('consume'));
    assert.ok(!texts({ colourBy: 'function' }).includes('running'), 'no bar has that colour');
    assert.ok(texts({ colourBy: 'lock' }).includes('waits for items'));
    assert.ok(texts({ colourBy: 'weight' }).some((text) => text.includes('critical weight')));
    assert.ok(texts({ rowsAre: 'cpus' }).includes('came from another CPU'));
    // Of dozens of locks the legend has some, each in a colour of its own, and the others in one.
    const locks = Array.from({ length: 30 }, (_unused, id) => ({ kind: 'mutex', name: `m${id}`, id }));
    const [row] = shown.rows.filter(({ thread }) => thread === 1);
    assert.ok(row);
    const filled = <T extends { fill(value: number): T }>(array: T, value: number): T => array.fill(value);
    const stretches = {
      ...{ startNs: Float64Array.from(locks.keys()), endNs: Float64Array.from(locks, ({ id }) => id + 1), state: filled(new Uint8Array(30), 3) },
      ...{ cpu: new Uint32Array(30), object: Uint32Array.from(locks, ({ id }) => id + 1), place: new Uint32Array(30), weight: new Float32Array(30), event: new Uint32Array(30) },
    };
    const crowded = { ...shown, objects: locks, rows: [{ ...row, stretches, summaries: { ...row.summaries, pixel: new Uint32Array() } }] };
    const byLock = scene(crowded, { colourBy: 'lock' });
    const legend = legendOf(byLock);
    const words = legend.map(({ text }) => text);
    assert.ok(words.includes('waits for 20 others'), words.join());
    const named = legend.filter(({ text }) => text.startsWith('waits for m'));
    const colours = named.map(({ draw }) => {
      const recorder = new Recorder();
      draw(recorder, lightTheme);
      return recorder.stroked[0]?.stroke.colour;
    });
    assert.equal(new Set(colours).size, 10, colours.join());
    // The rows have the same ones, and the others none.
    const recorder = new Recorder();
    drawTimeline(recorder, { ...byLock, colouring: colouringOf(byLock) }, lightTheme);
    const waits = recorder.stroked.filter(({ stroke: { width, dash } }) => width === 3 && dash !== undefined);
    assert.deepEqual(waits.map(({ stroke }) => stroke.colour).sort(), [...colours].sort());
    assert.ok(waits.every(({ segments }) => segments.length === 4), 'one lock each');
    // Of what can be seen only.
    assert.ok(!texts({ colourBy: 'function', view: { fromNs: 0, toNs: 40e6 } }).includes('consume'));
  });

  void test('is well-formed whatever things are called', () => {
    for (const more of [{}, { colourBy: 'function' }, { colourBy: 'lock' }, { colourBy: 'weight' }, { rowsAre: 'cpus' }] as const) {
      const { width, height, draw } = pictureOf(scene(data(2), more), hostileName);
      const surface = new SvgSurface(width, height, lightTheme.background);
      draw(surface, lightTheme);
      const svg = surface.document(hostileName);
      assert.ok(!svg.includes('<img'), 'markup is text');
      assert.doesNotMatch(svg, /NaN|undefined|Infinity/);
      const open = [...svg.matchAll(/<(\w+)(?:\s[^>]*[^/>])?>/g)].map((match) => match[1]).sort();
      const closed = [...svg.matchAll(/<\/(\w+)>/g)].map((match) => match[1]).sort();
      assert.deepEqual(open, closed);
    }
  });
});
