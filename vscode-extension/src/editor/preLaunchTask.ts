// Tasks that run before what is recorded: those of launch.json, and the one that builds. The user can stop waiting for them at any time.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { chooseTask, taskWords, type KnownTask, type WantedTask } from '../core/preLaunch';

const recordAnyway = 'Record Anyway';

/** A task that is done with sooner is not shown: it would only flash, and of four messages within 800 ms the editor drops the last. */
const flashMs = 300;

/** Runs what a launch configuration of this folder wants before; whether to go on. */
export async function runBefore(wanted: WantedTask | undefined, folder: string): Promise<boolean> {
  if (wanted === undefined) {
    return true;
  }
  const found = chooseTask(wanted, (await vscode.tasks.fetchTasks()).map(known), folder);
  if (found !== undefined) {
    return runTask(found.task);
  }
  const why =
    wanted.kind === 'defaultBuild'
      ? 'tasks.json of its folder has no default build task. Give one with "Tasks: Configure Default Build Task"'
      : 'its folder has no such task. See "Tasks: Run Task" for those that there are';
  return asksToRecord(`launch.json has the preLaunchTask ${taskWords(wanted)}, but ${why}.`);
}

/** What Run Build Task would run without a question; undefined: nothing. */
export async function buildTask(): Promise<vscode.Task | undefined> {
  const tasks = (await vscode.tasks.fetchTasks()).filter(({ group }) => group?.id === vscode.TaskGroup.Build.id);
  const chosen = tasks.filter(({ group }) => group?.isDefault === true);
  return chosen.length === 1 ? chosen[0] : tasks.length === 1 ? tasks[0] : undefined;
}

/** Whether it went well, or the user wants to go on all the same. */
export async function runTask(task: vscode.Task): Promise<boolean> {
  const isRunning = vscode.tasks.taskExecutions.some((execution) => isSame(execution.task, task));
  if (task.isBackground && isRunning) {
    return true;
  }
  const run = new Run(task);
  const end = (await Promise.race([run.end, sleep(flashMs)])) ?? (await shown(run));
  switch (end.how) {
    case 'cancelled':
      return false;
    case 'background':
      // When it is ready its problem matcher knows, and tells nobody else.
      return asksToRecord(`The task "${task.name}" runs in the background and does not end: go on once it is ready.`, 'Record Now');
    case 'ended':
      return end.status === 0 || asksToRecord(`The task "${task.name}" ended with status ${end.status}.`);
    case 'notRun':
      return asksToRecord(`The task "${task.name}" ended without a status: it could not be run, or a task that it depends on failed. Its terminal may say why.`);
  }
}

/** Its end, shown until then. */
async function shown(run: Run): Promise<End> {
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Longpole: ${run.task.name}`, cancellable: true },
    (progress, cancelled) => {
      progress.report({ message: run.task.isBackground ? 'starting …' : 'runs before the recording. Cancel stops it, and records nothing.' });
      cancelled.onCancellationRequested(() => run.cancel());
      return run.end;
    },
  );
}

async function asksToRecord(message: string, go = recordAnyway): Promise<boolean> {
  return (await vscode.window.showWarningMessage(message, go)) === go;
}

type End = { readonly how: 'cancelled' | 'background' | 'notRun' } | { readonly how: 'ended'; readonly status: number };

/** One run of a task, which begins with it. */
class Run {
  /** Settles once the run is over, cancelled, or, of a task in the background, begun. */
  readonly end: Promise<End>;
  private readonly listeners: vscode.Disposable[] = [];
  private settle: (end: End) => void = () => undefined;
  private execution: vscode.TaskExecution | undefined;
  private isCancelled = false;
  /** By run: that of a task may end before the editor has said which one it is. */
  private readonly statuses = new Map<vscode.TaskExecution, number | undefined>();
  private readonly ended = new Set<vscode.TaskExecution>();

  constructor(readonly task: vscode.Task) {
    this.listeners.push(
      vscode.tasks.onDidEndTaskProcess((event) => this.statuses.set(event.execution, event.exitCode)),
      vscode.tasks.onDidEndTask((event) => {
        this.ended.add(event.execution);
        this.look();
      }),
    );
    this.end = new Promise<End>((resolve, reject) => {
      this.settle = resolve;
      vscode.tasks.executeTask(task).then((started) => {
        this.execution = started;
        this.look();
      }, reject);
    }).finally(() => this.listeners.forEach((listener) => void listener.dispose()));
  }

  cancel(): void {
    this.isCancelled = true;
    // Also while the editor asks something before it starts the task.
    this.settle({ how: 'cancelled' });
    this.look();
  }

  private look(): void {
    const { execution } = this;
    if (execution === undefined) {
      return;
    }
    if (this.isCancelled) {
      execution.terminate();
    } else if (this.ended.has(execution)) {
      const status = this.statuses.get(execution);
      this.settle(status === undefined ? { how: 'notRun' } : { how: 'ended', status });
    } else if (this.task.isBackground) {
      this.settle({ how: 'background' });
    }
  }
}

function known(task: vscode.Task): KnownTask & { readonly task: vscode.Task } {
  const { name, source, definition, scope, group } = task;
  const folder = typeof scope === 'object' ? scope.uri.toString() : undefined;
  return { task, name, source, definition, folder, isDefaultBuild: group?.id === vscode.TaskGroup.Build.id && group.isDefault === true };
}

function isSame(one: vscode.Task, other: vscode.Task): boolean {
  const { folder, name, definition } = known(one);
  const { folder: otherFolder, name: otherName, definition: otherDefinition } = known(other);
  return name === otherName && folder === otherFolder && isDeepStrictEqual(definition, otherDefinition);
}
