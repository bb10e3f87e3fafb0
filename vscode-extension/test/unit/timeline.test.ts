import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatShare } from '../../src/core/format';
import { callTable, cpuTable, cpuText, cut, eventText, itemDetails, itemTitle, stretchText, threadTable, remarkOnTime } from '../../src/core/timeline/details';
import { drawTimeline } from '../../src/core/timeline/draw';
import { threadNames } from '../../src/core/timeline/drawCpus';
import { timelineCalls, timelineItem } from '../../src/core/timeline/fromProtocol';
import { History } from '../../src/core/timeline/history';
import { hitTest } from '../../src/core/timeline/hit';
import { layOut, rowMiddle, scrollTo, visibleRows } from '../../src/core/timeline/layout';
import { stateEntries } from '../../src/core/timeline/legend';
import { State, type CpuRow, type Row, type Thread, type TimelineData } from '../../src/core/timeline/model';
import { pack, unpack } from '../../src/core/timeline/pack';
import { around, centred, formatMoment, formatSpan, lengthOf, pan, ticks, timeAt, within, wholeRun, xOf, zoom, zoomStep } from '../../src/core/timeline/scale';
import type { Lane } from '../../src/core/timeline/scene';
import { SvgSurface } from '../../src/core/timeline/svgSurface';
import { hueTexts, outline, shapeTexts, signOf, type Hue, type Shape } from '../../src/core/timeline/symbols';
import { categoryCount, categoryOf, darkTheme, heatOf, lightTheme, tellApart } from '../../src/core/timeline/theme';
import { shownThreads } from '../../src/core/timeline/threads';
import { fakeTimelineItem, hostileName } from '../fake-daemon/fakeTimeline';
import { data, Recorder, scene } from './timelineScenes';
import { GetTimelineItemRequest } from '../../src/protocol/longpole/v1/timeline';

void describe('the time axis', () => {
  void test("zooms by VPPB's steps with the left end where it is, and undoes itself", () => {
    const view = { fromNs: 1000, toNs: 4000 };
    assert.deepEqual(zoomStep(view, 3, 10_000), { fromNs: 1000, toNs: 2000 });
    assert.deepEqual(zoomStep(zoomStep(view, 1.5, 10_000), 1 / 1.5, 10_000), view);
    assert.deepEqual(zoomStep(view, 1 / 3, 5000), { fromNs: 0, toNs: 5000 }, 'no further than the run');
  });

  void test('what is under the pointer stays there', () => {
    for (const anchor of [0, 300, 999]) {
      const zoomed = zoom({ fromNs: 0, toNs: 1000 }, 2.5, anchor, 1000);
      assert.ok(Math.abs(xOf(anchor, zoomed, 700) - xOf(anchor, { fromNs: 0, toNs: 1000 }, 700)) < 1e-9);
    }
  });

  void test('no view leaves the run or is shorter than some nanoseconds', () => {
    let view = wholeRun(1e9);
    for (let step = 0; step < 100; step++) {
      view = zoom(view, 3, 123_456_789, 1e9);
    }
    assert.equal(lengthOf(view), 10);
    assert.deepEqual(pan(view, -1e18, 1e9), { fromNs: 0, toNs: 10 });
    assert.deepEqual(within({ fromNs: 5, toNs: 1e30 }, 100), { fromNs: 0, toNs: 100 });
    assert.equal(centred({ fromNs: 0, toNs: 100 }, 500, 1000).fromNs, 450);
    const close = around(200, 300, 1000);
    assert.ok(close.fromNs < 200 && close.toNs > 300);
    assert.equal(timeAt(xOf(77, close, 640), close, 640), 77);
  });

  void test('ticks are round, apart, inside, and told apart by their texts', () => {
    for (const view of [wholeRun(1.75e9), { fromNs: 1_000_000_000, toNs: 1_000_000_900 }, { fromNs: 3, toNs: 33 }, wholeRun(7.2e12)]) {
      const marks = ticks(view, 900);
      assert.ok(marks.length >= 3 && marks.length <= 11, JSON.stringify(marks));
      assert.equal(new Set(marks.map(({ text }) => text)).size, marks.length, JSON.stringify(marks));
      assert.ok(marks.every(({ ns }) => ns >= view.fromNs && ns <= view.toNs));
    }
    assert.deepEqual(ticks(wholeRun(1.75e9), 900).map(({ text }) => text).slice(0, 3), ['0.0 s', '0.2 s', '0.4 s']);
    assert.equal(formatMoment(850_000_000, wholeRun(1.75e9)), '0.85 s');
    assert.equal(formatSpan(0.2e9, 0.85e9, wholeRun(1.75e9)), '0.20 s → 0.85 s');
    // A stretch too short for the view still has two ends.
    assert.equal(formatSpan(82_085_000, 82_475_000, wholeRun(164e6)), '82.08 ms → 82.47 ms');
    assert.equal(formatSpan(5, 5, wholeRun(164e6)), '0 ms → 0 ms');
  });
});

