// A recording is a task: `longpole record` in a real terminal, where the program has its colours and its input, and which neither
// a crash of the daemon nor of this extension takes away. So the same thing starts from our commands, from tasks.json and
// from Run Task; whichever it was, it is followed from here until there is a recording, by the next window where this one is closed.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { taskType } from '../core/ids';
import { follow, hasResult, type Recorded, type RecordProcess, type Run } from './followRecording';
import { commandLineOf } from './processes';
import type { Recordings } from './recordings';
import type { UnderWay } from './underWay';
import { dropUnfinished, isFollowed, isUnfinished, keepUnfinished, listUnfinished, type Unfinished } from './unfinished';
import { whatRan } from './whatRan';

export interface RunningRecording {
  /** undefined: it has not begun. */
  readonly processId: number | undefined;
  /** Ends the program; what was recorded is kept. */
  stop(): void;
}

/** How often it is looked whether another window still follows what it began. */
const otherWindowMs = 500;

/** What runs in the terminal, with the places of its results; made anew for each task. */
export function recordTask(run: Run, recordings: Recordings, longpole: string): vscode.Task {
  const name = basename(run.program);
  const base = join(recordings.folder, `.${randomUUID()}`);
  const task = new vscode.Task(
    { type: taskType, program: run.program, args: run.args, cwd: run.cwd, env: run.env, lockstep: run.lockstep, turns: run.turns },
    vscode.TaskScope.Workspace,
    `record ${name}`,
    'Longpole',
    new vscode.ProcessExecution(
      longpole,
      ['record', '--status', `${base}.status`, '-o', `${base}.lptrace`, ...waysOf(run), '--', run.program, ...run.args],
      { cwd: run.cwd, env: { ...run.env } },
    ),
    [],
  );
  task.presentationOptions = {
    reveal: vscode.TaskRevealKind.Always,
    panel: vscode.TaskPanelKind.Shared,
    focus: false,
    clear: true,
    // Our own options would be most of it; the terminal is called after the program.
    echo: false,
    showReuseMessage: false,
  };
  task.detail = 'Records one run with Longpole';
  return task;
}

function waysOf({ lockstep, turns }: Run): string[] {
  return Object.entries({ '--lockstep': lockstep, '--turns': turns }).flatMap(([option, value]) => (value === undefined ? [] : [option, String(value)]));
}

export class RecordTasks implements vscode.TaskProvider, vscode.Disposable {
  private readonly subscription: vscode.Disposable;
  private readonly begun = new WeakMap<vscode.TaskExecution, RunningRecording>();
  /** Those that this class started itself hear of the end here; the others are told by `onRecorded`. */
  private readonly waiting = new Map<string, (followed: Promise<Recorded>) => void>();

  constructor(
    private readonly recordings: Recordings,
    private readonly longpole: () => string,
    private readonly known: () => Promise<Run[]>,
    private readonly onRecorded: (followed: Promise<Recorded>) => void,
    private readonly underWay: UnderWay,
  ) {
    this.subscription = vscode.tasks.onDidStartTaskProcess((event) => this.started(event));
  }

  dispose(): void {
    this.subscription.dispose();
  }

  async provideTasks(): Promise<vscode.Task[]> {
    return (await this.known()).map((run) => this.make(run));
  }

  resolveTask(task: vscode.Task): vscode.Task | undefined {
    const { program, args, cwd, env, lockstep, turns } = task.definition;
    if (typeof program !== 'string') {
      return undefined;
    }
    const scope = task.scope;
    const folder = typeof scope === 'object' ? scope : vscode.workspace.workspaceFolders?.[0];
    const made = this.make({
      program,
      args: Array.isArray(args) ? args.map(String) : [],
      cwd: typeof cwd === 'string' ? cwd : (folder?.uri.fsPath ?? '/'),
      env: typeof env === 'object' && env !== null ? (env as Record<string, string>) : {},
      lockstep: typeof lockstep === 'number' ? lockstep : undefined,
      turns: typeof turns === 'number' ? turns : undefined,
    });
    // The editor knows the task by its definition and takes only the execution from us.
    const resolved = new vscode.Task(
      task.definition,
      scope ?? vscode.TaskScope.Workspace,
      task.name,
      'Longpole',
      made.execution,
      [],
    );
    resolved.presentationOptions = made.presentationOptions;
    return resolved;
  }

  /** The recording of just this that goes on; undefined: none. The editor runs a task once at a time, and says nothing of a second. */
  running(run: Run): RunningRecording | undefined {
    const same = vscode.tasks.taskExecutions.find(({ task }) => task.definition.type === taskType && isDeepStrictEqual(partsOf(placesOf(task)?.run), partsOf(run)));
    return same && (this.begun.get(same) ?? { processId: undefined, stop: () => same.terminate() });
  }

