// What a recording says about lines and functions, for the CPU counts that were asked for so far: the answers of the
// daemon, put together so that a change of the CPU count or a hover needs no further question.
//
// Lines count from 1 here, as in recordings.
import type { FunctionAt, FunctionMessage, GetFunctionsResponse, GetLinesResponse } from '../protocol/longpole/v1/lines';
import type { Prediction } from '../protocol/longpole/v1/simulation';

/** The CPU counts that hovers and the picker show. */
export const usualCpuCounts: readonly number[] = [1, 2, 4, 8, 16, 64];
export const pickerCpuCounts: readonly number[] = [1, 2, 4, 8, 16, 32, 64];

export interface LineWeight {
  readonly line: number;
  readonly functions: readonly string[];
  readonly selfNs: number;
  readonly samples: bigint;
  /** By CPU count. May be negative. */
  readonly criticalNs: ReadonlyMap<number, number>;
  /** By CPU count: half the 95% confidence interval of criticalNs, as far as the number of samples goes; 0: exact. */
  readonly marginNs: ReadonlyMap<number, number>;
}

export interface FunctionWeight {
  readonly name: string;
  readonly file: string;
  readonly firstLine: number;
  readonly lastLine: number;
  readonly calls: bigint | undefined;
  readonly selfNs: number;
  readonly selfAndDescendantsNs: number;
  readonly samples: bigint;
  /** By CPU count. */
  readonly at: ReadonlyMap<number, FunctionAt>;
}

interface MutableLine {
  line: number;
  functions: string[];
  selfNs: number;
  samples: bigint;
  criticalNs: Map<number, number>;
  marginNs: Map<number, number>;
}

interface MutableFunction extends Omit<FunctionWeight, 'at'> {
  at: Map<number, FunctionAt>;
}

/** What the program waits for in the end, and no faster code shortens: sleeps, input and output, waits whose cause is not known. */
export const waiting = 'waiting';
export type Holder = FunctionWeight | typeof waiting;

export class Weights {
  private readonly totals = new Map<number, number>();
  private readonly waits = new Map<number, number>();
  private readonly predicted = new Map<number, Prediction>();
  private readonly files = new Map<string, Map<number, MutableLine>>();
  private readonly functions = new Map<string, MutableFunction>();
  private chosen: readonly number[] | undefined;

  /** The threads that lines and functions are of, by their places in the recording; undefined: all. */
  get threads(): readonly number[] | undefined {
    return this.chosen;
  }

  /** Whether lines and functions are known for this CPU count. */
  has(cpus: number): boolean {
    return this.totals.has(cpus);
  }

  /** Completion time in nanoseconds; undefined for a count that was not asked for. */
  totalNs(cpus: number): number | undefined {
    return this.totals.get(cpus);
  }

  /** The critical time of sleeps, of input and output, and of waits whose cause is not known. */
  waitingNs(cpus: number): number {
    return this.waits.get(cpus) ?? 0;
  }

  prediction(cpus: number): Prediction | undefined {
    return this.predicted.get(cpus);
  }

  /** The lines of a file that have weight at some CPU count, by number. */
  linesOf(file: string): ReadonlyMap<number, LineWeight> {
    return this.files.get(file) ?? new Map<number, LineWeight>();
  }

  functionsOf(file: string): FunctionWeight[] {
    return [...this.functions.values()].filter((weight) => weight.file === file);
  }

  allFunctions(): Iterable<FunctionWeight> {
    return this.functions.values();
  }

  /** The functions with the largest critical time at a CPU count, heaviest first. */
  heaviestFunctions(cpus: number, count: number): FunctionWeight[] {
    const self = (weight: FunctionWeight): number => weight.at.get(cpus)?.criticalSelfNs ?? 0;
    return [...this.functions.values()].sort((a, b) => self(b) - self(a)).slice(0, count);
  }

  /** All that may hold the program back. */
  holders(): Holder[] {
    return [...this.functions.values(), waiting];
  }

  /** The same, the heaviest at a CPU count first. */
  heaviestFirst(cpus: number): Holder[] {
    return this.holders().sort((a, b) => holderShare(this, b, cpus) - holderShare(this, a, cpus));
  }

  addPredictions(predictions: readonly Prediction[]): void {
    for (const prediction of predictions) {
      this.predicted.set(prediction.cpus, prediction);
    }
  }

