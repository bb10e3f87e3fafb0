// A daemon that says what a test wants to hear: for what the real one does not do on demand (speak another protocol, crash,
// take its time). Usage: fakeDaemon.js BEHAVIOUR serve --parent-stdin, or BEHAVIOUR record --status FILE -o FILE -- PROGRAM…
//
//   usual         numbers for the file `pipeline.c` of the workspace; records until it is stopped, or at once with
//                 --short; says the file was another one with --other-version, has no second producer with --one-producer, no thread that
//                 was created with --one-thread, spins with --spins unless recorded in lockstep, stands still with --stands-still, and takes its time with
//                 --slow; dies when asked about 13 CPUs, and once it has answered about 14
//   other-protocol, crash-on-start, crash-on-record, refuse-record
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import type { GetFunctionsRequest, GetLinesRequest, ThreadChoice } from '../../src/protocol/longpole/v1/lines';
import { LongpoleService, type LongpoleServer } from '../../src/protocol/longpole/v1/longpole';
import { Recording } from '../../src/protocol/longpole/v1/recording';
import { burden, fakeAllocate, fakeBound, fakeLeads, fakeObjects, fakeQuartz, fakeThreadNames, fakeThreads, fakeWhatIf, leftOf } from './fakeAnalyses';
import { fakeFound, fakeTimeline, fakeTimelineItem, fastHandle } from './fakeTimeline';

const behaviour = process.argv[2] ?? 'usual';
const protocol = behaviour === 'other-protocol' ? 99 : 1;
const folder = mkdtempSync(join(tmpdir(), 'fake-'));
const socket = join(folder, 'socket');
/** Of produce, `left` is left, and all of it is on the path; consume shares the CPUs. */
const totalNs = (cpus: number, left = 1): number => 1e9 / Math.min(cpus, 4) + left * 1e9;

/** What of `produce` is left in the changed programs, by their handles. */
const changed = new Map<bigint, number>();
const left = (handle: bigint): number => changed.get(handle) ?? 1;

function recording(path: string, handle = 1n): Recording {
  // Where there is one, it holds the file's code.
  const library = join(dirname(path), 'libpipeline.so');
  const content = otherVersion ? 'another' : readFileSync(contentPath || path);
  return Recording.create({
    handle,
    command: ['./pipeline'],
    startedAtUnixNs: BigInt(Date.now()) * 1_000_000n,
    events: 12345n,
    machineCpus: 8,
    threads: 4,
    complete: true,
    exitStatus: 0,
    source: 'kernel',
    notices: notices.map((code) => ({ code, text: `Noticed: ${code}.`, count: 0n })),
    files: [{ path, sha256: createHash('sha256').update(content).digest('hex'), modules: existsSync(library) ? [library] : [] }],
  });
}

/** What the daemon was asked: a line for each question, with the numbers of CPUs that it was of. */
const callsFile = join(process.env['HOME'] ?? '/tmp', 'calls');

function answer<Request, Response>(make: (request: Request) => Response) {
  return (call: ServerUnaryCall<Request, Response>, done: sendUnaryData<Response>): void => {
    const { cpus } = call.request as { readonly cpus?: number | readonly number[] };
    appendFileSync(callsFile, `${call.getPath().replace(/.*\//, '')}${cpus === undefined ? '' : ` ${String(cpus)}`}\n`);
    let made: Response;
    try {
      made = make(call.request);
    } catch (error) {
      done({ code: status.INVALID_ARGUMENT, details: error instanceof Error ? error.message : String(error) });
      return;
    }
    if (takesItsTime) {
      setTimeout(() => done(null, made), 300);
    } else {
      done(null, made);
    }
  };
}

let file = '';
let takesItsTime = false;
let otherVersion = false;
let oneProducer = false;
let notices: string[] = [];
let contentPath = '';

/** What stands in a recording of this daemon. */
interface Made {
  /** Relative to the recording, or absolute. */
  readonly file: string;
  readonly args: readonly string[];
  /** What the file held, where it was made on another machine. */
  readonly content?: string;
  /** Asked for when it was recorded. */
  readonly lockstep?: string;
}

function readRecording(path: string): Made {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Made;
  } catch {
    throw new Error(`cannot open ${path}: it is damaged from its first byte on; record again`);
  }
}

const notAskedFor = { code: status.UNIMPLEMENTED, details: 'not asked for' };
const unasked = (_call: unknown, done: sendUnaryData<never>): void => done(notAskedFor);

