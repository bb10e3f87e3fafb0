// The daemon's calls as promises, and nothing more: the generated client over a Unix socket.
import { credentials, Metadata, status, type ClientReadableStream, type ServiceError } from '@grpc/grpc-js';
import type { At, Step } from '../core/timeline/messages';
import type { View } from '../core/timeline/model';
import type { ColourBy } from '../core/timeline/theme';
import { isMachine, machineOf, schedulerOf, usualMachine, type MachineSettings } from '../core/machineSettings';
import type { ThreadFilter } from '../core/threadFilter';
import type { ProgramChange } from '../core/whatIf';
import {
  AllocateRequest,
  type AllocateProgress,
  type AllocateResponse,
  type AllocateResult,
  type BoundResponse,
} from '../protocol/longpole/v1/allocation';
import type { GetLeadsResponse, GetObjectsResponse, GetThreadsResponse, WhatIfResponse } from '../protocol/longpole/v1/analyses';
import type { ThreadChoice, GetFunctionsResponse, GetLinesResponse } from '../protocol/longpole/v1/lines';
import { LongpoleClient, type GetServerInfoResponse } from '../protocol/longpole/v1/longpole';
import type { GetQuartzResponse } from '../protocol/longpole/v1/quartz';
import { RecordRequest, type RecordResponse, type Recording } from '../protocol/longpole/v1/recording';
import type { Simulation, PredictResponse } from '../protocol/longpole/v1/simulation';
import {
  type FindInTimelineResponse,
  GetTimelineItemRequest_Step as ProtocolStep,
  type GetTimelineItemResponse,
  type GetTimelineResponse,
  TimelineColour,
} from '../protocol/longpole/v1/timeline';

/** One way to run a recording again. */
export interface SimulatedRun {
  readonly cpus: number;
  readonly scheduler: string;
  /** Its other settings; without them, the usual ones. */
  readonly machine?: MachineSettings;
}

/** What a ranking is of. */
export interface RankedAt {
  readonly cpus: number;
  readonly scheduler: 'shared' | 'ideal';
}

/** Both times 0: the whole run. */
export interface PixelView extends View {
  readonly pixels: number;
}

export interface TimelineContent {
  /** Empty: those that do something. */
  readonly rows: readonly number[];
  readonly cpus: readonly number[];
  readonly listThreads: boolean;
  readonly withoutRows: boolean;
  readonly colourBy: ColourBy;
}

/** What the daemon refused, in its own words: they are written for the user. */
export class DaemonError extends Error {
  constructor(
    message: string,
    readonly code: status,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  /** There is no such thing, or no longer. */
  get isNotFound(): boolean {
    return this.code === status.NOT_FOUND;
  }

  /** The daemon went away before it answered. */
  get isGone(): boolean {
    return this.code === status.UNAVAILABLE;
  }
}

/** A call that neither runs a program nor reads a file answers well within this. */
const shortCallMs = 15_000;
/** Opening and analysing the largest recordings. */
const longCallMs = 10 * 60_000;

type Done<Response> = (error: ServiceError | null, response: Response) => void;

export class DaemonClient {
  private readonly client: LongpoleClient;

  constructor(socket: string) {
    this.client = new LongpoleClient(`unix:${socket}`, credentials.createInsecure(), {
      'grpc.enable_http_proxy': 0,
      'grpc.max_receive_message_length': -1,
    });
  }

  close(): void {
    this.client.close();
  }

  getServerInfo(): Promise<GetServerInfoResponse> {
    return call((done) => this.client.getServerInfo({}, new Metadata(), within(shortCallMs), done));
  }

  record(request: Partial<RecordRequest>): ClientReadableStream<RecordResponse> {
    return this.client.record(RecordRequest.create(request));
  }

  async stopRecording(run: bigint): Promise<void> {
    await call((done: Done<object>) =>
      this.client.stopRecording({ run }, new Metadata(), within(shortCallMs), done),
    );
  }

  async openRecording(path: string): Promise<Recording> {
    const response = await call((done: Done<{ recording: Recording | undefined }>) =>
      this.client.openRecording({ path }, new Metadata(), within(longCallMs), done),
    );
    return present(response.recording);
  }

  async closeRecording(handle: bigint): Promise<void> {
    await call((done: Done<object>) =>
      this.client.closeRecording({ handle }, new Metadata(), within(shortCallMs), done),
    );
  }

