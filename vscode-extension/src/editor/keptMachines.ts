// The machines that recordings are simulated on, where they are not the usual one: by their paths, the latest.
import type * as vscode from 'vscode';
import { isUsual, readMachine, type MachineSettings } from '../core/machineSettings';

const machinesKey = 'longpole.machines';
const mostMachines = 100;

export class KeptMachines {
  constructor(private readonly memory: vscode.Memento) {}

  of(path: string): MachineSettings {
    return readMachine(this.all[path]);
  }

  async keep(path: string, settings: MachineSettings): Promise<void> {
    const latest = Object.entries(this.all).filter(([other]) => other !== path).slice(-mostMachines);
    await this.memory.update(machinesKey, Object.fromEntries(isUsual(settings) ? latest : [...latest, [path, settings]]));
  }

  private get all(): Readonly<Record<string, unknown>> {
    return this.memory.get<Record<string, unknown>>(machinesKey, {});
  }
}
