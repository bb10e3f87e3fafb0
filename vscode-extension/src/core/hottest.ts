// The one line to look at first.
import { functionTitle } from './functionNames';
import { formatCpus, formatShare, formatSpeedup, formatTime } from './format';
import { shortMachineRemark } from './machineSettings';
import { knowsCaches, type Notices } from './notices';
import type { Prediction } from '../protocol/longpole/v1/simulation';
import { functionShare, lineShare, type Weights } from './weights';

export interface HottestLine {
  readonly file: string;
  readonly line: number;
  readonly share: number;
}

/** Of the files of the program's own code; undefined when none of their lines is on the critical path. */
export function hottestLine(weights: Weights, files: Iterable<string>, cpus: number): HottestLine | undefined {
  let hottest: HottestLine | undefined;
  for (const file of files) {
    for (const line of weights.linesOf(file).values()) {
      const share = lineShare(weights, line, cpus);
      if (share > (hottest?.share ?? 0)) {
        hottest = { file, line: line.line, share };
      }
    }
  }
  return hottest;
}

/** Whether what ran created no thread that is known. */
export function ranInOneThread(notices: Notices): boolean {
  return notices.some(({ code }) => code === 'no-threads-created');
}

const lockstepAdvice = ['spinning', 'work-handed-out', 'work-stolen', 'waiting-loops'];

/** Whether it was recorded on one CPU, and what depends on time takes another course there than on several. */
export function needsLockstep(notices: Notices): boolean {
  return notices.some(({ code }) => lockstepAdvice.includes(code));
}

/** What is said of such a recording, beside an offer to make another. */
export const lockstepHint = 'Its threads spin or take work from each other; on one CPU that takes another course than on several.';

/** For whoever expected threads, and whoever does not know what is left to see without them. */
export const oneThreadHint =
  'Its lines are an ordinary profile. If you expected threads, check its arguments; of a script, record the program that it starts.';

/**
 * "sorter would take 1.75 s on 8 CPUs, 2.4× as fast as on one. Hottest: merge, 66%.", and before the last what it takes `onMachine`,
 * where that is much else.
 */
export function recordedSentence(name: string, weights: Weights, cpus: number, onMachine?: Prediction, notices: Notices = []): string {
  const prediction = weights.prediction(cpus);
  const outcome =
    prediction === undefined
      ? 'is recorded.'
      : prediction.deadlock !== undefined
        ? `would deadlock on ${formatCpus(cpus)}.`
        : ranInOneThread(notices)
          ? `ran in a single thread: it would take ${formatTime(prediction.totalNs)} on any number of CPUs.`
          : cpus === 1
            ? `would take ${formatTime(prediction.totalNs)} on one CPU.`
            : `would take ${formatTime(prediction.totalNs)} on ${formatCpus(cpus)}, ${formatSpeedup(prediction.speedup)} as fast as on one.`;
  const remark = prediction === undefined || onMachine === undefined ? '' : shortMachineRemark(onMachine, knowsCaches(notices));
  const [hottest] = weights.heaviestFunctions(cpus, 1);
  const share = hottest === undefined ? 0 : functionShare(weights, hottest, cpus);
  const whose = weights.threads === undefined ? 'Hottest' : 'Hottest of the shown threads';
  const lead = hottest === undefined || share < 0.005 ? '' : `${whose}: ${functionTitle(hottest.name)}, ${formatShare(share)}.`;
  return [name, outcome, remark, lead].filter((words) => words !== '').join(' ');
}