const service: LongpoleServer = {
  getServerInfo: answer(() => ({ protocol, version: '0.9.0', commit: '', machineCpus: 8 })),
  // The extension records with `longpole record`.
  record: (call) => void call.emit('error', notAskedFor),
  stopRecording: answer(() => ({})),
  openRecording: answer((request) => {
    const made = readRecording(request.path);
    file = resolve(dirname(request.path), made.file);
    otherVersion = made.args.includes('--other-version');
    oneProducer = made.args.includes('--one-producer');
    notices = [
      ...(made.args.includes('--one-thread') ? ['no-threads-created'] : []),
      ...(made.args.includes('--spins') && !made.lockstep ? ['waiting-loops'] : []),
      ...(made.args.includes('--stands-still') ? ['deadlocked'] : []),
      ...(made.args.includes('--is-killed') ? ['cut-short'] : []),
    ];
    takesItsTime = made.args.includes('--slow');
    contentPath = made.content === undefined ? '' : resolve(dirname(request.path), made.content);
    return { recording: recording(file, made.args.includes('--fast') ? fastHandle : undefined) };
  }),
  closeRecording: answer(() => ({})),
  getConcurrency: unasked,
  getQuartz: answer((request) => fakeQuartz(request, file, totalNs)),
  getObjects: answer((request) => fakeObjects(request, file, totalNs)),
  getThreads: answer((request) => fakeThreads(request, totalNs)),
  getLeads: answer(fakeLeads),
  whatIf: answer((request) => {
    const handle = BigInt(changed.size + 2);
    if (request.keep) {
      changed.set(handle, leftOf(request));
    }
    return { ...fakeWhatIf(request, totalNs), changed: request.keep ? recording(file, handle) : undefined };
  }),
  allocate: fakeAllocate,
  bound: answer((request) => fakeBound(request, totalNs)),
  getTimeline: answer((request) => fakeTimeline(request, file)),
  getTimelineItem: (call, done) => {
    const item = fakeTimelineItem(call.request, file);
    done(item === undefined ? { code: status.NOT_FOUND, details: 'there is no further event' } : null, item);
  },
  findInTimeline: answer(fakeFound),
  predict: answer((request) => {
    const isUsual = request.scheduler === '';
    if (isUsual && request.cpus.includes(13)) {
      process.exit(9);
    }
    if (isUsual && request.cpus.includes(14)) {
      setTimeout(() => process.exit(9), 100);
    }
    // With this many it has twice to wait for a kernel's scheduler.
    const waits = (cpus: number): number => (!isUsual && cpus === 11 ? 2 : 1);
    const total = (cpus: number): number => waits(cpus) * totalNs(cpus, left(request.handle)) + burden(request.machine);
    const predictions = request.cpus.map((cpus) => ({
      cpus,
      totalNs: total(cpus),
      speedup: total(1) / total(cpus),
      model: 'direct',
      deadlock: undefined,
      unlikeShared: request.besideShared && waits(cpus) > 1,
      ...(request.withInterval && cpus > 1 ? { leastSpeedup: (0.9 * total(1)) / total(cpus), mostSpeedup: (1.1 * total(1)) / total(cpus) } : {}),
    }));
    return { predictions };
  }),
  getLines: answerOfThreads((request: GetLinesRequest, threads) => {
    const weights = criticalTimes(request.handle, burden(request.machine), threads);
    return {
      threads: [...(threads ?? [])],
      totalNs: request.cpus.map((cpus) => totalNs(cpus, left(request.handle)) + burden(request.machine)),
      lines: [
        { file, line: 5, function: 'produce', selfNs: 1e9, samples: 100n, criticalNs: request.cpus.map(weights.produce), marginNs: [] },
        { file, line: 10, function: 'consume', selfNs: 1e9, samples: 100n, criticalNs: request.cpus.map(weights.consume), marginNs: request.cpus.map(() => 4e7) },
      ],
    };
  }),
  getFunctions: answerOfThreads((request: GetFunctionsRequest, threads) => {
    const weights = criticalTimes(request.handle, burden(request.machine), threads);
    return {
      threads: [...(threads ?? [])],
      totalNs: request.cpus.map((cpus) => totalNs(cpus, left(request.handle)) + burden(request.machine)),
      waitingNs: request.cpus.map(() => 0),
      functions: [
        { name: 'produce', line: 3, lastLine: 6, critical: weights.produce },
        { name: 'consume', line: 8, lastLine: 11, critical: weights.consume },
      ].map(({ name, line, lastLine, critical }) => ({
        name,
        file,
        line,
        lastLine,
        module: 'pipeline',
        calls: 3n,
        selfNs: 1e9,
        selfAndDescendantsNs: 1e9,
        samples: 100n,
        at: request.cpus.map((cpus) => ({
          criticalSelfNs: critical(cpus),
          criticalTotalNs: critical(cpus),
          normalizedSelfNs: 0,
          normalizedTotalNs: 0,
          marginNs: 0,
        })),
      })),
    };
  }),
};