void test('the history goes back and forward, and forgets what lay ahead', () => {
  const [a, b, c] = [wholeRun(1000), { fromNs: 0, toNs: 100 }, { fromNs: 50, toNs: 100 }];
  const history = new History(a);
  history.go(b);
  history.go(b);
  history.drift(c);
  assert.deepEqual([history.back(), history.canGoBack], [a, false]);
  assert.deepEqual(history.forward(), c);
  history.back();
  history.go(b);
  assert.equal(history.canGoForward, false);
});

void test('threads are sorted, hidden, picked, and stand below their creators', () => {
  const thread = (number: number, creator: number | undefined, startNs: number, criticalNs: number, active = true): Thread => ({
    thread: number,
    name: `t${number}`,
    function: '',
    creator,
    startNs,
    endNs: 100,
    active,
    criticalNs,
    criticalInViewNs: 0,
    times: { runningNs: 0, runnableNs: 0, blockedNs: 0, ioNs: 0, sleepingNs: 0 },
    events: 0,
    started: number !== 9,
  });
  const threads = [thread(0, undefined, 0, 5), thread(1, 0, 20, 9), thread(2, 1, 30, 1), thread(3, 0, 10, 7, false), thread(9, 0, 1, 1)];
  const order = (choice: Parameters<typeof shownThreads>[1]): string =>
    shownThreads(threads, choice).map(({ thread: shown, depth }) => `${'.'.repeat(depth)}${shown.name}`).join(' ');
  const all = { hideIdle: false, picked: undefined };
  assert.equal(order({ sortBy: 'number', ...all }), 't0 t1 t2 t3', 'one that never started has no row');
  assert.equal(order({ sortBy: 'start', ...all }), 't0 t3 t1 t2');
  assert.equal(order({ sortBy: 'critical', ...all }), 't1 t3 t0 t2');
  assert.equal(order({ sortBy: 'creator', ...all }), 't0 .t3 .t1 ..t2');
  assert.equal(order({ sortBy: 'number', hideIdle: true, picked: new Set([1, 3]) }), 't1');
  assert.equal(order({ sortBy: 'creator', hideIdle: false, picked: new Set([2, 3]) }), 't3 t2');
  const ring = [thread(0, 1, 0, 0), thread(1, 0, 0, 0)];
  assert.ok(shownThreads(ring, { sortBy: 'creator', ...all }).length <= 2, 'a ring of creators ends');
});

