// Processes of this machine, by what the system says of them (proc(5)). A number may be another process's later.
import { readFile, readlink } from 'node:fs/promises';

export function isAlive(process: number): boolean {
  return signal(process, 0);
}

/** Returns whether there is such a process of this user. */
export function signal(processId: number, which: 'SIGTERM' | 0): boolean {
  try {
    return process.kill(processId, which);
  } catch {
    return false;
  }
}

/** What tells it from a later one of that number; undefined: there is none of that number. */
export async function startOf(process: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${process}/stat`, 'utf8').catch(() => '');
  // Behind the name, which may have anything in it: the state is the third field, the start the twenty-second.
  const behindName = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return behindName[22 - 3];
}

/** Empty: it is gone, or has not become its program yet. */
export function commandLineOf(process: number): Promise<string[]> {
  return listOf(`/proc/${process}/cmdline`);
}

/** As it was when it began. */
export async function environmentOf(process: number): Promise<Map<string, string>> {
  return new Map((await listOf(`/proc/${process}/environ`)).map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]));
}

export function directoryOf(process: number): Promise<string | undefined> {
  return readlink(`/proc/${process}/cwd`).catch(() => undefined);
}

/** Each of its entries ends with a zero byte, and any may be empty. */
async function listOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\0').slice(0, -1);
}