/** Of produce, three quarters are the first producer's. What a machine takes is charged to consume. */
function criticalTimes(
  handle: bigint,
  burdenNs: number,
  threads: readonly number[] | undefined,
): Record<'produce' | 'consume', (cpus: number) => number> {
  const part = (thread: number, share: number): number => (threads === undefined || threads.includes(thread) ? share : 0);
  const produced = part(2, 0.75) + part(3, 0.25);
  return { produce: () => produced * left(handle) * 1e9, consume: (cpus) => part(1, 1) * (1e9 / Math.min(cpus, 4) + burdenNs) };
}

/** Of the threads that are asked for; undefined: all. */
function answerOfThreads<Request extends { readonly threads?: ThreadChoice | undefined }, Response>(
  make: (request: Request, threads: readonly number[] | undefined) => Response,
) {
  const all = fakeThreadNames.map(({ name, started }, place) => ({ place, name, started }));
  return (call: ServerUnaryCall<Request, Response>, done: sendUnaryData<Response>): void => {
    const { threads: choice } = call.request;
    const chosen = all.filter(
      ({ name, started }) => (choice?.names.includes(name) ?? true) || (started !== '' && choice?.functions.includes(started) === true),
    );
    const there = chosen.filter(({ name }) => !oneProducer || name !== 'producer 2');
    if (there.length === 0) {
      done({ code: status.NOT_FOUND, details: 'cannot show these threads alone: no thread of the recording is called so' });
      return;
    }
    answer((request: Request) => make(request, choice && there.map(({ place }) => place)))(call, done);
  };
}

function end(): void {
  process.exit(0);
}

function record(words: readonly string[]): void {
  const after = (option: string): string => words[words.indexOf(option) + 1] ?? '';
  const command = words.slice(words.indexOf('--') + 1);
  if (!words.includes('--status')) {
    console.error('recorded 1 event');
    return;
  }
  const tell = (line: object): void => appendFileSync(after('--status'), JSON.stringify(line) + '\n');
  if (behaviour === 'crash-on-record') {
    process.exit(9);
  }
  if (behaviour === 'refuse-record') {
    tell({ error: `cannot record ${command[0]}: there is no such program; check the path` });
    process.exit(2);
  }
  tell({ doing: 'recording', events: 10 });
  const mode = process.env['PIPELINE_MODE'];
  const lockstep = words.includes('--lockstep') ? after('--lockstep') : '';
  const turns = words.includes('--turns') ? after('--turns') : '';
  console.log(`asked to run${lockstep === '' ? '' : ` in lockstep for ${lockstep}`}${turns === '' ? '' : ` with ${turns} rounds of turns`}: ${command.join('|')}${process.stdin.isTTY ? ' in a terminal' : ''}${mode === undefined ? '' : ` mode=${mode}`}`);
  const stop = (): void => {
    const made: Made = { file: join(process.cwd(), 'pipeline.c'), args: command, lockstep };
    writeFileSync(after('-o'), JSON.stringify(made));
    tell({ recording: after('-o') });
    process.exit(0);
  };
  process.on('SIGTERM', stop);
  if (turns !== '') {
    tell({ doing: `running it as it is, round 1 of ${turns}` });
  }
  if (command.includes('--short')) {
    stop();
  }
  setInterval(() => undefined, 1000);
}

// Also when it dies as it was told to.
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

switch (process.argv[3]) {
  case '--version':
    console.log('longpole 0.9.0');
    break;
  case 'simulate':
    console.log('{"runs": [{}, {}]}');
    break;
  case 'record':
    record(process.argv.slice(4));
    break;
  case undefined:
  default:
    serve();
}

function serve(): void {
  if (behaviour === 'crash-on-start') {
    console.error('fake daemon: there is no room on this machine');
    process.exit(3);
  }
  // It ends with its parent, as the real one does.
  process.stdin.resume().on('end', end).on('error', end);
  const server = new Server();
  server.addService(LongpoleService, service);
  server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => {
    if (error !== null) {
      throw error;
    }
    console.log(`READY ${JSON.stringify({ protocol, version: '0.9.0', commit: '', socket, pid: process.pid })}`);
  });
}
