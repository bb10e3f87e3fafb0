import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  expectedSentence,
  isUsual,
  machineOf,
  machineRemark,
  type MachineSettings,
  machineSummary,
  otherScheduler,
  parseNodes,
  parseSpeeds,
  parseTime,
  parseWhole,
  rankedScheduler,
  rankingRemark,
  readMachine,
  replacedModel,
  schedulerOf,
  schedulerWords,
  shortMachineRemark,
  usualMachine,
  withBinding,
  withThread,
} from '../../src/core/machineSettings';
import { Prediction } from '../../src/protocol/longpole/v1/simulation';

void test('times are read with their units, and nothing else', () => {
  const rows: [string, number | undefined][] = [
    ['', undefined],
    ['0', 0],
    ['5us', 5000],
    [' 1.5 ms ', 1_500_000],
    ['2 µs', 2000],
    ['3 s', 3e9],
  ];
  for (const [text, ns] of rows) {
    assert.deepEqual(parseTime(text), { value: ns }, text);
  }
  for (const text of ['5', '-1 us', '1 h', '1e3 us', '61 s', 'us']) {
    assert.ok('problem' in parseTime(text), text);
  }
});

void test('speeds and whole numbers are held to their limits', () => {
  assert.deepEqual(parseSpeeds('1, 0.5  2'), { value: [1, 0.5, 2] });
  assert.deepEqual(parseSpeeds(' '), { value: undefined });
  for (const text of ['0', '-1', 'fast', '1001', 'NaN']) {
    assert.ok('problem' in parseSpeeds(text), text);
  }
  assert.deepEqual(parseNodes('0 0, 1'), { value: [0, 0, 1] });
  assert.ok('problem' in parseNodes('0, -1'));
  const nodes = { ...usualMachine, nodes: [0, 1], nodeLatencyNs: 900 };
  assert.deepEqual(machineOf(nodes, 3)?.nodes, [0, 1, 1]);
  assert.equal(machineSummary(nodes), 'linux, 2 NUMA nodes, 900 ns apart');
  assert.deepEqual(parseWhole('', 0, 9), { value: undefined });
  assert.deepEqual(parseWhole('9', 0, 9), { value: 9 });
  for (const text of ['10', '-1', '1.5', 'x']) {
    assert.ok('problem' in parseWhole(text, 0, 9), text);
  }
});

void test('a machine is sent as large as it is asked for', () => {
  const settings: MachineSettings = {
    scheduler: '',
    model: '',
    speeds: [1, 0.5],
    latencyNs: 5000,
    threads: [{ thread: 'a', cpu: 3 }, { thread: 'b', cpu: 0, priority: 7 }],
  };
  assert.equal(schedulerOf(settings, 'shared'), 'linux', 'there are no parameters without a machine');
  assert.equal(schedulerOf(usualMachine, 'shared'), 'shared');
  const machine = machineOf(settings, 3);
  assert.deepEqual(machine?.speeds, [1, 0.5, 1]);
  assert.equal(machine?.latencyNs, 5000n);
  assert.deepEqual(machine?.threads, [{ thread: 'b', cpu: 0, priority: 7, nice: 0 }], 'CPU 3 is not there');
  assert.deepEqual(machineOf(settings, 1)?.speeds, [1]);
  assert.equal(machineOf(usualMachine, 8), undefined);
});

void test('what is not as usual is said', () => {
  assert.equal(machineSummary(usualMachine), '');
  assert.equal(machineSummary({ ...usualMachine, scheduler: 'shared' }), 'shared');
  const settings = withThread({ ...usualMachine, model: 'strict', latencyNs: 5000, speeds: [1, 0.5], lwps: 4 }, { thread: 'a', cpu: 1, priority: 2 });
  assert.equal(machineSummary(settings), 'linux, model strict, 4 LWPs, latency 5.00 µs, speeds 1, 0.5, 1 thread bound, 1 priority');
  assert.equal(withThread(settings, { thread: 'a' }).threads, undefined, 'a choice of nothing is none');
});

void test('a model that nobody chose is said, and why', () => {
  assert.equal(replacedModel(usualMachine, 'direct'), '');
  assert.equal(replacedModel(usualMachine, ''), '', 'a daemon that does not say');
  assert.equal(replacedModel({ ...usualMachine, model: 'strict' }, 'strict'), '');
  assert.equal(
    replacedModel(usualMachine, 'client-server'),
    'Simulated by the model client-server: by the direct one, where a wait ends by whatever release comes first, the program stands still.',
  );
});

