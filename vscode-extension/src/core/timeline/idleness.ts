// A CPU that stands still while threads wait for one looks like a mistake of the picture. It is none: said where the pointer is on
// either of them.
import { pixelAt } from './drawGraphs';
import type { TimelineData } from './model';

/**
 * Why that happens on a machine, as short as the tip by the pointer shows whole; empty: not known. `isBound`: some threads may run on one
 * CPU alone. `packedUseNs`: of a second, how much of a CPU threads use that its kernel packs; 0: it packs none.
 */
export function idleReason(scheduler: string, isBound: boolean, packedUseNs: number): string {
  // What the daemon models of it: newly idle balancing, the cost of waking a CPU, and packing.
  const rarely = 'only when it balances its queues';
  if (isBound) {
    const own = 'a bound thread waits for its own CPU';
    return scheduler === 'linux' ? `${own}, and Linux moves others ${rarely}, and an idle CPU takes time to wake` : own;
  }
  if (scheduler !== 'linux') {
    return '';
  }
  return packedUseNs > 0
    ? `Linux moves threads ${rarely}, and this one packs those that together use less than ${String(Math.round(packedUseNs / 1e7))}% of a CPU`
    : `Linux moves a thread that waits elsewhere ${rarely}, and an idle CPU takes time to wake`;
}

/** ", while 2 threads wait for a CPU: …", of an idle CPU; empty: at some time in this pixel no thread does. */
export function waitingBeside(data: TimelineData, timeNs: number, reason: string): string {
  const waiting = data.parallelism.leastRunnable[pixelAt(timeNs, data)] ?? 0;
  return waiting === 0 ? '' : because(waiting === 1 ? 'a thread waits for a CPU' : `${waiting} threads wait for a CPU`, reason);
}

/** ", while a CPU is idle: …", of a thread that waits for one; empty: at some time in this pixel none is. */
export function idleBeside(data: TimelineData, timeNs: number, cpus: number, reason: string): string {
  const idle = cpus - (data.parallelism.mostRunning[pixelAt(timeNs, data)] ?? cpus);
  return idle <= 0 ? '' : because(idle === 1 ? 'a CPU is idle' : `${idle} CPUs are idle`, reason);
}

function because(fact: string, reason: string): string {
  return `, while ${fact}${reason === '' ? '' : `: ${reason}`}`;
}
