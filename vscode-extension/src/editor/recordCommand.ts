// Record and Simulate: asks what to run, once; runs and records it; shows what came out.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { formatCommandLine, parseCommandLine } from '../core/commandLine';
import { formatCount } from '../core/format';
import { daemonError, present } from '../daemon/client';
import type { Connection, Daemon } from '../daemon/daemon';
import {
  RecordProgress_Phase,
  type RecordProgress,
  type RecordResponse,
  type RecordResult,
} from '../protocol/longpole/v1/longpole';
import type { ProgramTerminal } from './programTerminal';
import type { Session } from './session';

const commandKey = 'longpole.recordedCommand';
/** Recordings kept for a workspace: enough to compare with, few enough for the disk. */
const keptRecordings = 10;

interface Wanted {
  readonly words: readonly string[];
  readonly directory: string;
}

export class Recorder {
  private recording = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly daemon: Daemon,
    private readonly session: Session,
    private readonly terminal: ProgramTerminal,
    private readonly log: vscode.LogOutputChannel,
  ) {}

  /** Asks again what to run; remembers it for this workspace. */
  async changeCommand(): Promise<string | undefined> {
    const before = this.context.workspaceState.get<string>(commandKey, '');
    const text = await vscode.window.showInputBox({
      title: 'Longpole: Program to Record',
      prompt: `Program and arguments, from ${directoryToRunIn()}. It is started directly, without a shell.`,
      placeHolder: './build/sorter numbers.txt',
      value: before,
      ignoreFocusOut: true,
      validateInput: (value) => {
        const parsed = parseCommandLine(value);
        return 'problem' in parsed ? parsed.problem : undefined;
      },
    });
    if (text !== undefined) {
      await this.context.workspaceState.update(commandKey, text);
    }
    return text;
  }

  async recordAndSimulate(): Promise<void> {
    if (this.recording) {
      throw new Error('A program is being recorded already.');
    }
    this.recording = true;
    try {
      const text = this.context.workspaceState.get<string>(commandKey) ?? (await this.changeCommand());
      const parsed = text === undefined ? undefined : parseCommandLine(text);
      if (parsed === undefined) {
        return;
      }
      if ('problem' in parsed) {
        throw new Error(parsed.problem);
      }
      await this.record({ words: parsed.words, directory: directoryToRunIn() });
    } finally {
      this.recording = false;
    }
  }

  private async record(wanted: Wanted): Promise<void> {
    const connection = await this.daemon.connection();
    const outputPath = await this.newRecordingPath(basename(wanted.words[0] ?? 'program'));
    const name = basename(wanted.words[0] ?? '');
    const { result, stopped } = await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title: `Longpole: ${name}`, cancellable: true },
      async (progress, cancelled) => {
        const outcome = await this.run(connection, wanted, outputPath, progress, cancelled);
        progress.report({ message: 'simulating …' });
        await this.session.show(connection, outcome.result.path, present(outcome.result.recording));
        return outcome;
      },
    );
    this.tell(result, stopped, name);
  }

  /** One Record call, from request to result. */
  private run(
    connection: Connection,
    wanted: Wanted,
    outputPath: string,
    progress: vscode.Progress<{ message: string }>,
    cancelled: vscode.CancellationToken,
  ): Promise<{ result: RecordResult; stopped: boolean }> {
    const [program = '', ...programArguments] = wanted.words;
    this.log.info(`recording ${formatCommandLine(wanted.words)} in ${wanted.directory}`);
    this.terminal.begin(formatCommandLine(wanted.words));
    const stream = connection.client.record({
      program,
      arguments: programArguments,
      directory: wanted.directory,
      outputPath,
    });
    return new Promise((resolve, reject) => {
      let run: bigint | undefined;
      let stopped = false;
      let result: RecordResult | undefined;
      const askToStop = (id: bigint): void => {
        connection.client.stopRecording(id).catch((error: unknown) => this.log.warn(String(error)));
      };
      const stop = (): void => {
        if (stopped || result !== undefined) {
          return;
        }
        stopped = true;
        progress.report({ message: 'stopping the program; what was recorded is kept …' });
        if (run !== undefined) {
          askToStop(run);
        }
      };
      const receive = ({ event }: RecordResponse): void => {
        switch (event?.$case) {
          case 'started':
            run = event.value.run;
            if (stopped) {
              askToStop(run);
            }
            break;
          case 'output':
            this.terminal.output(event.value);
            break;
          case 'progress':
            if (!stopped || event.value.phase > RecordProgress_Phase.PHASE_RUNNING) {
              progress.report({ message: phaseText(event.value) });
            }
            break;
          case 'result':
            result = event.value;
            break;
          case undefined:
            // An event of a later version, which this one may overlook.
            break;
        }
      };

      progress.report({ message: 'starting …' });
      const listeners = [cancelled.onCancellationRequested(stop), this.terminal.onDidAskToStop(stop)];
      stream.on('data', receive);
      stream.on('error', (error) => reject(daemonError(error)));
      stream.on('end', () => {
        listeners.forEach((listener) => void listener.dispose());
        if (result !== undefined) {
          resolve({ result, stopped });
        } else {
          // After an error, which has been told already, this says nothing more.
          setImmediate(() => reject(new Error('The daemon ended the recording without a result.')));
        }
      });
    });
  }

  /** What the user should know besides the numbers. */
  private tell(result: RecordResult, stopped: boolean, name: string): void {
    const recording = present(result.recording);
    const { exitStatus, exitSignal } = recording;
    const events = `${formatCount(recording.events)} events`;
    this.log.info(`recorded ${events} to ${result.path} (${recording.source} source)`);
    recording.notices.forEach((notice) => this.log.info(notice.text));
    if (stopped) {
      const text = `${name} was stopped. What it did until then is kept: ${events}.`;
      this.terminal.remark(text);
      void vscode.window.showInformationMessage(`Longpole: ${text}`);
    } else if (exitSignal !== undefined) {
      this.terminal.remark(`${name} was ended by signal ${exitSignal}; recorded ${events}`);
    } else {
      const status = exitStatus === undefined || exitStatus === 0 ? '' : ` with status ${exitStatus}`;
      this.terminal.remark(`${name} ended${status}; recorded ${events}`);
    }
  }

  private async newRecordingPath(name: string): Promise<string> {
    const storage = this.context.storageUri ?? this.context.globalStorageUri;
    const folder = join(storage.fsPath, 'recordings');
    await mkdir(folder, { recursive: true });
    const earlier = (await readdir(folder)).filter((file) => file.endsWith('.lptrace')).sort();
    const tooMany = earlier.slice(0, Math.max(0, earlier.length - keptRecordings + 1));
    await Promise.all(tooMany.map((file) => rm(join(folder, file), { force: true })));
    // First the time, so that names sort by age.
    const time = new Date().toISOString().replace(/[:.]/g, '-');
    return join(folder, `${time}-${name}.lptrace`);
  }
}

function directoryToRunIn(): string {
  const active = vscode.window.activeTextEditor?.document.uri;
  const folder = (active && vscode.workspace.getWorkspaceFolder(active)) ?? vscode.workspace.workspaceFolders?.[0];
  return folder?.uri.fsPath ?? process.env['HOME'] ?? '/';
}

function phaseText(progress: RecordProgress): string {
  const events = progress.events > 0n ? `, ${formatCount(progress.events)} events` : '';
  switch (progress.phase) {
    case RecordProgress_Phase.PHASE_STARTING:
      return 'starting …';
    case RecordProgress_Phase.PHASE_RUNNING:
      return `recording${events}. Cancel stops the program and keeps what was recorded.`;
    case RecordProgress_Phase.PHASE_MERGING:
      return `putting events and samples together${events} …`;
    case RecordProgress_Phase.PHASE_SYMBOLIZING:
      return 'finding functions and lines …';
    case RecordProgress_Phase.PHASE_ANALYSING:
      return 'analysing …';
    case RecordProgress_Phase.PHASE_UNSPECIFIED:
    case RecordProgress_Phase.UNRECOGNIZED:
      return '…';
  }
}