  /**
   * On machines with parameters one count at a time: they may differ with it. `besideShared`: each says whether it is another prediction
   * than that in which threads share the CPUs evenly; `withInterval`: between which speed-ups the real one is to be expected.
   */
  predict(handle: bigint, cpus: readonly number[], machine: MachineSettings, { besideShared = false, withInterval = false } = {}): Promise<PredictResponse> {
    const request = { handle, cpus: [...cpus], ...computer(machine, cpus), besideShared, withInterval };
    return call((done) => this.client.predict(request, new Metadata(), within(longCallMs), done));
  }

  getLines(handle: bigint, cpus: readonly number[], machine: MachineSettings, filter?: ThreadFilter): Promise<GetLinesResponse> {
    const request = { handle, file: '', cpus: [...cpus], ...computer(machine, cpus), threads: threadChoice(filter) };
    return call((done: Done<GetLinesResponse>) => this.client.getLines(request, new Metadata(), within(longCallMs), done)).then((answer) =>
      heeded(answer, filter),
    );
  }

  getFunctions(handle: bigint, cpus: readonly number[], machine: MachineSettings, filter?: ThreadFilter): Promise<GetFunctionsResponse> {
    const request = { handle, cpus: [...cpus], ...computer(machine, cpus), threads: threadChoice(filter) };
    return call((done: Done<GetFunctionsResponse>) => this.client.getFunctions(request, new Metadata(), within(longCallMs), done)).then((answer) =>
      heeded(answer, filter),
    );
  }

  getObjects(handle: bigint, at: RankedAt, rows: number): Promise<GetObjectsResponse> {
    const request = { handle, ...at, rows };
    return call((done) => this.client.getObjects(request, new Metadata(), within(longCallMs), done));
  }

  getThreads(handle: bigint, at: RankedAt, rows: number): Promise<GetThreadsResponse> {
    const request = { handle, ...at, rows };
    return call((done) => this.client.getThreads(request, new Metadata(), within(longCallMs), done));
  }

  getQuartz(handle: bigint, at: RankedAt, rows: number): Promise<GetQuartzResponse> {
    const request = { handle, ...at, rows };
    return call((done) => this.client.getQuartz(request, new Metadata(), within(longCallMs), done));
  }

  getLeads(handle: bigint, upToCpus: number): Promise<GetLeadsResponse> {
    const request = { handle, upToCpus, headroomAt: [] };
    return call((done) => this.client.getLeads(request, new Metadata(), within(longCallMs), done));
  }

  whatIf(handle: bigint, cpus: readonly number[], change: ProgramChange): Promise<WhatIfResponse> {
    const request = { handle, cpus: [...cpus], scheduler: '', ...change, keep: false };
    return call((done) => this.client.whatIf(request, new Metadata(), within(longCallMs), done));
  }

  /** The changed program, as a recording of its own. */
  async keepChanged(handle: bigint, change: ProgramChange): Promise<Recording> {
    const request = { handle, cpus: [1], scheduler: '', ...change, keep: true };
    const { changed } = await call((done: Done<WhatIfResponse>) => this.client.whatIf(request, new Metadata(), within(longCallMs), done));
    return present(changed);
  }

  /** When some binding of threads to CPUs surely lets the program end. */
  async bound(handle: bigint, cpus: number, latencyNs: number): Promise<number | undefined> {
    const request = { handle, cpus: [cpus], latenciesNs: [BigInt(Math.round(latencyNs))] };
    const { rows } = await call((done: Done<BoundResponse>) => this.client.bound(request, new Metadata(), within(longCallMs), done));
    return rows[0]?.totalNs;
  }

  /**
   * Searches for a binding of threads to CPUs by all algorithms. `tell` hears how far it is; once `cancelled` settles the search ends.
   *
   * @returns undefined when it was ended before its result.
   */
  allocate(
    handle: bigint,
    cpus: number,
    tests: number,
    machine: MachineSettings,
    tell: (progress: AllocateProgress) => void,
    cancelled: Promise<void>,
  ): Promise<AllocateResult | undefined> {
    const scheduler = schedulerOf(machine, 'linux');
    const asked = { scheduler: isMachine(scheduler) ? scheduler : 'linux', machine: machineOf(machine, cpus) };
    const stream = this.client.allocate(AllocateRequest.create({ handle, cpus, tests: BigInt(tests), all: true, ...asked }));
    return new Promise((resolve, reject) => {
      let result: AllocateResult | undefined;
      stream.on('data', ({ event }: AllocateResponse) => {
        if (event?.$case === 'progress') {
          tell(event.value);
        } else if (event?.$case === 'result') {
          result = event.value;
        }
      });
      stream.on('end', () => resolve(result));
      stream.on('error', (error: ServiceError) => {
        if (error.code === status.CANCELLED) {
          resolve(undefined);
        } else {
          reject(daemonError(error));
        }
      });
      void cancelled.then(() => stream.cancel());
    });
  }

