// Which task a launch configuration wants to be run before its program, and which of those that there are it is.

export type WantedTask =
  /** By its label, or by source and label: "C/C++: gcc build active file". */
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'defaultBuild' }
  /** By what it is: {"type": "npm", "script": "watch"}. */
  | { readonly kind: 'defined'; readonly definition: Readonly<Record<string, unknown>> };

export interface KnownTask {
  readonly name: string;
  readonly source: string;
  readonly definition: Readonly<Record<string, unknown>>;
  /** The URI of the workspace folder that it is of; undefined: it is of the whole workspace. */
  readonly folder: string | undefined;
  readonly isDefaultBuild: boolean;
}

/** What stands in launch.json; undefined: nothing that makes sense. Variables are still in it. */
export function wantedTask(preLaunchTask: unknown): WantedTask | undefined {
  if (typeof preLaunchTask === 'string') {
    return preLaunchTask === '' ? undefined : preLaunchTask === '${defaultBuildTask}' ? { kind: 'defaultBuild' } : { kind: 'named', name: preLaunchTask };
  }
  return typeof preLaunchTask === 'object' && preLaunchTask !== null && 'type' in preLaunchTask
    ? { kind: 'defined', definition: { ...preLaunchTask } }
    : undefined;
}

/** The task of this folder, else of the whole workspace: one of another folder is another one, whatever it is called. */
export function chooseTask<T extends KnownTask>(wanted: WantedTask, tasks: readonly T[], folder: string): T | undefined {
  const meant = tasks.filter((task) => isWanted(wanted, task));
  return meant.find((task) => task.folder === folder) ?? meant.find((task) => task.folder === undefined);
}

/** What a person calls it. */
export function taskWords(wanted: WantedTask): string {
  switch (wanted.kind) {
    case 'named':
      return `"${wanted.name}"`;
    case 'defaultBuild':
      return '${defaultBuildTask}';
    case 'defined':
      return JSON.stringify(wanted.definition);
  }
}

function isWanted(wanted: WantedTask, { name, source, definition, isDefaultBuild }: KnownTask): boolean {
  switch (wanted.kind) {
    case 'named':
      return name === wanted.name || `${source}: ${name}` === wanted.name;
    case 'defaultBuild':
      return isDefaultBuild;
    case 'defined':
      return Object.entries(wanted.definition).every(([key, value]) => JSON.stringify(definition[key]) === JSON.stringify(value));
  }
}