void test('what is drawn at a place is what is found there', () => {
  const shown = data(2);
  const picture = scene(shown);
  const lane = picture.layout.lanes[0];
  assert.ok(lane);
  const x = (ns: number): number => picture.layout.plotX + xOf(ns, picture.view, picture.layout.plotWidth);
  const hit = hitTest(picture, x(150e6), rowMiddle(lane, 2));
  assert.deepEqual({ ...hit, timeNs: 0 }, { kind: 'row', lane: 0, thread: 2, timeNs: 0, event: undefined, stretch: 0 });
  const post = hitTest(picture, x(250e6) + 3, rowMiddle(lane, 2));
  assert.ok(post.kind === 'row' && post.event !== undefined, 'a call is found from some pixels away');
  assert.equal(hitTest(picture, 20, rowMiddle(lane, 1)).kind, 'name');
  assert.equal(hitTest(picture, x(1e8), lane.graph.y + 5).kind, 'graph');
  assert.equal(hitTest(picture, x(1e8), picture.layout.overview.y + 5).kind, 'overview');
  assert.equal(hitTest(picture, 5, 5).kind, 'none');
});

void test('rows that do not fit are scrolled, and a row is brought into the middle', () => {
  const tall = layOut({ width: 800, height: 300, lanes: [{ rows: 200, scroll: 1e9 }] }).lanes[0];
  assert.ok(tall);
  assert.equal(visibleRows(tall, 200).last, 200, 'not further than the end');
  const again = layOut({ width: 800, height: 300, lanes: [{ rows: 200, scroll: scrollTo(tall, 20) }] }).lanes[0];
  assert.ok(again);
  assert.ok(Math.abs(rowMiddle(again, 20) - (again.rows.y + again.rows.height / 2)) < 2);
  assert.equal(scrollTo(again, 20), again.scroll, 'what can be seen stays');
  const [usual, maximised] = [300, 900].map((height) => layOut({ width: 800, height, lanes: [{ rows: 9, scroll: 0 }] }).lanes[0]);
  assert.ok(usual && maximised && maximised.rowHeight > 20 && maximised.graph.height > 96 && maximised.rowHeight > usual.rowHeight, 'a high panel is used');
  const two = layOut({ width: 800, height: 600, lanes: [{ rows: 3, scroll: 0 }, { rows: 3, scroll: 0 }] });
  assert.ok((two.lanes[0]?.rows.y ?? 0) + (two.lanes[0]?.rows.height ?? 0) <= (two.lanes[1]?.graph.y ?? 0));
});

void test('nothing that runs is drawn as nothing, and nothing idle as busy, at any zoom', () => {
  for (const [fromNs, toNs] of [
    [0, 0],
    [240e6, 400e6],
    [250e6, 262e6],
  ] as const) {
    const shown = data(2, fromNs, toNs);
    const exact = data(2, fromNs, toNs, 16_000);
    const picture = scene(shown);
    const recorder = new Recorder();
    drawTimeline(recorder, picture, darkTheme);
    const lane = picture.layout.lanes[0];
    assert.ok(lane);
    const at = (ns: number): number => picture.layout.plotX + xOf(ns, picture.view, picture.layout.plotWidth);
    picture.lanes[0]?.threads.forEach(({ thread }, row) => {
      const middle = rowMiddle(lane, row);
      const bars = recorder.filled.filter(
        ({ colour, xywh: [, y = 0, , height = 0] }) => colour === darkTheme.running && y <= middle + 8 && y + height >= middle - 8,
      );
      const stretches = exact.rows.find((each) => each.thread === thread.thread)?.stretches;
      stretches?.state.forEach((state, index) => {
        const [from, to] = [Math.max(at(stretches.startNs[index] ?? 0), lane.rows.x), Math.min(at(stretches.endNs[index] ?? 0), lane.rows.x + lane.rows.width)];
        const covered = bars.some(({ xywh: [x = 0, , width = 0] }) => x < to + 1 && x + width > from - 1);
        if (state === 1 && to > from) {
          assert.ok(covered, `${thread.name} runs from ${from} to ${to} and is not drawn`);
        } else if (to - from > 6) {
          const inside = bars.some(({ xywh: [x = 0, , width = 0] }) => x < to - 2 && x + width > from + 2);
          assert.ok(!inside, `${thread.name} does not run from ${from} to ${to} and is drawn so`);
        }
      });
    });
  }
});

