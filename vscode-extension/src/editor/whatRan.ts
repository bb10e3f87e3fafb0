// What really ran in a task's terminal. A task of tasks.json has variables in it, which the editor replaces as it starts the process
// and tells nobody of; the system knows.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from './followRecording';
import { commandLineOf, directoryOf, environmentOf } from './processes';

/** Until a process that was just started is the program that it is to be. */
const attempts = 10;
const pauseMs = 20;

/** `mark`: a word of its command line that no other process has. A process that is gone by now ran as the task says. */
export async function whatRan(process: number, mark: string, asked: Run): Promise<Run> {
  for (let left = attempts; left > 0; left--) {
    const words = await commandLineOf(process);
    const own = words.indexOf('--', words.indexOf(mark));
    const [program, ...args] = words.slice(own + 1);
    if (words.includes(mark) && own >= 0 && program !== undefined) {
      const environment = await environmentOf(process);
      const env = Object.fromEntries(Object.entries(asked.env).map(([name, value]) => [name, environment.get(name) ?? value]));
      return { ...asked, program, args, cwd: (await directoryOf(process)) ?? asked.cwd, env };
    }
    await sleep(pauseMs);
  }
  return asked;
}
