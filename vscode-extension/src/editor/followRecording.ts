// What goes on in the terminal of a recording, shown until there is a result; and put among the other recordings.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { parseRecordStatus, progressText, type RecordStatus } from '../core/recordStatus';
import { isAlive, signal } from './processes';
import type { Recordings } from './recordings';

export interface Run {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its threads advance together as on so many CPUs; undefined: on the one that there is. */
  readonly lockstep?: number | undefined;
  /** Rounds of further runs in which its threads take turns as on several CPUs; undefined: none. */
  readonly turns?: number | undefined;
}

/** A process of `longpole record`. */
export interface RecordProcess {
  readonly processId: number;
  /** The file that it writes how far it is to. */
  readonly status: string;
  /** The recording that it makes. */
  readonly output: string;
  readonly run: Run;
}

export interface Recorded {
  /** The recording, among the others of this workspace. */
  readonly path: string;
  /** The user stopped the program. */
  readonly stopped: boolean;
  readonly run: Run;
}

/** How often the status is looked at. */
const lookMs = 200;
/** How long a process that is no task any more, for its terminal was closed, may take to write what was recorded. */
const lastWordsMs = 60_000;

/**
 * Shows how far a recording is, with a Cancel that keeps what there is, and puts the result among the others.
 *
 * @param hasTerminal whether the editor says that its process goes on.
 * @throws Error for the user, in the words of `longpole record`, when nothing was recorded.
 */
export async function follow(recording: RecordProcess, recordings: Recordings, stopping: AbortController, hasTerminal: () => boolean): Promise<Recorded> {
  const { processId, run } = recording;
  const name = basename(run.program);
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: `Longpole: ${name}`, cancellable: true },
    async (progress, cancelled) => {
      const stop = (): void => {
        progress.report({ message: 'stopping the program; what was recorded is kept …' });
        signal(processId, 'SIGTERM');
      };
      progress.report({ message: 'starting …' });
      stopping.signal.addEventListener('abort', stop);
      cancelled.onCancellationRequested(() => stopping.abort());
      // Before there was this to say it.
      if (stopping.signal.aborted) {
        stop();
      }
      let said = '';
      for (let left = lastWordsMs / lookMs; left > 0; left -= hasTerminal() || isAlive(processId) ? 0 : 10) {
        const status = await readStatus(recording.status);
        if (status.result !== undefined) {
          if ('error' in status.result) {
            throw new Error(status.result.error);
          }
          const path = await recordings.add(recording.output, { program: run.program, args: run.args, directory: run.cwd });
          return { path, stopped: stopping.signal.aborted, run };
        }
        const text = progressText(status, stopping.signal.aborted);
        if (text !== said && text !== '') {
          said = text;
          progress.report({ message: text });
        }
        await sleep(lookMs);
      }
      throw new Error(`Recording ${name} ended without a result. Its terminal may say why.`);
    },
  );
}

/** Whether it has come to an end, good or bad, that nobody has taken up. */
export async function hasResult({ status, output }: RecordProcess): Promise<boolean> {
  const { result } = await readStatus(status);
  return result !== undefined && ('error' in result || existsSync(output));
}

async function readStatus(path: string): Promise<RecordStatus> {
  return parseRecordStatus(await readFile(path, 'utf8').catch(() => ''));
}
