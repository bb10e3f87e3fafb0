import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callersRemark, collisionText, objectGain, objectPlace, objectText, placeName, quartzText, threadText, useText } from '../../src/core/rankings';
import { ObjectRow, ThreadRow } from '../../src/protocol/longpole/v1/analyses';
import { QuartzRow } from '../../src/protocol/longpole/v1/quartz';

const lock = ObjectRow.fromPartial({
  kind: 'mutex',
  name: 'list',
  acquisitions: 1204n,
  contended: 311n,
  waitNs: 4.1e9,
  longestWaitNs: 2e8,
  holdNs: 3e8,
  longestHoldNs: 1e7,
  queueNs: [1, 2, 3],
  criticalNs: 1e8,
  freedTotalNs: 75,
  uses: [{ acquisitions: 1n, waitNs: 1 }, { place: { file: '/src/a.c', line: 7, function: 'ns::take(int)' }, acquisitions: 1n, waitNs: 0 }],
});

void test('a lock: what is gained, first and in words', () => {
  const text = objectText(lock, 100, 8);
  assert.equal(text.label, '−25%  list');
  assert.equal(text.description, '4.10 s waited');
  assert.equal(text.spoken, 'mutex list: 25% less if nobody waited, 4.10 s waited');
  assert.match(text.tooltip.join('\n'), /75 ns in place of 100 ns at 8 CPUs: 25% less\./);
  assert.match(text.tooltip.join('\n'), /1,204 calls, 311 of them waited\n4\.10 s waited, the longest 200 ms\n300 ms held/);
  assert.match(text.tooltip.join('\n'), /up to 2 threads wait at once/);
  assert.deepEqual(objectPlace(lock), { file: '/src/a.c', line: 7, function: 'ns::take(int)' });
});

void test('a lock that brings nothing, or harm, or was not simulated, promises nothing', () => {
  assert.equal(objectGain({ ...lock, freedTotalNs: undefined }, 100), undefined);
  const rows: [number | undefined, RegExp, string][] = [
    [100, /would take as long as it does/, '4.10 s waited'],
    [110, /10% more/, '4.10 s waited'],
    [undefined, /was not simulated/, '4.10 s waited'],
  ];
  for (const [freedTotalNs, verdict, description] of rows) {
    const text = objectText({ ...lock, freedTotalNs }, 100, 8);
    assert.match(text.tooltip[1] ?? '', verdict);
    assert.equal(text.description, description);
  }
  assert.match(objectText({ ...lock, waitNs: 0, freedTotalNs: 100 }, 100, 8).description, /nobody waits/);
});

void test('a lock is called as short as can be: its row says its number first, and its kind by its icon', () => {
  const names: [string, string][] = [
    ['heat.c:14#3', '−25%  heat.c:14#3'],
    ['bank::ledger_lock', '−25%  ledger_lock'],
    ['ThreadPool::work(unsigned int)#2', '−25%  work#2'],
    ['queue<int, std::less<int>>::lock+16', '−25%  lock+16'],
  ];
  for (const [name, label] of names) {
    assert.equal(objectText({ ...lock, name }, 100, 8).label, label);
  }
  assert.equal(objectText({ ...lock, freedTotalNs: 100 }, 100, 8).label, 'list');
  const pair = { waiter: 'ThreadPool::work.6', waker: 'main', times: 7n, waitNs: 2e6 };
  assert.deepEqual(collisionText(pair), {
    label: '2.00 ms  work.6 ← main',
    description: '7×',
    tooltip: ['ThreadPool::work.6 waits for main: 2.00 ms, 7×'],
    spoken: 'ThreadPool::work.6 waits for main: 2.00 ms, 7×',
  });
});

void test('places are short, uses are counted', () => {
  assert.equal(placeName({ file: '/src/a.c', line: 7, function: 'ns::take(int)' }), 'take  a.c:7');
  const [unknown, known] = lock.uses.map(useText);
  assert.equal(unknown?.label, '1 ns  where is not known');
  assert.equal(known?.spoken, 'take  a.c:7: 1 call');
});

void test('a thread: its part of the path, and what it does', () => {
  const row = ThreadRow.fromPartial({ name: 'merge 1', function: 'thrMerge(void*)', runningNs: 2e9, blockedNs: 1e9, criticalNs: 60 });
  const text = threadText(row, 100, 2);
  assert.equal(text.description, '60% ━━━━━  thrMerge');
  assert.match(text.tooltip.join('\n'), /60% of the critical path at 2 CPUs .*computes 2\.00 s\nblocked by other threads 1\.00 s/s);
  assert.equal(threadText({ ...row, name: 'Pool::work.6', function: 'Pool::work()' }, 100, 2).description, '60% ━━━━━', 'it says its function');
  assert.equal(threadText({ ...row, criticalNs: 0 }, 100, 2).spoken, 'thread merge 1: not on the path');
});

void test('a row of Quartz: its part of the normalized time, and how often', () => {
  const row = QuartzRow.fromPartial({ kind: 'function', name: 'ns::f(int)', self: { normalizedNs: 1 }, total: { normalizedNs: 3, busy: { timeNs: 6, averageRunnable: 2 } } });
  assert.equal(quartzText(row, 0.3, 2n).description, '30% ━━╸  2 calls');
  assert.equal(quartzText(row, 0.3, 2n).label, 'f');
  assert.match(quartzText(row, 0.3, 2n).tooltip.join('\n'), /normalized time 3 ns, of that itself 1 ns\ncomputes 6 ns, with 2\.0 threads/);
  assert.equal(quartzText({ ...row, kind: 'program', name: '' }, 1, 1n).label, 'the whole program');
});

void test('where callers are not known, the list from the top down says so', () => {
  assert.match(callersRemark('portable'), /one caller at most, and none without frame pointers/);
  for (const source of ['kernel', 'program', 'text']) {
    assert.equal(callersRemark(source), '');
  }
});