void test('by lock, what a thread waits for has its colour, also where stretches share a pixel', () => {
  const shown = data(2, 0, 0, 4);
  const consumer = shown.threads.findIndex(({ name }) => name === 'consumer');
  const summaries = shown.rows.find(({ thread }) => thread === consumer)?.summaries;
  assert.ok(summaries !== undefined && summaries.pixel.length > 0);
  const colour = categoryOf('semaphore items', darkTheme);
  for (const colourBy of ['lock', 'state'] as const) {
    const recorder = new Recorder();
    const picture = scene(shown, { colourBy });
    drawTimeline(recorder, picture, darkTheme);
    const lane = picture.layout.lanes[0];
    assert.ok(lane);
    const middle = rowMiddle(lane, consumer);
    const bars = recorder.filled.filter(({ colour: of, xywh: [, y = 0, , height = 0] }) => of === colour && y <= middle + 8 && y + height >= middle - 8);
    assert.equal(bars.length > 0, colourBy === 'lock', colourBy);
  }
});

void test('a picture is well-formed whatever things are called', () => {
  const shown = data(2);
  for (const more of [{}, { colourBy: 'function' }, { colourBy: 'lock' }, { colourBy: 'weight' }, { rowsAre: 'cpus' }, { marked: { fromNs: 1, toNs: 5e8 } }] as const) {
    const surface = new SvgSurface(1100, 400, lightTheme.background);
    const item = fakeTimelineItem(
      GetTimelineItemRequest.create({ simulation: { cpus: 2 }, thread: 1, at: { $case: 'event', value: 0 } }),
      '/src/pipeline.c',
    );
    assert.ok(item);
    drawTimeline(surface, scene(shown, more, { selection: timelineItem(item) }), lightTheme);
    const svg = surface.document(`${hostileName}\u0000\ud800`);
    assert.ok(!svg.includes('<img'), 'markup is text');
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(svg, /[\u0000\ud800]|NaN|undefined|Infinity/);
    const open = [...svg.matchAll(/<(\w+)(?:\s[^>]*[^/>])?>/g)].map((match) => match[1]).sort();
    const closed = [...svg.matchAll(/<\/(\w+)>/g)].map((match) => match[1]).sort();
    assert.deepEqual(open, closed);
  }
});

void test('the selection is told in words, with places and wakers that lead on', () => {
  const answer = fakeTimelineItem(
    GetTimelineItemRequest.create({ simulation: { cpus: 2 }, thread: 1, at: { $case: 'event', value: 0 } }),
    '/src/pipeline.c',
  );
  assert.ok(answer);
  const item = timelineItem(answer);
  assert.equal(itemTitle(item), 'wait for a semaphore: items');
  const details = itemDetails(item, wholeRun(670e6), 670e6);
  const text = details.map(({ label, text: said }) => `${label}: ${said}`).join('\n');
  assert.match(text, /line: consume pipeline\.c:10/);
  assert.match(text, /thread: consumer, started with consume/);
  assert.match(text, /blocked: 50 ms → 250 ms \(200 ms\)/);
  assert.match(text, /in all: the thread works 200 ms of 600 ms \(33%\), 100 ms of it critical/);
  assert.match(text, /woken by: producer 1, post at 250 ms \(produce pipeline\.c:5\)/);
  assert.deepEqual(details.find(({ label }) => label === 'woken by')?.event, { thread: 2, event: 0 });
  assert.equal(details.find(({ label }) => label === 'line')?.place?.line, 10);
});

void test('the table tells the interval', () => {
  const shown = data(2);
  const table = threadTable(shownThreads(shown.threads, { sortBy: 'number', hideIdle: false, picked: undefined }), shown.view);
  assert.deepEqual(table.rows[2]?.slice(0, 5), ['producer 1', '200 ms', '–', '–', '–']);
  const row = shown.rows.find(({ thread }) => thread === 2) as Row;
  assert.equal(stretchText(row, 0, shown), 'running on CPU 0 · 200 ms · produce pipeline.c:5');
});

