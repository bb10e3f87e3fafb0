import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editedMarkdown, hoverMarkdown, type HoverOptions } from '../../src/core/hoverText';
import { waitsOfFunction, waitsOfLine } from '../../src/core/lockWaits';
import { escapeMarkdown } from '../../src/core/markdown';
import { GetObjectsResponse } from '../../src/protocol/longpole/v1/analyses';
import { Weights } from '../../src/core/weights';
import { GetFunctionsResponse, GetLinesResponse } from '../../src/protocol/longpole/v1/lines';
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
      '| in itself | 21% | **53%** |',
      '| program | 1.00 µs | **400 ns** |',
      '',
      '7 calls · self 212 ns · with callees 212 ns of CPU time',
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
  assert.match(text, /\| in itself \| 70% \| \*\*0\.0%\*\* \|/);
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
  assert.match(text, /self 212 ns · with callees 212 ns · waits 50 ns for list_lock$/);
});

/** On 8 CPUs and 400 ns: a function that is on the path by what it calls, in itself as well, or in itself alone. */
function callers(margin = 0, threads: number[] = []): Weights {
  const result = new Weights();
  const at = (self: number, total: number): object => ({ at: [{ criticalSelfNs: self, criticalTotalNs: total, marginNs: margin }] });
  const lines = [{ file, line: 12, function: 'both', samples: 34n, criticalNs: [40], marginNs: margin === 0 ? [] : [margin] }];
  result.add(
    [8],
    GetLinesResponse.fromPartial({ totalNs: [400], lines, threads }),
    GetFunctionsResponse.fromPartial({ totalNs: [400], functions: [{ name: 'main', file, line: 1, samples: 3n, ...at(0, 300) }, { name: 'both', file, line: 9, ...at(40, 100) }], threads }),
  );
  return result;
}

void test('a function that is on the path by what it calls is worth something', () => {
  const known = callers();
  const [both, main] = known.heaviestFunctions(8, 2);
  const of = (weight: typeof main): string => plain(hoverMarkdown(known, { weight, line: undefined }, options));
  assert.match(of(main), /75% of the critical path at 8 CPUs with what it calls \(300 ns of 400 ns\), nothing in itself\. {2}\n\*\*10% faster with what it calls makes the whole program 7\.5% faster\.\*\*/);
  assert.match(of(main), /\| in itself \| \*\*0\.0%\*\* \|\n\| with callees \| \*\*75%\*\* \|/);
  assert.match(of(both), /10% of the critical path at 8 CPUs in itself, 25% with what it calls .*\n\*\*10% faster in itself makes the whole program 1\.0% faster, with what it calls 2\.5%\.\*\*/);
});

void test('as far as the samples leave it open, a share says so', () => {
  const line = (known: Weights): string => plain(hoverMarkdown(known, { weight: undefined, line: known.linesOf(file).get(12) }, options));
  assert.match(line(callers(8)), /10% ± 2\.0% of the critical path at 8 CPUs \(40 ns of 400 ns, 34 samples\)\./);
  assert.doesNotMatch(line(callers()), /±/, 'it is exact');
  assert.doesNotMatch(line(callers(0.1)), /±/, 'that is nothing that could be seen');
  assert.doesNotMatch(line(callers(8, [2])), /±/, 'of some threads it is not known');
});

void test('in a file that was edited, places are those of now', () => {
  const line = all.linesOf(file).get(12);
  assert.match(plain(hoverMarkdown(all, { weight: merge, line, lineNow: 15 }, options)), /^\*\*Line 15\*\* {2}in merge, 12 when it was recorded {2}\n/);
  assert.match(plain(hoverMarkdown(all, { weight: merge, line, lineNow: 12 }, options)), /^\*\*Line 12\*\* {2}in merge {2}\n/);
  assert.match(plain(hoverMarkdown(all, { weight: merge, line: undefined, lineNow: 13 }, options)), /^\*\*merge\*\* {2}sorter\.c:13 /);
});

void test('an edited line says what stood there', () => {
  const lines = [12, 13, 14].flatMap((number) => all.linesOf(file).get(number) ?? []);
  assert.equal(editedMarkdown(all, lines, 8), '**Edited since it was recorded.** Before that, lines 12 to 14 had 53% of the critical path at 8 CPUs.');
  assert.match(editedMarkdown(all, lines.slice(0, 1), 8) ?? '', /Before that, line 12 had 38% /);
  assert.equal(editedMarkdown(all, [], 8), undefined);
});

void test('another scheduler than usual is named', () => {
  assert.match(plain(hoverMarkdown(all, { weight: merge, line: undefined }, { ...options, scheduler: 'linux' })), /\| program \(linux\) \|/);
});
