// What the shown recording would take where a kernel hands out the CPUs and wake-ups take time, beside the numbers that annotations and
// the status bar are of: in those threads share the CPUs evenly, and nothing takes time but their own work.
import * as vscode from 'vscode';
import { isUsual, machineRemark, usualMachine } from '../core/machineSettings';
import type { Weights } from '../core/weights';
import type { Prediction } from '../protocol/longpole/v1/simulation';
import type { Session } from './session';

/** Whoever walks through a list of CPU counts is not waited upon at each. */
const restMs = 300;

export class MachineCheck implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  /** By what is shown, and by CPUs; undefined: it is asked for, or could not be had. */
  private readonly known = new WeakMap<Weights, Map<number, Prediction | undefined>>();
  private readonly subscription: vscode.Disposable;
  private rest: NodeJS.Timeout | undefined;

  readonly onDidChange = this.changed.event;

  constructor(private readonly session: Session) {
    this.subscription = session.onDidChange(() => {
      clearTimeout(this.rest);
      this.rest = setTimeout(() => void this.ask(), restMs);
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
    const prediction = recording?.weights.prediction(cpus);
    const onMachine = recording && this.known.get(recording.weights)?.get(cpus);
    return prediction === undefined || onMachine === undefined || !isUsual(machine) ? '' : machineRemark(prediction, onMachine);
  }

  private async ask(): Promise<void> {
    const { recording, cpus, machine, busy } = this.session;
    // Busy with what is to be shown: there will be another change.
    if (recording === undefined || busy || !isUsual(machine) || recording.weights.prediction(cpus) === undefined) {
      return;
    }
    const answers = this.known.get(recording.weights) ?? new Map<number, Prediction | undefined>();
    this.known.set(recording.weights, answers);
    if (answers.has(cpus)) {
      return;
    }
    answers.set(cpus, undefined);
    // Without an answer nothing is said: what is shown does not rest on it.
    const answer = await this.session.ask(undefined, (client, handle) => client.predict(handle, [cpus], { ...usualMachine, scheduler: 'linux' })).catch(() => undefined);
    answers.set(cpus, answer?.predictions[0]);
    this.changed.fire();
  }
}
