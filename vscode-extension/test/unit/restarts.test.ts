import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RestartLimit } from '../../src/core/restarts';

void test('a few crashes in a short time are too many, the same over a long time are not', () => {
  const limit = new RestartLimit(3, 60_000);
  assert.deepEqual([0, 1, 2, 3].map((second) => limit.mayRestart(second * 1000)), [true, true, true, false]);
  assert.ok(limit.mayRestart(200_000));
  const slow = new RestartLimit(1, 1000);
  assert.ok([0, 5000, 10_000].every((time) => slow.mayRestart(time)));
});

void test('the user starts the count anew', () => {
  const limit = new RestartLimit(1, 60_000);
  assert.ok(limit.mayRestart(0));
  assert.ok(!limit.mayRestart(1));
  limit.forget();
  assert.ok(limit.mayRestart(2));
});
