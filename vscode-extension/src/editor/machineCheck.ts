// What the shown recording would take where a kernel hands out the CPUs and wake-ups take time, beside the numbers that annotations and
// the status bar are of: in those threads share the CPUs evenly, and nothing takes time but their own work.
import * as vscode from 'vscode';
import { isUsual, machineRemark, usualMachine } from '../core/machineSettings';
import { knowsCaches } from '../core/notices';
import type { Weights } from '../core/weights';
import type { Prediction } from '../protocol/longpole/v1/simulation';
import type { Session } from './session';

/** Whoever walks through a list of CPU counts is not waited upon at each. */
const restMs = 300;

interface Answer {
  /** undefined: it could not be had. */
  readonly arrival: Promise<Prediction | undefined>;
  /** Once it is there. */
  prediction: Prediction | undefined;
}

export class MachineCheck implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** By what is shown, and by CPUs. */
  private readonly asked = new WeakMap<Weights, Map<number, Answer>>();
  private readonly subscription: vscode.Disposable;
  private rest: NodeJS.Timeout | undefined;

  readonly onDidChange = this.changed.event;

  constructor(private readonly session: Session) {
    this.subscription = session.onDidChange(() => {
      clearTimeout(this.rest);
      // Busy with what is to be shown: there will be another change.
      this.rest = setTimeout(() => void (this.session.busy ? undefined : this.prediction()), restMs);
    });
  }

  dispose(): void {
    clearTimeout(this.rest);
    this.subscription.dispose();
    this.changed.dispose();
  }

  /** For whoever reads the speed-up that is shown; empty: there is nothing to be said, or not yet. */
  get remark(): string {
    const { recording, cpus, machine } = this.session;
    const onMachine = recording && this.asked.get(recording.weights)?.get(cpus)?.prediction;
    return onMachine === undefined || !isUsual(machine) ? '' : machineRemark(onMachine, knowsCaches(recording?.info.notices ?? []));
  }

  /** Of what is shown, once it is simulated; undefined: a machine's numbers are shown already, or none, or it cannot be had. */
  async prediction(): Promise<Prediction | undefined> {
    const { recording, cpus, machine } = this.session;
    if (recording?.weights.prediction(cpus) === undefined || !isUsual(machine)) {
      return undefined;
    }
    const answers = this.asked.get(recording.weights) ?? new Map<number, Answer>();
    this.asked.set(recording.weights, answers);
    const answer = answers.get(cpus) ?? this.ask(cpus);
    answers.set(cpus, answer);
    return answer.arrival;
  }

  private ask(cpus: number): Answer {
    const asked = this.session.ask(undefined, (client, handle) => client.predict(handle, [cpus], { ...usualMachine, scheduler: 'linux' }, { besideShared: true }));
    // Without an answer nothing is said: what is shown does not rest on it.
    const arrival = asked.then(({ predictions }) => predictions[0], () => undefined);
    const answer: Answer = { arrival, prediction: undefined };
    void arrival.then((prediction) => {
      answer.prediction = prediction;
      this.changed.fire();
    });
    return answer;
  }
}
