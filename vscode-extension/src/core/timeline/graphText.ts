// What is said of a place in the parallelism graph and in the histogram beside it.
import { formatShare, formatTime } from '../format';
import { pixelAt, timesByLevel } from './drawGraphs';
import type { TimelineData, View } from './model';
import { formatMoment } from './scale';

/** "16.6 ms · 8 running · 12 waiting for a CPU"; of a pixel in which that changes, the mean and the most. */
export function graphText(data: TimelineData, timeNs: number, view: View): string {
  const pixel = pixelAt(timeNs, data);
  const { meanRunning, leastRunning, mostRunning, meanRunnable, leastRunnable, mostRunnable } = data.parallelism;
  const running = meanRunning[pixel];
  if (running === undefined) {
    return '';
  }
  const waiting = meanRunnable[pixel] ?? 0;
  const parts = [formatMoment(timeNs, view), `${count(running, leastRunning[pixel], mostRunning[pixel])} running`];
  if (waiting > 0) {
    parts.push(`${count(waiting, leastRunnable[pixel], mostRunnable[pixel])} waiting for a CPU`);
  }
  return parts.join(' · ');
}

function count(mean: number, least = mean, most = mean): string {
  return least === most ? String(most) : `${mean.toFixed(1)} (${least} to ${most})`;
}

/** "3 threads run or could: 21% · 145 ms, undersubscribed", of the interval; by Intel Thread Profiler's classes. */
export function levelText(data: TimelineData, level: number, cpus: number): string {
  const times = timesByLevel(data);
  const timeNs = times.get(level) ?? 0;
  const total = [...times.values()].reduce((sum, ns) => sum + ns, 0);
  if (timeNs === 0 || total === 0) {
    return '';
  }
  const who = level === 0 ? 'no thread runs' : level === 1 ? '1 thread runs or could' : `${level} threads run or could`;
  return `${who}: ${formatShare(timeNs / total)} · ${formatTime(timeNs)}, ${classOf(level, cpus)}`;
}

function classOf(level: number, cpus: number): string {
  if (level <= 1) {
    return level === 0 ? 'idle' : 'serial';
  }
  return level === cpus ? 'parallel' : level < cpus ? 'undersubscribed' : 'oversubscribed';
}