  getTimeline(handle: bigint, run: SimulatedRun, view: PixelView, what: TimelineContent): Promise<GetTimelineResponse> {
    const { rows, cpus, listThreads, withoutRows, colourBy } = what;
    const asked = { rows: [...rows], cpuRows: [...cpus], listThreads, withoutRows, colour: protocolColours[colourBy] };
    const request = { handle, simulation: simulation(run), view, ...asked };
    return call((done) => this.client.getTimeline(request, new Metadata(), within(longCallMs), done));
  }

  /** `following`: of the calls behind it, those that are worked towards before `untilNs`, and no more than `most`. */
  getTimelineItem(
    handle: bigint,
    run: SimulatedRun,
    thread: number,
    place: At,
    step: Step,
    following = { most: 0, untilNs: 0 },
  ): Promise<GetTimelineItemResponse> {
    const at =
      'event' in place ? ({ $case: 'event', value: place.event } as const) : ({ $case: 'timeNs', value: place.timeNs } as const);
    const behind = { following: following.most, untilNs: following.untilNs };
    const request = { handle, simulation: simulation(run), thread, at, step: protocolSteps[step], ...behind };
    return call((done) => this.client.getTimelineItem(request, new Metadata(), within(longCallMs), done));
  }

  /** A line, or where `line` is 0, a function. */
  findInTimeline(
    handle: bigint,
    run: SimulatedRun,
    view: PixelView,
    what: { readonly file: string; readonly line: number; readonly function: string },
  ): Promise<FindInTimelineResponse> {
    const request = { handle, simulation: simulation(run), view, file: what.file, line: what.line, function: what.function };
    return call((done) => this.client.findInTimeline(request, new Metadata(), within(longCallMs), done));
  }
}

const protocolColours: Readonly<Record<ColourBy, TimelineColour>> = {
  state: TimelineColour.TIMELINE_COLOUR_STATE,
  function: TimelineColour.TIMELINE_COLOUR_PLACE,
  weight: TimelineColour.TIMELINE_COLOUR_WEIGHT,
  lock: TimelineColour.TIMELINE_COLOUR_OBJECT,
};

const protocolSteps: Readonly<Record<Step, ProtocolStep>> = {
  here: ProtocolStep.STEP_UNSPECIFIED,
  next: ProtocolStep.STEP_NEXT,
  previous: ProtocolStep.STEP_PREVIOUS,
  nextSimilar: ProtocolStep.STEP_NEXT_SIMILAR,
  previousSimilar: ProtocolStep.STEP_PREVIOUS_SIMILAR,
};

function computer(settings: MachineSettings, cpus: readonly number[]): Pick<Simulation, 'scheduler' | 'model' | 'objectModels' | 'machine'> {
  const scheduler = schedulerOf(settings, '');
  const machine = isMachine(scheduler) ? machineOf(settings, Math.max(...cpus)) : undefined;
  return { scheduler, model: settings.model, objectModels: [], machine };
}

function threadChoice(filter: ThreadFilter | undefined): ThreadChoice | undefined {
  return filter && { names: [...filter.names], functions: [...filter.functions] };
}

/** A daemon that overlooks the choice answers for all threads, and its numbers must not be taken for those of some. */
function heeded<Answer extends { readonly threads: readonly number[] }>(answer: Answer, filter: ThreadFilter | undefined): Answer {
  if (filter !== undefined && answer.threads.length === 0) {
    throw new Error('This daemon is older than the extension and cannot show some threads alone: show all threads, or use the daemon that the extension brings.');
  }
  return answer;
}

function simulation({ cpus, scheduler, machine = usualMachine }: SimulatedRun): Simulation {
  return { cpus, ...computer({ ...machine, scheduler }, [cpus]) };
}

/** A failed call as what the user should read. */
export function daemonError(error: Error): Error {
  const { code, details } = error as Partial<ServiceError>;
  if (code === undefined || details === undefined) {
    return error;
  }
  if (code === status.UNAVAILABLE) {
    return new DaemonError('The daemon went away before it answered. It is started again when needed.', code, { cause: details });
  }
  return new DaemonError(details === '' ? error.message : details, code);
}

export function present<T>(value: T | undefined): T {
  if (value === undefined) {
    throw new Error("The daemon's answer lacks its recording.");
  }
  return value;
}

function within(ms: number): { deadline: number } {
  return { deadline: Date.now() + ms };
}

function call<Response>(start: (done: Done<Response>) => void): Promise<Response> {
  return new Promise((resolve, reject) => {
    start((error, response) => {
      if (error === null) {
        resolve(response);
      } else {
        reject(daemonError(error));
      }
    });
  });
}