  /**
   * Runs a program in a terminal and records it.
   *
   * @throws Error for the user, in the words of `longpole record`, when nothing was recorded.
   */
  async record(run: Run): Promise<Recorded> {
    if (this.running(run) !== undefined) {
      throw new Error(`${basename(run.program)} is being recorded already, with the same arguments in the same folder: wait for its end, or stop it in its terminal.`);
    }
    const task = this.make(run);
    const status = placesOf(task)?.status ?? '';
    let listener: vscode.Disposable | undefined;
    try {
      return await new Promise<Recorded>((resolve, reject) => {
        this.waiting.set(status, resolve);
        vscode.tasks.executeTask(task).then((execution) => {
          listener = vscode.tasks.onDidEndTask((event) => {
            // Once it is followed this comes too late to change anything.
            if (event.execution === execution) {
              reject(new Error(`The terminal could not start ${this.longpole()}.`));
            }
          });
        }, reject);
      });
    } finally {
      listener?.dispose();
      this.waiting.delete(status);
    }
  }

  private make(run: Run): vscode.Task {
    mkdirSync(this.recordings.folder, { recursive: true });
    return recordTask(run, this.recordings, this.longpole());
  }

  private started(event: vscode.TaskProcessStartEvent): void {
    const { task } = event.execution;
    const places = task.definition.type === taskType ? placesOf(task) : undefined;
    if (places === undefined) {
      return;
    }
    const stopping = new AbortController();
    this.begun.set(event.execution, { processId: event.processId, stop: () => stopping.abort() });
    const followed = this.follow(event, places, stopping);
    const waiting = this.waiting.get(places.status);
    if (waiting !== undefined) {
      waiting(followed);
    } else {
      this.onRecorded(followed);
    }
  }

  private async follow({ execution, processId }: vscode.TaskProcessStartEvent, { run: asked, status, output }: Places, stopping: AbortController): Promise<Recorded> {
    let hasTerminal = true;
    const listener = vscode.tasks.onDidEndTaskProcess((end) => {
      hasTerminal &&= end.execution !== execution;
    });
    try {
      const run = await whatRan(processId, status, asked);
      return await this.untilRecorded({ processId, status, output, run }, stopping, () => hasTerminal);
    } finally {
      listener.dispose();
    }
  }

  private untilRecorded(recording: RecordProcess, stopping = new AbortController(), hasTerminal = () => false): Promise<Recorded> {
    return this.underWay.during(basename(recording.run.program), this.followKept(recording, stopping, hasTerminal));
  }

  private async followKept(recording: RecordProcess, stopping: AbortController, hasTerminal: () => boolean): Promise<Recorded> {
    // On a full disk say: then it is followed all the same, as long as this window is there.
    await keepUnfinished(this.recordings.folder, recording).catch(() => undefined);
    try {
      return await follow(recording, this.recordings, stopping, hasTerminal);
    } finally {
      await dropUnfinished(recording);
    }
  }

  /** Goes on with what was being recorded when this window, or another of the workspace, was closed. */
  async takeUp(): Promise<void> {
    const left = (await listUnfinished(this.recordings.folder)).filter(({ follower }) => follower !== process.pid);
    await Promise.all(left.map((recording) => this.takeUpOne(recording)));
  }

  private async takeUpOne(recording: Unfinished): Promise<void> {
    // A window that was loaded anew ends a little later than the next one begins.
    while (await isFollowed(recording)) {
      await sleep(otherWindowMs);
    }
    if (!isUnfinished(recording)) {
      return;
    }
    // Another process may have its number by now.
    const goesOn = (await commandLineOf(recording.processId)).includes(recording.status);
    if (goesOn || (await hasResult(recording))) {
      this.onRecorded(this.untilRecorded(recording));
    } else {
      await Promise.all([dropUnfinished(recording), rm(recording.output, { force: true })]);
    }
  }
}

/** What makes two runs the same. */
function partsOf(run: Run | undefined): unknown {
  return run && [run.program, run.args, run.cwd, run.env, run.lockstep, run.turns];
}

type Places = Omit<RecordProcess, 'processId'>;

function placesOf(task: vscode.Task): Places | undefined {
  if (!(task.execution instanceof vscode.ProcessExecution)) {
    return undefined;
  }
  const { args, options } = task.execution;
  const own = args.indexOf('--');
  const after = (name: string): string | undefined => {
    const at = args.indexOf(name);
    return at < 0 || at > own ? undefined : args[at + 1];
  };
  const [program, ...itsArgs] = args.slice(own + 1);
  const [status, output] = ['--status', '-o'].map(after);
  if (args[0] !== 'record' || !status || !output || !program) {
    return undefined;
  }
  const [lockstep, turns] = ['--lockstep', '--turns'].map(after).map((value) => (value === undefined ? undefined : Number(value)));
  const run = { program, args: itsArgs, cwd: options?.cwd ?? '/', env: options?.env ?? {}, lockstep, turns };
  return { run, status, output };
}
