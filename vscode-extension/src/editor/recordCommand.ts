// Record and Simulate: what to run, what will go wrong with it, running it, showing what came out.
import { open, stat } from 'node:fs/promises';
import { basename, isAbsolute, join, relative } from 'node:path';
import * as vscode from 'vscode';
import { formatCommandLine, parseCommandLine } from '../core/commandLine';
import { formatCountOf, formatCpus } from '../core/format';
import { hottestLine, lockstepHint, needsLockstep, oneThreadHint, ranInOneThread, recordedSentence } from '../core/hottest';
import { endedBySignal } from '../core/notices';
import { holds, isStatic, mayHaveLines } from '../core/programFile';
import { forget, remember, targetKey, targetName, type Target } from '../core/targets';
import { CorrectableError } from './correctableError';
import type { MachineCheck } from './machineCheck';
import { buildTask, runBefore, runTask } from './preLaunchTask';
import { pathInWorkspace, realPath } from './realPaths';
import type { Recorded, Run } from './followRecording';
import type { RecordTasks, RunningRecording } from './recordTask';
import type { Session } from './session';
import { directoryToRunIn, foundTargets, resolveTarget, type ResolvedTarget } from './targets';

const targetsKey = 'longpole.targets';
const silencedKey = 'longpole.silencedWarnings';
const outcomeKey = 'longpole.silencedOutcome';

interface TargetItem extends vscode.QuickPickItem {
  /** undefined: another one, to be typed. */
  readonly target?: Target;
}

const removeButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('close'), tooltip: 'Forget' };
const editButton: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('edit'), tooltip: 'Change' };

export class Recorder {
  /** Set by the one who puts the parts together; tasks and recorder need each other. */
  tasks: RecordTasks | undefined;
  /** Key of what was recorded last, when nothing came out: of a program whose name is misspelt, say. */
  private failed: string | undefined;