void test('what ends a wait that no recorded call ends is not known, so it is not called I/O', () => {
  const shown = data(2);
  const table = threadTable(shownThreads(shown.threads, { sortBy: 'number', hideIdle: false, picked: undefined }), shown.view);
  assert.ok(table.head.includes('in I/O or outside'), table.head.join());
  const row = shown.rows.find(({ thread }) => thread === 2) as Row;
  const outside = { ...row, stretches: { ...row.stretches, state: row.stretches.state.map(() => State.io) } };
  assert.match(stretchText(outside, 0, shown), /^in I\/O or outside · /);
  const answer = fakeTimelineItem(
    GetTimelineItemRequest.create({ simulation: { cpus: 2 }, thread: 1, at: { $case: 'event', value: 0 } }),
    '/src/pipeline.c',
  );
  assert.ok(answer);
  const item = { ...timelineItem(answer), state: State.io };
  assert.equal(itemDetails(item, shown.view, shown.totalNs).find(({ label }) => label === 'in I/O or outside')?.text, '50 ms → 250 ms (200 ms)');
  assert.equal(callTable({ thread: item.thread, view: shown.view, calls: [item] }).rows[0]?.[6], 'in I/O or outside for 200 ms');
  assert.match(stateEntries.io.text, /outside the program/);
});

void test('a table has room for the beginning of a long name, and takes no emoji apart', () => {
  assert.equal(cut('n'.repeat(100)), 'n'.repeat(100));
  assert.equal(cut('n'.repeat(10_000)), `${'n'.repeat(99)}…`);
  assert.equal(cut('🐢'.repeat(100)), '🐢'.repeat(100));
  assert.equal(cut('🐢'.repeat(10_000)), `${'🐢'.repeat(99)}…`);
  assert.equal(cut(`n${'🐢'.repeat(10_000)}`), `n${'🐢'.repeat(98)}…`);
  const shown = data(2);
  const [, consumer] = shown.threads;
  assert.ok(consumer);
  const { caption } = callTable({ thread: { ...consumer, name: 'n'.repeat(10_000) }, view: shown.view, calls: [] });
  assert.match(caption, /^What n{99}… does from /);
});

void test('the table of a thread tells its calls in the interval, and how many it leaves out', () => {
  const shown = data(2);
  const [, consumer] = shown.threads;
  const ask = (following: number): Parameters<typeof timelineCalls>[0] | undefined =>
    fakeTimelineItem(
      GetTimelineItemRequest.create({ simulation: { cpus: 2 }, thread: 1, at: { $case: 'timeNs', value: 60e6 }, following, untilNs: shown.totalNs }),
      '/src/pipeline.c',
    );
  const [all, some] = [ask(100), ask(1)];
  assert.ok(consumer && all && some);
  const table = callTable({ thread: consumer, view: shown.view, calls: timelineCalls(all) });
  assert.equal(table.rows.length, consumer.events);
  assert.doesNotMatch(table.caption, /left out/);
  assert.deepEqual(table.rows[0]?.slice(4), ['wait for a semaphore', 'items', 'blocked for 200 ms', 'producer 1, post at 250 ms', 'consume pipeline.c:10']);
  assert.deepEqual(table.rows[1]?.slice(6, 8), ['goes on', '–']);
  assert.deepEqual(table.rows.at(-1)?.slice(4, 8), ['end of the thread', '–', '–', '–']);
  assert.equal(table.rows[0]?.length, table.head.length);
  const first = callTable({ thread: consumer, view: shown.view, calls: timelineCalls(some) });
  assert.equal(first.rows.length, 2);
  assert.match(first.caption, new RegExp(`; ${consumer.events - 2} more calls are left out`));
  // What is worked towards behind the interval is not in it.
  const half = { fromNs: 0, toNs: shown.totalNs / 2 };
  assert.ok(callTable({ thread: consumer, view: half, calls: timelineCalls(all) }).rows.length < table.rows.length);
});

