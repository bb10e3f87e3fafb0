import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asSentence,
  effectSentence,
  formatCount,
  formatCountOf,
  formatCpus,
  formatElapsed,
  formatShare,
  formatSpeedup,
  formatTime,
  shareSentence,
} from '../../src/core/format';

void test('shares', () => {
  const shares: [number, string][] = [
    [0.3812, '38%'],
    [0.061, '6.1%'],
    [0.0994, '9.9%'],
    [0.0996, '10%'],
    [0.0004, '0.0%'],
    [-0.0004, '0.0%'],
    [1.333, '133%'],
    [-0.032, '−3.2%'],
  ];
  for (const [share, text] of shares) {
    assert.equal(formatShare(share), text);
  }
});

void test('times have three digits', () => {
  const times: [number, string][] = [
    [11_640_000_000, '11.6 s'],
    [1_748_000_000, '1.75 s'],
    [999_700_000, '1.00 s'],
    [174_300_000, '174 ms'],
    [99_960_000, '100 ms'],
    [9_996_000, '10.0 ms'],
    [3_214, '3.21 µs'],
    [512, '512 ns'],
    [0, '0 ns'],
    [-2_000_000, '-2.00 ms'],
  ];
  for (const [ns, text] of times) {
    assert.equal(formatTime(ns), text);
  }
});

void test('counts, CPUs and speed-ups', () => {
  assert.equal(formatCount(57337n), '57,337');
  assert.equal(formatCount(1000), '1,000');
  assert.equal(formatCount(999n), '999');
  assert.equal(formatCountOf(1n, 'thread'), '1 thread');
  assert.equal(formatCountOf(0, 'thread'), '0 threads');
  assert.equal(formatCountOf(57337, 'call'), '57,337 calls');
  assert.equal(formatCountOf(2n, 'priority', 'priorities'), '2 priorities');
  assert.equal(formatCpus(1), '1 CPU');
  assert.equal(formatCpus(8), '8 CPUs');
  assert.equal(formatSpeedup(6.63), '6.6×');
  assert.equal(formatSpeedup(12.3), '12×');
});

void test('how long something has been going on', () => {
  const times: [number, string][] = [[0, '0:00'], [7_900, '0:07'], [760_000, '12:40'], [3_723_000, '1:02:03']];
  for (const [ms, text] of times) {
    assert.equal(formatElapsed(ms), text);
  }
});

void test('sentences say what a number means', () => {
  assert.equal(shareSentence(1.03e9, 1.75e9, 8), '59% of the critical path at 8 CPUs (1.03 s of 1.75 s).');
  assert.equal(shareSentence(0, 1.75e9, 1), 'Not on the critical path at 1 CPU.');
  assert.equal(shareSentence(5, 0, 1), 'Not on the critical path at 1 CPU.');
  assert.equal(effectSentence(0.58), '10% faster here makes the whole program 5.8% faster.');
  assert.equal(effectSentence(-0.33), '10% faster here makes the whole program 3.3% slower.');
  assert.equal(effectSentence(0), 'Making it faster changes nothing for the whole program.');
});

void test('an error is a sentence, and a program keeps its name', () => {
  assert.equal(asSentence('cannot open x.lptrace: it is damaged'), 'Cannot open x.lptrace: it is damaged');
  for (const text of ['sorter is statically linked', 'launch.json has no configuration', 'Done.']) {
    assert.equal(asSentence(text), text);
  }
});
