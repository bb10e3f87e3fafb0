import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lockMarkdown, locksNamed, mayNameMember } from '../../src/core/lockHover';
import { GetObjectsResponse } from '../../src/protocol/longpole/v1/analyses';

const place = (line: number): object => ({ file: '/src/bank.cc', line, function: 'bank::move' });
const objects = GetObjectsResponse.fromPartial({
  totalNs: 4e9,
  objects: [
    {
      kind: 'mutex',
      name: 'ledger_lock',
      acquisitions: 1204n,
      contended: 311n,
      waitNs: 2e9,
      freedTotalNs: 3e9,
      uses: [
        { place: place(20), acquisitions: 1200n, waitNs: 2e9 },
        { place: place(30), acquisitions: 4n, waitNs: 0 },
      ],
      collisions: [{ waker: 'teller.1', waiter: 'teller.2', times: 300n, waitNs: 1.5e9 }],
    },
    { kind: 'mutex', name: 'bank::journal#2', acquisitions: 1n, freedTotalNs: 4e9 },
    { kind: 'condition', name: 'queue+16', acquisitions: 2n, waitNs: 1e9, contended: 1n, freedTotalNs: 4e9 },
    { kind: 'mutex', name: 'bank.cc:17#3', acquisitions: 9n, contended: 1n, waitNs: 1e9, uses: [{ place: place(40), acquisitions: 9n, waitNs: 1e9 }] },
  ],
});
const links = { freed: (lock: string) => `command:free-${lock}`, linkTo: ({ line }: { line: number }) => `command:go-${line}` };
const plain = (text: string | undefined): string => (text ?? '').replaceAll('&nbsp;', ' ').replace(/&#(\d+);/g, (_entity, code: string) => String.fromCharCode(Number(code)));
const names = (word: string, mentioned: readonly number[] = []): string[] => locksNamed(objects, word, ({ line }) => mentioned.includes(line)).map(({ name }) => name);

void test('a word means the variable of that name, and what is part of it', () => {
  assert.deepEqual(names('ledger_lock'), ['ledger_lock']);
  assert.deepEqual(names('journal'), ['bank::journal#2']);
  assert.deepEqual(names('queue'), ['queue+16']);
  assert.deepEqual(names('bank'), []);
  assert.deepEqual(names('lock'), []);
});

void test('a member means the locks without a name that lines take which name it', () => {
  assert.deepEqual(names('lock', [40]), ['bank.cc:17#3']);
  assert.deepEqual(names('ledger_lock', [40]), ['ledger_lock'], 'one that has the name comes first');
});

void test('on a line, only what may be a member is looked for as one: no type, and no name of what holds a lock', () => {
  const members = (line: string): string[] => [...line.matchAll(/\w+/g)].filter(({ index }) => mayNameMember(line, index)).map(([word]) => word);
  assert.deepEqual(members('  mutable std::mutex state_;'), ['state_']);
  assert.deepEqual(members('std::array<std::mutex, 4> shards;'), ['4', 'shards']);
  assert.deepEqual(members('pthread_rwlock_t table, log;'), ['table', 'log']);
  assert.deepEqual(members('const std::lock_guard<std::mutex> hold(state_);'), ['state_']);
  assert.deepEqual(members('std::unique_lock hold{queue.state_};'), ['queue', 'state_']);
  assert.deepEqual(members('pthread_mutex_lock(&queue->guard);'), ['queue', 'guard']);
  assert.deepEqual(members('state_mutex.lock();'), []);
  assert.deepEqual(members('std::mutex state_; int count;'), ['state_']);
  assert.deepEqual(members('std::sort(first, last);'), []);
});

void test('who waits, how long, and what the program would gain', () => {
  assert.equal(
    plain(lockMarkdown(locksNamed(objects, 'ledger_lock', () => false), 4e9, 8, links)),
    [
      '**ledger_lock**  mutex  [What if nobody waited?](command:free-ledger_lock)  ',
      'Threads wait 2.00 s for it, in 311 of 1,204 calls.  ',
      '**If nobody did, the program would take 25% less at 8 CPUs.**',
      '',
      'teller.2 waits 1.50 s for teller.1, 300×',
      '',
      '[move  bank.cc:20](command:go-20): 2.00 s, 1,200×  ',
      '[move  bank.cc:30](command:go-30): no wait, 4×',
    ].join('\n'),
  );
});

void test('of several only the one that is waited for most is told in full, so that the hover need not be scrolled', () => {
  const shards = Array.from({ length: 9 }, (_unused, index) =>
    GetObjectsResponse.fromPartial({ objects: [{ kind: 'mutex', name: `shards+${index * 40}`, acquisitions: 5n, contended: 2n, waitNs: index * 1e6, freedTotalNs: 4e9 }] }).objects,
  ).flat();
  const lines = plain(lockMarkdown(shards, 4e9, 8, links)).split('\n');
  assert.match(lines[0] ?? '', /^\*\*shards\+320\*\*/);
  assert.equal(lines.filter((line) => line.startsWith('[shards+')).length, 6);
  assert.match(lines.join('\n'), /\[shards\+280\]\(command:free-shards\+280\) {2}mutex: 7\.00 ms in 2 of 5 calls/);
  assert.equal(lines.at(-1), "2 more of that name are in the side bar's list of locks.");
});

void test('one that costs nothing says so', () => {
  assert.match(plain(lockMarkdown(locksNamed(objects, 'journal', () => false), 4e9, 8, links)), /1 call, and nobody ever waits for it\.$/);
  assert.match(plain(lockMarkdown(locksNamed(objects, 'queue', () => false), 4e9, 8, links)), /If nobody did, the program would take as long at 8 CPUs\.$/);
  assert.match(plain(lockMarkdown(locksNamed(objects, 'lock', ({ line }) => line === 40), 4e9, 8, links)), /was not simulated\./);
  assert.equal(lockMarkdown([], 4e9, 8, links), undefined);
});
