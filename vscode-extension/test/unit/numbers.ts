// A small recording's numbers, as the daemon sends them: a function `merge` that leads on many CPUs and `bubble_sort`
// that leads on one.
import { Weights } from '../../src/core/weights';
import { GetFunctionsResponse, GetLinesResponse } from '../../src/protocol/longpole/v1/lines';
import { Prediction } from '../../src/protocol/longpole/v1/simulation';

export const file = '/src/sorter.c';

export function weights(waitingNs: number[] = []): Weights {
  const result = new Weights();
  const cpus = [1, 8];
  const line = (number: number, name: string, selfNs: number, criticalNs: number[]): object => ({
    file,
    line: number,
    function: name,
    selfNs,
    samples: 10n,
    criticalNs,
  });
  const at = (...self: number[]): object[] => self.map((ns) => ({ criticalSelfNs: ns, criticalTotalNs: ns }));
  result.add(
    cpus,
    GetLinesResponse.create({
      totalNs: [1000, 400],
      lines: [
        line(5, 'bubble_sort', 700, [700, 0]),
        line(12, 'merge', 150, [150, 150]),
        line(13, 'merge', 50, [50, 50]),
        line(13, 'inlined', 10, [10, 10]),
        line(14, 'merge', 2, [2, 2]),
      ],
    }),
    GetFunctionsResponse.create({
      totalNs: [1000, 400],
      waitingNs,
      functions: [
        { name: 'merge', file, line: 10, lastLine: 16, selfNs: 212, selfAndDescendantsNs: 212, calls: 7n, at: at(212, 212) },
        { name: 'bubble_sort', file, line: 3, lastLine: 8, selfNs: 700, selfAndDescendantsNs: 700, at: at(700, 0) },
      ],
    }),
  );
  result.addPredictions([
    Prediction.create({ cpus: 1, totalNs: 1000, speedup: 1 }),
    Prediction.create({ cpus: 8, totalNs: 400, speedup: 2.5 }),
  ]);
  return result;
}
