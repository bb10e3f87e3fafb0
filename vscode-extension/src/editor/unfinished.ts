// The recordings that go on, as files beside the others. A window that is loaded anew or closed ends its terminals, and the programs in
// them; what was recorded until then is ready only once nobody is left to take it up. The next window of the workspace does.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExtensionContext } from 'vscode';
import type { Recording } from './followRecording';
import { startOf } from './whatRan';

/** A recording, and the process of the window that follows it: its number, and what tells it from a later one of that number. */
export interface Unfinished extends Recording {
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

/** Those that this window follows, too. */
export async function listUnfinished(folder: string): Promise<Unfinished[]> {
  const read = async (path: string): Promise<Unfinished[]> => {
    try {
      return [JSON.parse(await readFile(path, 'utf8')) as Unfinished];
    } catch {
      return []; // Somebody has taken it up meanwhile.
    }
  };
  return (await Promise.all((await filesIn(folder)).map(read))).flat();
}

/** To be called once it has begun. */
export async function keepUnfinished(folder: string, recording: Recording): Promise<void> {
  const kept: Unfinished = { ...recording, follower: process.pid, followerStart: await startOf(process.pid) };
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(recording), JSON.stringify(kept));
}

/** Whether the window that began it is there still. */
export async function isFollowed({ follower, followerStart }: Unfinished): Promise<boolean> {
  const start = await startOf(follower);
  return start !== undefined && start === followerStart;
}

/** Forgets a recording whose end was seen. */
export async function dropUnfinished(recording: Recording): Promise<void> {
  await Promise.all([fileOf(recording), recording.status].map((path) => rm(path, { force: true })));
}

function fileOf({ status }: Recording): string {
  return status.replace(/\.status$/, ending);
}

async function filesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).filter((name) => name.startsWith('.') && name.endsWith(ending)).map((name) => join(folder, name));
}