  /**
   * Adds the answers for these CPU counts.
   *
   * @throws Error when an answer has not one number for each count.
   */
  add(cpus: readonly number[], lines: GetLinesResponse, functions: GetFunctionsResponse): void {
    mustMatch(cpus, lines.totalNs, 'completion times');
    this.chosen = lines.threads.length > 0 ? lines.threads : undefined;
    cpus.forEach((count, at) => this.totals.set(count, lines.totalNs[at] ?? 0));
    functions.waitingNs.forEach((ns, at) => this.waits.set(cpus[at] ?? 0, ns));
    const seen = new Map<MutableLine, boolean>();
    for (const answer of lines.lines) {
      mustMatch(cpus, answer.criticalNs, `numbers for line ${answer.file}:${answer.line}`);
      const file = getOrAdd(this.files, answer.file, () => new Map<number, MutableLine>());
      const weight = getOrAdd(file, answer.line, () => emptyLine(answer.line));
      // A line may come several times, once for each function it was inlined into.
      const again = seen.get(weight) ?? false;
      seen.set(weight, true);
      weight.selfNs = (again ? weight.selfNs : 0) + answer.selfNs;
      weight.samples = (again ? weight.samples : 0n) + answer.samples;
      if (!weight.functions.includes(answer.function)) {
        weight.functions.push(answer.function);
      }
      cpus.forEach((count, at) => {
        const before = again ? (weight.criticalNs.get(count) ?? 0) : 0;
        weight.criticalNs.set(count, before + (answer.criticalNs[at] ?? 0));
        const marginBefore = again ? (weight.marginNs.get(count) ?? 0) : 0;
        weight.marginNs.set(count, Math.hypot(marginBefore, answer.marginNs[at] ?? 0));
      });
    }
    for (const answer of functions.functions) {
      mustMatch(cpus, answer.at, `numbers for function ${answer.name}`);
      const weight = getOrAdd(this.functions, functionKey(answer), () => emptyFunction(answer));
      cpus.forEach((count, at) => {
        const numbers = answer.at[at];
        if (numbers !== undefined) {
          weight.at.set(count, numbers);
        }
      });
    }
  }
}

/** The share of the critical path of a line at a CPU count. */
export function lineShare(weights: Weights, line: LineWeight, cpus: number): number {
  return share(line.criticalNs.get(cpus) ?? 0, weights.totalNs(cpus));
}

/** The share of the critical path of a function itself at a CPU count, without what it calls. */
export function functionShare(weights: Weights, weight: FunctionWeight, cpus: number): number {
  return share(weight.at.get(cpus)?.criticalSelfNs ?? 0, weights.totalNs(cpus));
}

/** The same with all that it calls. */
export function functionShareWithCallees(weights: Weights, weight: FunctionWeight, cpus: number): number {
  return share(weight.at.get(cpus)?.criticalTotalNs ?? 0, weights.totalNs(cpus));
}

/** As functionShare. */
export function holderShare(weights: Weights, holder: Holder, cpus: number): number {
  return holder === waiting ? share(weights.waitingNs(cpus), weights.totalNs(cpus)) : functionShare(weights, holder, cpus);
}

function share(criticalNs: number, totalNs: number | undefined): number {
  return totalNs !== undefined && totalNs > 0 ? criticalNs / totalNs : 0;
}

function functionKey(answer: FunctionMessage): string {
  return [answer.name, answer.file, answer.line, answer.module].join('\0');
}

function emptyLine(line: number): MutableLine {
  return { line, functions: [], selfNs: 0, samples: 0n, criticalNs: new Map<number, number>(), marginNs: new Map<number, number>() };
}

function emptyFunction(answer: FunctionMessage): MutableFunction {
  return {
    name: answer.name,
    file: answer.file,
    firstLine: answer.line,
    lastLine: Math.max(answer.line, answer.lastLine),
    calls: answer.calls,
    selfNs: answer.selfNs,
    selfAndDescendantsNs: answer.selfAndDescendantsNs,
    samples: answer.samples,
    at: new Map<number, FunctionAt>(),
  };
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

function mustMatch(cpus: readonly number[], numbers: readonly unknown[], what: string): void {
  if (cpus.length !== numbers.length) {
    throw new Error(`The daemon's answer has ${numbers.length} ${what} for ${cpus.length} CPU counts.`);
  }
}
