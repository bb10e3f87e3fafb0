// What really ran in a task's terminal. A task of tasks.json has variables in it, which the editor replaces as it starts the process
// and tells nobody of; the system knows.
import { readFile, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from './followRecording';

/** Until a process that was just started is the program that it is to be. */
const attempts = 10;
const pauseMs = 20;

/** `mark`: a word of its command line that no other process has. A process that is gone by now ran as the task says. */
export async function whatRan(process: number, mark: string, asked: Run): Promise<Run> {
  const place = `/proc/${process}`;
  for (let left = attempts; left > 0; left--) {
    const words = await listOf(`${place}/cmdline`);
    const own = words.indexOf('--', words.indexOf(mark));
    const [program, ...args] = words.slice(own + 1);
    if (words.includes(mark) && own >= 0 && program !== undefined) {
      const environment = new Map((await listOf(`${place}/environ`)).map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]));
      const env = Object.fromEntries(Object.entries(asked.env).map(([name, value]) => [name, environment.get(name) ?? value]));
      return { ...asked, program, args, cwd: await readlink(`${place}/cwd`).catch(() => asked.cwd), env };
    }
    await sleep(pauseMs);
  }
  return asked;
}

/** Whether that process is the one of that mark, and not another one that has its number by now. */
export async function isStill(process: number, mark: string): Promise<boolean> {
  return (await listOf(`/proc/${process}/cmdline`)).includes(mark);
}

/** Tells a process from another one that has its number later; undefined: there is none of that number. */
export async function startOf(process: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${process}/stat`, 'utf8').catch(() => '');
  // Behind the name, which may have anything in it (proc_pid_stat(5)): the state is the third field, the start the twenty-second.
  const behindName = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return behindName[22 - 3];
}

/** Each of its entries ends with a zero byte, and any may be empty. */
async function listOf(path: string): Promise<string[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\0').slice(0, -1);
}
