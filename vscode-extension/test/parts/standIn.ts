// Stands in for the editor where a test is of one part of src/editor: what that reads of `vscode`, and no more. Nothing happens
// in it by itself, so a test decides what comes first, which in a real editor nobody can.
import { join, resolve } from 'node:path';

export class EventEmitter<T> {
  private readonly listeners = new Set<(value: T) => unknown>();
  readonly event = (listener: (value: T) => unknown): { dispose: () => void } => {
    this.listeners.add(listener);
    return { dispose: () => void this.listeners.delete(listener) };
  };
  fire(value: T): void {
    [...this.listeners].forEach((listener) => listener(value));
  }
  dispose(): void {
    this.listeners.clear();
  }
}

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly fsPath: string,
  ) {}
  static file(path: string): Uri {
    return new Uri('file', path);
  }
  static joinPath(base: Uri, ...parts: string[]): Uri {
    return Uri.file(join(base.fsPath, ...parts));
  }
  toString(): string {
    return `${this.scheme}://${this.fsPath}`;
  }
}

interface Folder {
  readonly name: string;
  readonly index: number;
  readonly uri: Uri;
}

/** By their whole names. */
export const settings: Record<string, unknown> = {};
const settingsChanged = new EventEmitter<{ affectsConfiguration: (name: string) => boolean }>();

/** As if the user had changed it. */
export function change(name: string, value: unknown): void {
  settings[name] = value;
  settingsChanged.fire({ affectsConfiguration: (asked) => name === asked || name.startsWith(`${asked}.`) });
}

export const documentEvents = { changed: new EventEmitter<unknown>(), closed: new EventEmitter<unknown>(), saved: new EventEmitter<unknown>() };

export const workspace = {
  workspaceFolders: undefined as Folder[] | undefined,
  textDocuments: [] as unknown[],
  getConfiguration: (section?: string): { get: (name: string, fallback?: unknown) => unknown } => ({
    get: (name, fallback) => settings[section === undefined ? name : `${section}.${name}`] ?? fallback,
  }),
  getWorkspaceFolder: (uri: Uri): Folder | undefined =>
    workspace.workspaceFolders?.find((folder) => resolve(uri.fsPath).startsWith(`${folder.uri.fsPath}/`)),
  decode: (bytes: Uint8Array): Promise<string> => Promise.resolve(Buffer.from(bytes).toString()),
  findFiles: (): Promise<Uri[]> => Promise.resolve([]),
  onDidChangeConfiguration: settingsChanged.event,
  onDidChangeTextDocument: documentEvents.changed.event,
  onDidCloseTextDocument: documentEvents.closed.event,
  onDidSaveTextDocument: documentEvents.saved.event,
};

export const extensions = { getExtension: (): undefined => undefined };

export const commands = { executeCommand: (): Promise<undefined> => Promise.resolve(undefined) };

/** What the user was told and asked, and what is answered to that. */
export const messages = { shown: [] as string[], answer: (_text: string, buttons: readonly string[]): string | undefined => buttons[0] };

function say(text: string, ...buttons: string[]): Promise<string | undefined> {
  messages.shown.push(text);
  return Promise.resolve(messages.answer(text, buttons));
}

/** Presses Cancel on whatever waits. */
export const cancelPressed = new EventEmitter<void>();
/** Told of the title of each progress, once it is shown. */
export const progressShown = new EventEmitter<string>();

export const window = {
  activeTextEditor: undefined,
  tabGroups: { all: [] as unknown[] },
  showWarningMessage: say,
  showInformationMessage: say,
  showErrorMessage: say,
  withProgress: ({ title }: { title: string }, work: (progress: { report: () => void }, token: object) => unknown): unknown => {
    const cancelled = new EventEmitter<void>();
    const token = { isCancellationRequested: false, onCancellationRequested: cancelled.event };
    const { dispose } = cancelPressed.event(() => {
      token.isCancellationRequested = true;
      cancelled.fire();
    });
    const working = work({ report: () => undefined }, token);
    progressShown.fire(title);
    return Promise.resolve(working).finally(dispose);
  },
};

export class TabInputCustom {
  constructor(readonly uri: Uri) {}
}

export enum ProgressLocation {
  Window,
  Notification,
}

export const taskEvents = {
  ended: new EventEmitter<{ execution: unknown }>(),
  processEnded: new EventEmitter<{ execution: unknown; exitCode: number | undefined }>(),
  processStarted: new EventEmitter<{ execution: unknown; processId: number }>(),
};

export const tasks = {
  all: [] as unknown[],
  taskExecutions: [] as unknown[],
  fetchTasks: (): Promise<unknown[]> => Promise.resolve(tasks.all),
  /** What happens is for the test to say. */
  executeTask: (task: unknown): Promise<unknown> => Promise.reject(new Error(`nothing runs here: ${String(task)}`)),
  onDidEndTask: taskEvents.ended.event,
  onDidEndTaskProcess: taskEvents.processEnded.event,
  onDidStartTaskProcess: taskEvents.processStarted.event,
};

export const TaskGroup = { Build: { id: 'build' } };

/** What is kept, without a disk. */
export class Memory {
  private readonly values = new Map<string, unknown>();
  get(name: string, fallback?: unknown): unknown {
    return this.values.has(name) ? this.values.get(name) : fallback;
  }
  update(name: string, value: unknown): Promise<void> {
    this.values.set(name, value);
    return Promise.resolve();
  }
}
