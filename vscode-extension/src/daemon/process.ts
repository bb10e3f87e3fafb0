// One run of the daemon's program, from its start to its end.
//
// The daemon holds the other end of our pipe to its standard input and ends when that closes, so it outlives neither the
// extension nor a crash of the extension host.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parseReadyLine, type Ready } from '../core/handshake';

/** How long a daemon may take until it listens. */
const startTimeoutMs = 20_000;
/** How long it may take to end once asked, before it is killed. */
const endTimeoutMs = 3_000;

export interface DaemonProcess {
  readonly ready: Ready;
  /** Settles when the process has ended, with a description of how. Never rejects. */
  readonly ended: Promise<string>;
  /** Asks the process to end, and kills it when it does not. */
  stop(): Promise<void>;
}

/**
 * Starts the daemon and waits for its READY line. What it prints besides goes to `log`, line by line.
 *
 * @throws Error when it does not start, ends, or is silent for too long.
 */
export async function startDaemon(path: string, log: (line: string) => void): Promise<DaemonProcess> {
  const child = spawn(path, ['serve', '--parent-stdin'], { stdio: ['pipe', 'pipe', 'pipe'] });
  // A daemon that is gone must not take the extension host with it by EPIPE.
  child.stdin.on('error', () => undefined);
  const lastWords: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    lastWords.push(line);
    if (lastWords.length > 5) {
      lastWords.shift();
    }
    log(line);
  });
  const ended = endOf(child);
  let ready: Ready;
  try {
    ready = await Promise.race([
      readyLineOf(child, log),
      ended.then((how) => {
        throw new Error([`The daemon ${path} ${how}.`, ...lastWords].join('\n'));
      }),
      timeout(startTimeoutMs, `The daemon ${path} did not say READY within ${startTimeoutMs / 1000} s.`),
    ]);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return { ready, ended, stop: () => stop(child, ended) };
}

function endOf(child: ChildProcessWithoutNullStreams): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`cannot be started: ${error.message}`));
    child.once('close', (code, signal) => resolve(signal === null ? `ended with status ${code}` : `was ended by ${signal}`));
  });
}

function readyLineOf(child: ChildProcessWithoutNullStreams, log: (line: string) => void): Promise<Ready> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      try {
        const ready = parseReadyLine(line);
        if (ready === undefined) {
          log(line);
        } else {
          resolve(ready);
        }
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

async function stop(child: ChildProcessWithoutNullStreams, ended: Promise<string>): Promise<void> {
  child.stdin.end();
  const timer = setTimeout(() => child.kill('SIGKILL'), endTimeoutMs);
  await ended;
  clearTimeout(timer);
}

function timeout(ms: number, message: string): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(message)), ms).unref();
  });
}