void test('rows of CPUs: turns and their sums lead to what they are, and the table says it in words', () => {
  const shown = data(2);
  const [first, second] = shown.cpuRows;
  assert.ok(first && second);
  const all = scene(shown, { rowsAre: 'cpus' });
  const names = threadNames(all.lanes[0] as Lane);
  assert.equal(cpuText(second, { turn: 0, summary: undefined }, names), 'CPU 1 · producer 2 · 200 ms');
  assert.equal(cpuText(second, { turn: undefined, summary: undefined }, names), 'CPU 1 · idle');
  const table = cpuTable(shown.cpuRows, shown.view);
  assert.deepEqual(table.rows[1], ['CPU 1', '400 ms', formatShare(400e6 / shown.totalNs), '2', '2', '0']);
  // A click in the middle of the row hits the turn.
  const box = all.layout.lanes[0];
  assert.ok(box);
  const x = all.layout.plotX + xOf(150e6, all.view, all.layout.plotWidth);
  const hit = hitTest(all, x, rowMiddle(box, 1));
  assert.ok(hit.kind === 'cpu' && hit.cpu === 1 && hit.turn === 0 && hit.summary === undefined, JSON.stringify(hit));
  // Ten short turns of the consumer fall into one pixel.
  const coarse = data(2, 0, 0, 6);
  const crowded = coarse.cpuRows[0]?.summaries;
  assert.ok(crowded && crowded.pixel.length > 0);
  assert.match(cpuText(coarse.cpuRows[0] as CpuRow, { turn: undefined, summary: 0 }, names), /^CPU 0 · \d+% busy · /);
});

void test('a row of CPUs shows a pixel as busy as it is, and says where threads came from another CPU', () => {
  const shown = data(2);
  const row = shown.cpuRows[0];
  assert.ok(row);
  const summaries = { pixel: Uint32Array.of(10), busy: Uint8Array.of(51), thread: Uint32Array.of(1), threads: Uint32Array.of(3), migrations: Uint32Array.of(4) };
  const turns = { startNs: new Float64Array(), endNs: new Float64Array(), thread: new Uint32Array(), migrated: new Uint8Array() };
  const only = { ...shown, cpuRows: [{ ...row, turns, summaries }] };
  const surface = new Recorder();
  const all = scene(only, { rowsAre: 'cpus' });
  drawTimeline(surface, all, darkTheme);
  const bar = surface.filled.filter(({ colour }) => colour === categoryOf('consumer', darkTheme)).map(({ xywh }) => xywh[3] ?? 0);
  const full = Math.round((all.layout.lanes[0]?.rowHeight ?? 0) * 0.52);
  assert.ok(bar.some((height) => Math.abs(height - full / 5) < 0.5), `${bar.join()} of ${full}`);
  assert.equal(cpuText(only.cpuRows[0] as CpuRow, { turn: undefined, summary: 0 }, threadNames(all.lanes[0] as Lane)), 'CPU 0 · 20% busy · 3 threads, consumer longest · 4 migrations here');
});

void test('in rows of CPUs few threads have a colour each, whatever they are called', () => {
  const shown = data(2);
  const alike = Array.from({ length: 1000 }, (_unused, number) => `thread ${number}`).filter(
    (name) => categoryOf(name, darkTheme) === categoryOf('thread 0', darkTheme),
  );
  const surface = new Recorder();
  const named = { ...shown, threads: shown.threads.map((thread, at) => ({ ...thread, name: alike[at] ?? '' })) };
  drawTimeline(surface, scene(named, { rowsAre: 'cpus' }), darkTheme);
  const seen = new Set(shown.cpuRows.flatMap(({ turns, summaries }) => [...turns.thread, ...summaries.thread]));
  const colours = new Set(surface.filled.map(({ colour }) => colour).filter((colour) => darkTheme.categories.includes(colour)));
  assert.ok(seen.size > 1);
  assert.equal(colours.size, seen.size);
});

