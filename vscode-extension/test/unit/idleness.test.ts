import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuText } from '../../src/core/timeline/details';
import { pixelAt } from '../../src/core/timeline/drawGraphs';
import { idleBeside, idleReason, waitingBeside } from '../../src/core/timeline/idleness';
import { data } from './timelineScenes';

void test('a CPU that is idle while threads wait says why, and so does a thread that waits beside an idle CPU', () => {
  const shown = data(2);
  const { fromNs, toNs } = shown.view;
  const [quiet, half, full] = [fromNs + (toNs - fromNs) * 0.1, fromNs + (toNs - fromNs) * 0.3, fromNs + (toNs - fromNs) * 0.6];
  /** A value for each pixel: those of two moments, and elsewhere nothing. */
  const values = (atHalf: number, atFull: number): Uint32Array => {
    const all = new Uint32Array(shown.pixels);
    all[pixelAt(half, shown)] = atHalf;
    all[pixelAt(full, shown)] = atFull;
    return all;
  };
  const waiting = { ...shown, parallelism: { ...shown.parallelism, leastRunnable: values(2, 0), mostRunnable: values(3, 1), mostRunning: values(1, 2) } };
  const reason = idleReason('linux', false, 0);
  assert.match(waitingBeside(waiting, half, reason), /^, while 2 threads wait for a CPU: Linux moves a thread that waits elsewhere only when it balances its queues, /);
  assert.equal(waitingBeside(waiting, quiet, reason), '');
  assert.equal(waitingBeside(waiting, full, reason), '', 'not all the time of that pixel');
  assert.equal(waitingBeside(waiting, toNs + 1e9, reason), '', 'behind the end of the run');
  assert.match(idleBeside(waiting, half, 2, reason), /^, while a CPU is idle: Linux /);
  assert.match(idleBeside(waiting, half, 4, reason), /^, while 3 CPUs are idle: /);
  assert.equal(idleBeside(waiting, full, 2, reason), '');
  assert.equal(idleBeside(waiting, toNs + 1e9, 2, reason), '');
  // Of other schedulers that is not known, but of threads that are bound.
  assert.equal(waitingBeside(waiting, half, idleReason('fifo', false, 0)), ', while 2 threads wait for a CPU');
  assert.match(idleReason('fifo', true, 700_000_000), /^a bound thread waits for its own CPU$/);
  assert.match(idleReason('linux', true, 0), /bound.*Linux/);
  assert.doesNotMatch(idleReason('linux', false, 0), /packs/);
  assert.match(idleReason('linux', false, 700_000_000), /^Linux moves .* and this one packs those that together use less than 70% of a CPU$/);
  const names = new Map<number, string>();
  const [row] = waiting.cpuRows;
  assert.ok(row);
  const beside = waitingBeside(waiting, half, '');
  assert.equal(cpuText(row, { turn: undefined, summary: undefined }, names, beside), 'CPU 0 · idle, while 2 threads wait for a CPU');
  assert.doesNotMatch(cpuText(row, { turn: 0, summary: undefined }, names, beside), /while/);
  // The tip shows four lines of some 45 characters (timelinePage.ts).
  for (const why of [reason, idleReason('linux', true, 0), idleReason('linux', false, 700_000_000)]) {
    const whole = cpuText(row, { turn: undefined, summary: undefined }, names, waitingBeside(waiting, half, why));
    assert.ok(whole.length <= 4 * 45, whole);
  }
});
