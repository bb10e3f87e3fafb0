// What the panel has of a run, and whether that can be drawn as it is chosen.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LaneState, type Viewport } from '../../src/webview/lane';
import { data, scene } from './timelineScenes';

const info = { title: '2 CPUs, linux', cpus: 2, hasCpus: true, idleReason: '', recording: '/run.lptrace' };

function laneWith(shown: ReturnType<typeof data> | undefined): LaneState {
  const lane = new LaneState(info);
  const whole = data(2);
  lane.take('overview', whole);
  lane.chooseThreads({ sortBy: 'number', hideIdle: false, picked: undefined });
  if (shown !== undefined) {
    lane.question('rows', viewport());
    lane.take('rows', shown);
  }
  return lane;
}

function viewport(more: Partial<Viewport> = {}): Viewport {
  return { view: { fromNs: 0, toNs: 670e6 }, totalNs: 670e6, width: 900, rowsAre: 'threads', first: 0, last: 6, colourBy: 'state', ...more };
}

void test('another colour, or rows of CPUs, are drawn once there is what they need: until then all stays as it is', () => {
  const shown = data(2);
  const lane = laneWith({ ...shown, cpuRows: [] });
  assert.ok(lane.canShow(viewport()));
  assert.ok(!lane.canShow(viewport({ colourBy: 'function' })), 'the pixels were not asked for their functions');
  assert.ok(!lane.canShow(viewport({ rowsAre: 'cpus', last: 2 })), 'there are no rows of CPUs yet');
  assert.ok(lane.question('rows', viewport({ colourBy: 'function' })));
  assert.ok(!lane.canShow(viewport({ colourBy: 'function' })), 'that is on its way');
  lane.take('rows', shown);
  assert.ok(lane.canShow(viewport({ colourBy: 'function' })));
  assert.ok(lane.canShow(viewport()), 'the states are always known');
  assert.ok(lane.canShow(viewport({ rowsAre: 'cpus', last: 2 })));
});

void test('the picture of the run before stands in for one that is on its way, for a while', () => {
  const [before] = scene(data(1)).lanes;
  const lane = new LaneState(info, before);
  assert.equal(lane.scene().data, before?.data);
  assert.equal(lane.scene().title, info.title, 'and is called what it will be');
  assert.equal(lane.totalNs, 0, 'how long it takes is not known');
  lane.forgetBefore();
  assert.equal(lane.scene().data, undefined);
  const other = new LaneState(info, before);
  other.take('rows', data(2));
  assert.equal(other.scene().data, other.data);
});

void test('other threads, or another order of them, are drawn once there are their rows', () => {
  const names = (lane: LaneState): string => lane.scene().threads.map(({ thread }) => thread.thread).join();
  const shown = data(2);
  // The first three are all that was loaded.
  const lane = laneWith({ ...shown, rows: shown.rows.filter(({ thread }) => thread < 3) });
  lane.chooseThreads({ sortBy: 'number', hideIdle: false, picked: undefined });
  lane.showChosen();
  const before = names(lane);
  const three = viewport({ last: 3 });
  assert.ok(lane.canShow(three), before);
  lane.chooseThreads({ sortBy: 'number', hideIdle: false, picked: new Set([0, 4, 5]) });
  assert.ok(!lane.isAsChosen, 'the rows of another choice');
  assert.equal(names(lane), before, 'all stays as it is');
  assert.ok(!lane.canShow(three));
  assert.deepEqual(lane.question('rows', three)?.rows, [0, 4, 5], 'while the rows are asked for');
  lane.take('rows', shown);
  assert.ok(lane.canShow(three));
  lane.showChosen();
  assert.ok(lane.isAsChosen);
  assert.equal(names(lane), '0,4,5');
});

void test('a selection that was seen is to be seen in another order, too, and one that was asked for as well', () => {
  const shown = data(2);
  const lane = laneWith(shown);
  lane.showChosen();
  const thread = lane.threads[4]?.thread;
  assert.ok(thread);
  lane.selection = { thread } as NonNullable<LaneState['selection']>;
  lane.chooseThreads({ sortBy: 'number', hideIdle: false, picked: new Set([3, 4]) });
  assert.equal(lane.selectedRowToShow((row) => row === 4), 1);
  assert.equal(lane.selectedRowToShow(() => false), undefined, 'what was scrolled away stays away');
  lane.isToShowSelection = true;
  assert.equal(lane.selectedRowToShow(() => false), 1);
  lane.showChosen();
  assert.equal(lane.selectedRowToShow(() => false), undefined, 'only once');
});

void test('what was asked for is known, although the daemon tells of whole nanoseconds', () => {
  const lane = laneWith(data(2));
  const third = { fromNs: 0, toNs: 670e6 / 3 };
  lane.take('interval', { ...data(2), view: { fromNs: 0, toNs: Math.floor(third.toNs) } });
  assert.ok(lane.isOf(third));
  assert.ok(!lane.isOf({ fromNs: 0, toNs: third.toNs + 2 }));
});