void test('what is packed for a message comes out as it was, wherever its bytes lie', () => {
  const shown = data(2);
  const { json, bytes } = pack(shown);
  const moved = new Uint8Array(bytes.length + 3);
  moved.set(bytes, 3);
  for (const place of [bytes, moved.subarray(3)]) {
    const { rows, parallelism, path, threads } = unpack<TimelineData>({ json, bytes: place });
    assert.deepEqual([rows, parallelism, path, threads.length], [shown.rows, shown.parallelism, shown.path, shown.threads.length]);
  }
  assert.deepEqual(unpack(pack({ a: null, numbers: 'a name', b: [] })), { a: null, numbers: 'a name', b: [] });
});

void test('signs: releases point up, waits down; every one has corners and a colour', () => {
  assert.equal(signOf('post').shape, 'up');
  assert.equal(signOf('wait').shape, 'down');
  assert.equal(signOf('of a later daemon').shape, 'circle');
  for (const shape of Object.keys(shapeTexts) as Shape[]) {
    assert.ok(outline(shape, 0, 0, 4).every(Number.isFinite));
  }
  for (const hue of Object.keys(hueTexts) as Hue[]) {
    assert.match(darkTheme.hues[hue], /^#/);
    assert.match(lightTheme.hues[hue], /^#/);
  }
});

void test('heat goes with the weight, a category with the name alone', () => {
  assert.equal(heatOf(0, darkTheme), darkTheme.heat[0]);
  assert.equal(heatOf(1, darkTheme), darkTheme.heat.at(-1));
  assert.equal(heatOf(-2, darkTheme), darkTheme.heat.at(-1), 'what slows the whole down is as hot');
  assert.equal(categoryOf('merge', darkTheme), categoryOf('merge', darkTheme));
});

void test('names that are seen together have a colour each, and keep their own where they can', () => {
  const names = Array.from({ length: 25 }, (_unused, each) => `lock ${each}`);
  const own = (name: string): string => categoryOf(name, darkTheme);
  const clash = names.find((name) => name !== 'lock 0' && own(name) === own('lock 0')) ?? '';
  const two = tellApart(['lock 0', clash]);
  assert.equal(categoryOf('lock 0', darkTheme, two), own('lock 0'));
  assert.notEqual(categoryOf(clash, darkTheme, two), own('lock 0'));
  assert.equal(categoryOf(clash, darkTheme, tellApart([clash, 'lock 1'])), own(clash), 'where nothing beside it has it');
  const all = tellApart(names);
  const seen = names.slice(0, categoryCount).map((name) => categoryOf(name, darkTheme, all));
  assert.equal(new Set(seen).size, categoryCount, seen.join());
  assert.equal(categoryOf('lock 24', darkTheme, all, 'grey'), 'grey', 'of more than there are colours, the others have none');
  assert.equal(categoryOf('lock 99', darkTheme, all, 'grey'), own('lock 99'), 'what was not seen yet has its own');
  assert.deepEqual(tellApart(names), all);
  for (const { categories } of [darkTheme, lightTheme]) {
    assert.equal(new Set(categories).size, categoryCount);
  }
});

void test('a thread is created and joined by its name; what waits for it waits for its end', () => {
  const shown = data(2);
  const joins = shown.eventKinds.indexOf('join');
  const [row, at] = shown.rows.flatMap((each) => [...each.events.kind.entries()].filter(([, kind]) => kind === joins).map(([index]) => [each, index] as const))[0] ?? [];
  assert.ok(row !== undefined && at !== undefined);
  assert.match(eventText(row, at, shown), /^join a thread · consumer · /);
  const waits = row.stretches.object.findIndex((object, index) => object > 0 && row.stretches.state[index] === State.blocked);
  assert.match(stretchText(row, waits, shown), /for the end of consumer/);
});

void test('the time of a run is remarked on where the rest of the window says another one', () => {
  assert.equal(remarkOnTime('Here it is linux.', '797 ms', 812e6), 'Here it is linux.');
  assert.equal(remarkOnTime('Here it is linux.', '', 797e6), 'Here it is linux.', 'it says none');
  assert.equal(remarkOnTime('Here it is linux.', '797 ms', 797.2e6), '');
});
