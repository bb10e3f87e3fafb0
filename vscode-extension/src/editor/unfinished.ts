// The recordings that go on, as files beside the others. Where a window is loaded anew or closed, their programs end with their
// terminals, or go on without one; what was recorded is ready only once nobody is left to take it up. The next window of the
// workspace does.
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExtensionContext } from 'vscode';
import type { RecordProcess } from './followRecording';
import { startOf } from './processes';

/** A recording, and the process of the window that follows it: its number, and what tells it from a later one of that number. */
export interface Unfinished extends RecordProcess {
  readonly follower: number;
  readonly followerStart: string | undefined;
}

const ending = '.run';

/** Where the recordings of a workspace are. */
export function recordingsFolder(context: ExtensionContext): string {
  return join((context.storageUri ?? context.globalStorageUri).fsPath, 'recordings');
}

export async function hasUnfinished(folder: string): Promise<boolean> {
  return (await filesIn(folder)).length > 0;
}

/** Those that this window follows, too; without what is damaged, or half written by another window. */
export async function listUnfinished(folder: string): Promise<Unfinished[]> {
  const read = async (path: string): Promise<Unfinished[]> => {
    try {
      const one: unknown = JSON.parse(await readFile(path, 'utf8'));
      return isComplete(one) && fileOf(one) === path ? [one] : [];
    } catch {
      return [];
    }
  };
  return (await Promise.all((await filesIn(folder)).map(read))).flat();
}

function isComplete(read: unknown): read is Unfinished {
  const { processId, status, output, run, follower } = (read ?? {}) as Partial<Unfinished>;
  const { program, args, cwd } = run ?? {};
  const numbers = [processId, follower].every((value) => typeof value === 'number');
  const words = [status, output, program, cwd].every((value) => typeof value === 'string');
  return numbers && words && Array.isArray(args) && args.every((value) => typeof value === 'string');
}

/** To be called once it has begun. */
export async function keepUnfinished(folder: string, recording: RecordProcess): Promise<void> {
  const kept: Unfinished = { ...recording, follower: process.pid, followerStart: await startOf(process.pid) };
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(recording), JSON.stringify(kept));
}

/** Whether nobody has seen its end. */
export function isUnfinished(recording: RecordProcess): boolean {
  return existsSync(fileOf(recording));
}

/** Whether the window that began it is there still. */
export async function isFollowed({ follower, followerStart }: Unfinished): Promise<boolean> {
  const start = await startOf(follower);
  return start !== undefined && start === followerStart;
}

/** Forgets a recording whose end was seen. */
export async function dropUnfinished(recording: RecordProcess): Promise<void> {
  await Promise.all([fileOf(recording), recording.status].map((path) => rm(path, { force: true })));
}

function fileOf({ status }: RecordProcess): string {
  return status.replace(/\.status$/, ending);
}

async function filesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('.') && name.endsWith(ending)).map((name) => join(folder, name));
}
