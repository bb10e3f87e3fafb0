import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hoverMarkdown, type HoverOptions } from '../../src/core/hoverText';
import { waitsOfFunction, waitsOfLine } from '../../src/core/lockWaits';
import { escapeMarkdown } from '../../src/core/markdown';
import { GetObjectsResponse } from '../../src/protocol/longpole/v1/analyses';
import { file, weights } from './numbers';

const all = weights();
const merge = all.functionsOf(file).find(({ name }) => name === 'merge');
const options: HoverOptions = {
  cpus: 8,
  columns: [1, 2, 8],
  chart: '',
  linkTo: () => '',
  timeline: '',
  whatIf: '',
  locks: { ofLine: [], ofFunction: [] },
  freed: () => '',
  threads: '',
  scheduler: '',
};

/** The text without colours and entities. */
function plain(markdown: string | undefined): string {
  return (markdown ?? '')
    .replace(/<\/?span[^>]*>/g, '')
    .replaceAll('&emsp;', '')
    .replaceAll('&nbsp;', ' ')
    .replace(/&#(\d+);/g, (_entity, code: string) => String.fromCharCode(Number(code)));
}

void test('a function: what it means, at every CPU count that is known', () => {
  assert.equal(
    plain(hoverMarkdown(all, { weight: merge, line: undefined }, options)),
    [
      '**merge**  sorter.c:10  ',
      '53% of the critical path at 8 CPUs (212 ns of 400 ns).  ',
      '**10% faster here makes the whole program 5.3% faster.**',
      '',
      '| CPUs | 1 | **8** |',
      '|:--|--:|--:|',
      '| share | 21% | **53%** |',
      '| program | 1.00 µs | **400 ns** |',
      '',
      '7 calls · self 212 ns · with descendants 212 ns of CPU time',
    ].join('\n'),
  );
});

void test('a line: its own numbers beside those of its function', () => {
  const text = plain(hoverMarkdown(all, { weight: merge, line: all.linesOf(file).get(12) }, { ...options, cpus: 1 }));
  assert.match(text, /^\*\*Line 12\*\* {2}in merge {2}\n15% of the critical path at 1 CPU /);
  assert.match(text, /\*\*10% faster here makes the whole program 1\.5% faster\.\*\*/);
  assert.match(text, /\| this line \| \*\*15%\*\* \| 38% \|\n\| merge \| \*\*21%\*\* \| 53% \|/);
  assert.match(text, /\n\nmerge: 7 calls/);
});

void test('a place off the path says so', () => {
  const bubble = all.functionsOf(file).find(({ name }) => name === 'bubble_sort');
  const text = plain(hoverMarkdown(all, { weight: bubble, line: undefined }, options));
  assert.match(text, /Not on the critical path at 8 CPUs\. {2}\n\*\*Making it faster changes nothing/);
  assert.match(text, /\| share \| 70% \| \*\*0\.0%\*\* \|/);
});

void test('nothing known, nothing said', () => {
  assert.equal(hoverMarkdown(all, { weight: undefined, line: undefined }, options), undefined);
  assert.equal(hoverMarkdown(all, { weight: merge, line: undefined }, { ...options, cpus: 3 }), undefined);
});

void test('a name cannot become markup or a link', () => {
  assert.doesNotMatch(escapeMarkdown('[x](command:y) <img src=z> **b** `c` $(bug)'), /[[\]<>*`$(]/);
});

void test('the name of the function leads to it', () => {
  const known = weights();
  const [merge] = known.heaviestFunctions(8, 1);
  const text = hoverMarkdown(known, { line: undefined, weight: merge }, { ...options, linkTo: () => 'command:go' });
  assert.match(text ?? '', /^\*\*\[merge\]\(command:go\)\*\*/);
  const shown = hoverMarkdown(known, { line: undefined, weight: merge }, { ...options, timeline: 'command:show' });
  assert.match(shown ?? '', /^\*\*merge\*\*[^\n]*sorter[^\n]*\[Show in timeline\]\(command:show\) {2}\n/);
});

void test('of some threads alone, it says so', () => {
  const text = plain(hoverMarkdown(all, { weight: merge, line: undefined }, { ...options, threads: '2 of 9 threads: main' }));
  assert.match(text, /\n\n\*The part of 2 of 9 threads: main alone\.\*$/);
});

const objects = GetObjectsResponse.fromPartial({
  totalNs: 400,
  objects: [
    {
      name: 'list_lock',
      freedTotalNs: 300,
      uses: [
        { place: { file, line: 11, function: 'merge' }, acquisitions: 7n, waitNs: 50 },
        { place: { file, line: 13, function: 'merge' }, acquisitions: 1n, waitNs: 0 },
        { place: { file: '/elsewhere.c', line: 11, function: 'merge' }, acquisitions: 1n, waitNs: 9 },
      ],
    },
    { name: 'idle_lock', uses: [{ place: { file, line: 13, function: 'merge' }, acquisitions: 2n, waitNs: 0 }] },
  ],
});

void test('a line that takes a lock says how long it waits for it, and what that costs', () => {
  const ofLine = waitsOfLine(objects, file, 11);
  const text = plain(hoverMarkdown(all, { weight: merge, line: undefined }, { ...options, locks: { ofLine, ofFunction: [] }, freed: () => 'command:x' }));
  assert.match(text, /\n\nWaits 50 ns for \[list_lock\]\(command:x\) in 7 calls; if nobody did, the program would take \*\*25% less\*\*\.\n\n\| CPUs/);
  const idle = plain(hoverMarkdown(all, { weight: merge, line: undefined }, { ...options, locks: { ofLine: waitsOfLine(objects, file, 13), ofFunction: [] } }));
  assert.match(idle, /Takes list_lock in 1 call, and never waits for it\.\n\nTakes idle_lock in 2 calls, and never waits for it\./);
});

void test('a function names what it waits for', () => {
  const ofFunction = waitsOfFunction(objects, file, 'merge');
  const text = plain(hoverMarkdown(all, { weight: merge, line: undefined }, { ...options, locks: { ofLine: [], ofFunction } }));
  assert.match(text, /self 212 ns · with descendants 212 ns · waits 50 ns for list_lock$/);
});