void test('a machine that would be much slower is told of, or one that would be much faster', () => {
  const onMachine = { cpus: 4, totalNs: 175e6, speedup: 1.2, unlikeShared: true };
  assert.equal(
    machineRemark(onMachine, false),
    'With what the machine takes to wake threads up and to switch between them, by the scheduler linux, it is 175 ms at 4 CPUs, 1.2× as fast as at one.',
  );
  assert.match(machineRemark(onMachine, true), /between them, and what its caches save or cost, by the scheduler linux, it is 175 ms/);
  assert.equal(shortMachineRemark(onMachine, true), 'With what wake-ups and switches take, and caches save or cost: 175 ms, 1.2×.');
  assert.equal(shortMachineRemark(onMachine, false), 'With what wake-ups and switches take: 175 ms, 1.2×.');
  for (const remark of [machineRemark, shortMachineRemark]) {
    assert.equal(remark({ ...onMachine, unlikeShared: false }, true), '', 'nearly the same');
  }
});

void test('a ranking follows the paper’s schedulers, and says what else it leaves out', () => {
  const cases: [Partial<MachineSettings>, string, string][] = [
    [{}, 'shared', ''],
    [{ scheduler: 'shared' }, 'shared', ''],
    [{ scheduler: 'ideal' }, 'ideal', ''],
    [{ scheduler: 'ideal', model: 'strict' }, 'ideal', 'This list is of a simulation in which each thread has a CPU: it does not follow the chosen machine (model strict).'],
    [{ model: 'strict' }, 'shared', 'This list is of a simulation in which threads share the CPUs evenly: it does not follow the chosen machine (model strict).'],
    [{ scheduler: 'fifo' }, 'shared', 'This list is of a simulation in which threads share the CPUs evenly: it does not follow the chosen machine (fifo).'],
    [{ latencyNs: 5000 }, 'shared', 'This list is of a simulation in which threads share the CPUs evenly: it does not follow the chosen machine (linux, latency 5.00 µs).'],
  ];
  for (const [settings, scheduler, remark] of cases) {
    assert.equal(rankedScheduler({ ...usualMachine, ...settings }), scheduler);
    assert.equal(rankingRemark({ ...usualMachine, ...settings }), remark);
  }
});

void test('a binding takes the place of all others and leaves priorities as they are', () => {
  const before: MachineSettings = { ...usualMachine, threads: [{ thread: 'a', cpu: 3, priority: 5 }, { thread: 'c', cpu: 2 }] };
  const bound = withBinding(before, [{ thread: 'a', cpu: 0 }, { thread: 'b', cpu: 1 }]);
  assert.deepEqual(
    JSON.parse(JSON.stringify(bound.threads)),
    [{ thread: 'a', cpu: 0, priority: 5 }, { thread: 'b', cpu: 1 }],
  );
});

void test('what was kept is read again, and nonsense is not', () => {
  const settings: MachineSettings = { ...usualMachine, scheduler: 'fifo', latencyNs: 1, threads: [{ thread: 'a', cpu: 1 }] };
  assert.deepEqual(JSON.parse(JSON.stringify(readMachine(JSON.parse(JSON.stringify(settings))))), JSON.parse(JSON.stringify(settings)));
  for (const kept of [undefined, null, 5, 'x', {}, { scheduler: 'fastest', latencyNs: -1, speeds: ['a'], threads: [3] }]) {
    assert.ok(isUsual(readMachine(kept)), JSON.stringify(kept));
  }
});

void test('a number says by which scheduler it is, and a window that it is not the usual one', () => {
  const of = (scheduler: string): [string, string] => [schedulerWords({ ...usualMachine, scheduler }), otherScheduler({ ...usualMachine, scheduler })];
  assert.deepEqual(of(''), ['where threads share the CPUs evenly (scheduler shared)', '']);
  assert.deepEqual(of('shared'), ['where threads share the CPUs evenly (scheduler shared)', '']);
  assert.deepEqual(of('ideal'), ['where each thread has a CPU (scheduler ideal)', 'ideal']);
  assert.deepEqual(of('fifo'), ['by the scheduler fifo', 'fifo']);
  assert.equal(otherScheduler({ ...usualMachine, latencyNs: 5 }), 'linux', 'a machine with parameters');
});

void test('what is to be expected of a prediction', () => {
  const prediction = Prediction.create({ cpus: 8, totalNs: 501e6, speedup: 2, leastSpeedup: 1.9, mostSpeedup: 2.1 });
  assert.equal(
    expectedSentence(prediction, { ...usualMachine, scheduler: 'linux' }),
    'On a real machine with 8 CPUs, expect between 1.90× and 2.10×: by the scheduler linux it takes 501 ms, 2.00×.',
  );
  assert.match(expectedSentence({ ...prediction, leastSpeedup: 1.999, mostSpeedup: 2.001 }, usualMachine), /8 CPUs, expect 2\.00×: /);
  assert.equal(expectedSentence({ ...prediction, leastSpeedup: undefined }, usualMachine), '');
});