  constructor(
    private readonly memory: vscode.Memento,
    private readonly session: Session,
    private readonly machineCheck: MachineCheck,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Records what was recorded last; asks when there is nothing yet, or nothing came out. */
  async record(): Promise<void> {
    const [last] = this.targets;
    const target = last === undefined || targetKey(last) === this.failed ? await this.choose() : last;
    if (target !== undefined) {
      await this.recordTarget(target);
    }
  }

  /** Asks what to record, and records it. */
  async recordOther(): Promise<void> {
    const target = await this.choose();
    if (target !== undefined) {
      await this.recordTarget(target);
    }
  }

  /** Asks what is to be recorded from now on. */
  async choose(): Promise<Target | undefined> {
    const found = foundTargets();
    const target =
      found.length + this.targets.length === 0
        ? await this.typeCommand(undefined)
        : await this.pick(found);
    if (target !== undefined) {
      this.failed = undefined;
      await this.save(remember(this.targets, target));
    }
    return target;
  }

  /** What is remembered, as far as it can be run without a question. */
  knownRuns(): Promise<Run[]> {
    const commands = this.targets.filter((target) => target.kind === 'command');
    return Promise.all(commands.map(resolveTarget)).then((runs) => runs.filter((run) => run !== undefined));
  }

  /** Shows a recording when it has been made, and says what the user should know besides the numbers. Returns whether it is shown. */
  async show(followed: Promise<Recorded>): Promise<boolean> {
    const { path, stopped, run } = await followed;
    const isShown = await this.session.open(path);
    const info = this.session.recording?.info;
    if (!isShown || info === undefined) {
      // The user looks at another one by now; this one is in the list.
      this.log.info(`recorded ${path}, which is not shown`);
      return false;
    }
    const name = basename(info.command[0] ?? path);
    const events = formatCountOf(info.events, 'event');
    this.log.info(`recorded ${events} to ${path} (${info.source} source)`);
    info.notices.forEach((notice) => this.log.info(notice.text));
    const cutShort = endedBySignal(name, info.notices.find(({ code }) => code === 'cut-short')?.text ?? '');
    // Nothing waits for the answer.
    void this.tellOutcome(name, run, stopped ? `${name} was stopped. What it did until then is kept: ${events}.` : cutShort, !stopped && cutShort !== '');
    return true;
  }

  /** What came out, and the way to the line that matters most; what the user must know is said in any case. */
  private async tellOutcome(name: string, run: Run, remark: string, isFailure: boolean): Promise<void> {
    const { recording, cpus } = this.session;
    if (recording === undefined) {
      return;
    }
    const { notices, command } = recording.info;
    const isOneThread = ranInOneThread(notices);
    const isOutOfStep = needsLockstep(notices);
    const isNew = (isOneThread || isOutOfStep) && (await this.isFirstTime(`threads ${command[0] ?? recording.path}`));
    const hint = isOutOfStep ? lockstepHint : isOneThread && isNew ? oneThreadHint : '';
    if (remark === '' && !isNew && this.memory.get(outcomeKey, false)) {
      return;
    }
    // Of a run that stood still, how long it would take is no news.
    const deadlock = notices.find(({ code }) => code === 'deadlocked')?.text;
    const outcome =
      deadlock ?? recordedSentence(remark === '' ? name : 'It', recording.weights, cpus, await this.machineCheck.prediction(), notices);
    // One CPU has no other to be in step with.
    const lockstep = Math.max(cpus, 2);
    const [again, show, showFunctions, silence] = [`Record in Lockstep for ${formatCpus(lockstep)}`, 'Show Hottest Line', 'Show Functions', "Don't Show Again"];
    const hasLine = hottestLine(recording.weights, recording.info.files.map(({ path }) => path), cpus) !== undefined;
    const text = [remark, outcome, hint].filter((words) => words !== '').join(' ');
    const isUsual = remark === '' && hint === '';
    const buttons = [...(isOutOfStep ? [again] : []), hasLine ? show : showFunctions, ...(isUsual ? [silence] : [])];
    const answer = await (isFailure ? vscode.window.showWarningMessage : vscode.window.showInformationMessage)(`Longpole: ${text}`, ...buttons);
    if (answer === again && this.tasks !== undefined) {
      await this.show(this.tasks.record({ ...run, lockstep, turns: undefined }));
    } else if (answer === show) {
      await vscode.commands.executeCommand('longpole.goToHottestLine');
    } else if (answer === showFunctions) {
      await vscode.commands.executeCommand('longpole.showOverview');
    } else if (answer === silence) {
      await this.memory.update(outcomeKey, true);
    }
  }

  /** Of what is said once of each program. */
  private async isFirstTime(what: string): Promise<boolean> {
    const said = this.memory.get<string[]>(silencedKey, []);
    if (said.includes(what)) {
      return false;
    }
    await this.memory.update(silencedKey, [...said, what]);
    return true;
  }

  private get targets(): Target[] {
    return this.memory.get<Target[]>(targetsKey, []);
  }

  private async save(targets: Target[]): Promise<void> {
    await this.memory.update(targetsKey, targets);
  }

  private async recordTarget(target: Target): Promise<void> {
    const run = await resolveTarget(target);
    const running = run && this.tasks?.running(run);
    if (running !== undefined) {
      await tellRunning(basename(run?.program ?? ''), running);
      return;
    }
    if (run === undefined || !(await runBefore(run.preLaunchTask, run.folder ?? '')) || !(await this.mayRun(run))) {
      return;
    }
    await this.save(remember(this.targets, target));
    this.log.info(`recording ${formatCommandLine([run.program, ...run.args])} in ${run.cwd}`);
    if (this.tasks === undefined) {
      return;
    }
    this.failed = targetKey(target);
    const recorded = await this.tasks.record(run).catch((error: unknown) => {
      const isTyped = target.kind === 'command';
      throw new CorrectableError(error, isTyped ? 'Change Command' : 'Choose Another', () => (isTyped ? this.correct(target) : this.recordOther()));
    });
    this.failed = undefined;
    await this.show(Promise.resolve(recorded));
  }

  private async correct(before: Target): Promise<void> {
    const target = await this.typeCommand(before);
    if (target !== undefined) {
      await this.recordTarget(target);
    }
  }

  private pick(found: readonly Target[]): Promise<Target | undefined> {
    const picker = vscode.window.createQuickPick<TargetItem>();
    picker.title = 'Longpole: What to Record';
    picker.placeholder = 'A program to run and record';
    picker.matchOnDescription = true;
    const fill = (): void => {
      const remembered = this.targets;
      const taken = new Set(remembered.map(targetKey));
      const others = found.filter((target) => !taken.has(targetKey(target)));
      picker.items = [
        ...(remembered.length > 0 ? [{ label: 'recent', kind: vscode.QuickPickItemKind.Separator }] : []),
        ...remembered.map((target) => item(target, true)),
        ...(others.length > 0 ? [{ label: 'found here', kind: vscode.QuickPickItemKind.Separator }] : []),
        ...others.map((target) => item(target, false)),
        { label: '', kind: vscode.QuickPickItemKind.Separator },
        { label: '$(terminal) Another program…', alwaysShow: true },
      ];
    };
    fill();
    return new Promise<Target | undefined>((resolve) => {
      const listeners = [
        picker.onDidTriggerItemButton(({ item: { target }, button }) => {
          if (target === undefined) {
            return;
          }
          if (button === editButton) {
            resolve(this.typeCommand(target));
            picker.hide();
          } else {
            void this.save(forget(this.targets, target)).then(fill);
          }
        }),
        picker.onDidAccept(() => {
          const [chosen] = picker.selectedItems;
          if (chosen !== undefined) {
            resolve(chosen.target ?? this.typeCommand(undefined));
            picker.hide();
          }
        }),
        picker.onDidHide(() => {
          resolve(undefined);
          listeners.forEach((listener) => void listener.dispose());
          picker.dispose();
        }),
      ];
      picker.show();
    });
  }

  /** Asks for a command line; one that replaces another takes its place. */
  private async typeCommand(before: Target | undefined): Promise<Target | undefined> {
    const directory = before?.kind === 'command' ? before.directory : directoryToRunIn();
    const command = await vscode.window.showInputBox({
      title: 'Longpole: Program to Record',
      prompt: `Program and arguments, from ${directory}. It is started directly, without a shell.`,
      placeHolder: './build/sorter numbers.txt',
      value: before?.kind === 'command' ? before.command : '',
      ignoreFocusOut: true,
      validateInput: (value) => {
        const parsed = parseCommandLine(value);
        return 'problem' in parsed ? parsed.problem : undefined;
      },
    });
    if (command === undefined) {
      return undefined;
    }
    if (before !== undefined) {
      await this.save(forget(this.targets, before));
    }
    return { kind: 'command', command, directory };
  }

  /** Says what will go wrong before anything is run, and lets the user decide. */
  private async mayRun(run: ResolvedTarget): Promise<boolean> {
    const path = isAbsolute(run.program) ? run.program : join(run.cwd, run.program);
    const { refusal, warnings } = await this.problemsOf(path);
    if (refusal !== undefined) {
      void vscode.window.showWarningMessage(refusal);
      return false;
    }
    const silenced = this.memory.get<string[]>(silencedKey, []);
    const text = warnings.filter(({ kind }) => !silenced.includes(`${kind} ${path}`));
    if (text.length === 0) {
      return true;
    }
    const build = text.some(({ kind }) => kind === 'built') ? await buildTask() : undefined;
    const [buildFirst, go, quiet] = ['Build First', 'Record Anyway', "Don't Warn Again"];
    const answer = await vscode.window.showWarningMessage(text.map(({ message }) => message).join(' '), ...(build ? [buildFirst] : []), go, quiet);
    if (answer === buildFirst && build !== undefined) {
      return runTask(build);
    }
    if (answer === quiet) {
      await this.memory.update(silencedKey, [...silenced, ...text.map(({ kind }) => `${kind} ${path}`)]);
    }
    return answer === go || answer === quiet;
  }

  /** `refusal`: nothing would be recorded. */
  private async problemsOf(path: string): Promise<{ refusal?: string; warnings: { kind: string; message: string }[] }> {
    const file = await open(path).catch(() => undefined);
    if (file === undefined) {
      // Found in PATH, or not at all: `longpole record` says so in its own words.
      return { warnings: [] };
    }
    const warnings: { kind: string; message: string }[] = [];
    try {
      const read = async (offset: number, length: number): Promise<Buffer> => {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
        return buffer.subarray(0, bytesRead);
      };
      if (await isStatic(read)) {
        return {
          refusal: `${basename(path)} is statically linked, so the recorder cannot be loaded into it and nothing would be recorded. Link it dynamically (without -static).`,
          warnings,
        };
      }
      if (!(await mayHaveLines(read))) {
        warnings.push({
          kind: 'lines',
          message: `${basename(path)} was built without debug information: there will be functions but no lines. Build it with -g.`,
        });
      }
      const known = this.sourcesOf(path);
      // Where it cannot be told: a program from elsewhere, of the system above all, was not made of the files here.
      const mayHold = async (source: string): Promise<boolean> => (await holds(read, basename(source))) ?? pathInWorkspace(path) !== undefined;
      // A script holds none, and what it starts is not known before it was recorded.
      const late =
        known === undefined
          ? await editedSinceBuilt((source) => (pathInWorkspace(source) === undefined ? [] : [path]), mayHold)
          : await editedSinceBuilt((source) => known.get(realPath(source)) ?? [], () => Promise.resolve(true));
      if (late !== undefined) {
        warnings.push({
          kind: 'built',
          message: `${late.source} was edited after ${late.holder} was built: its lines will be those of the old version. Build it first.`,
        });
      }
    } finally {
      await file.close();
    }
    return { warnings };
  }

  /** By source file: the programs and libraries that hold its code, as the last recording of what is to be run tells; undefined: there is none. */
  private sourcesOf(program: string): ReadonlyMap<string, readonly string[]> | undefined {
    const info = this.session.recording?.info;
    return info !== undefined && info.command[0] !== undefined && basename(info.command[0]) === basename(program)
      ? new Map(info.files.map((file) => [realPath(file.path), file.modules]))
      : undefined;
  }
}

async function tellRunning(name: string, running: RunningRecording): Promise<void> {
  const [show, stop] = ['Show', 'Stop It'];
  const answer = await vscode.window.showWarningMessage(`Longpole: ${name} is being recorded already, with the same arguments in the same folder.`, show, stop);
  if (answer === stop) {
    running.stop();
  } else if (answer === show) {
    const processes = await Promise.all(vscode.window.terminals.map(async (terminal) => ({ terminal, id: await terminal.processId })));
    processes.find(({ id }) => id === running.processId)?.terminal.show();
  }
}

function item(target: Target, remembered: boolean): TargetItem {
  const buttons = remembered ? [...(target.kind === 'command' ? [editButton] : []), removeButton] : [];
  switch (target.kind) {
    case 'command': {
      const root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
      const place = root === undefined ? target.directory : relative(root, target.directory);
      return { label: `$(history) ${target.command}`, description: place, target, buttons };
    }
    case 'launch':
      return { label: `$(debug-alt) ${target.name}`, description: 'launch.json', target, buttons };
    case 'cmake':
      return { label: `$(tools) ${targetName(target)}`, description: 'CMake Tools', target, buttons };
  }
}

/**
 * An open source file that is newer than a program or library that holds its code, both by their names. `candidates`: those that may
 * hold it; `holds`: whether they do, asked only of a source that is newer.
 */
async function editedSinceBuilt(
  candidates: (source: string) => readonly string[],
  holds: (source: string) => Promise<boolean>,
): Promise<{ source: string; holder: string } | undefined> {
  const written = (path: string): Promise<number | undefined> => stat(path).then(({ mtimeMs }) => mtimeMs, () => undefined);
  for (const { uri, languageId, fileName, isDirty } of vscode.workspace.textDocuments) {
    if (uri.scheme !== 'file' || !['c', 'cpp'].includes(languageId)) {
      continue;
    }
    const edited = isDirty ? Infinity : ((await written(fileName)) ?? 0);
    for (const holder of candidates(fileName)) {
      const built = await written(holder);
      // One that is not there any more is not what will run.
      if (built !== undefined && edited > built && (await holds(fileName))) {
        return { source: basename(fileName), holder: basename(holder) };
      }
    }
  }
  return undefined;
}
