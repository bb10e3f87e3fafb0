// The recordings of this workspace, as files in the extension's storage: called after their program and time, as the tabs that show
// them are; the oldest are thrown away.
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { recordingsFolder } from './unfinished';

/** Enough to compare with, few enough for the disk. A recording that the user named is kept besides. */
const keptRecordings = 10;
/** "sorter 2026-01-31 12.34.56.lptrace", by local time; what the user renames has no such name. */
const ownName = /^(?<program>.+) (?<time>\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d(?:-\d+)?)\.lptrace$/;

export interface KeptRecording extends Origin {
  readonly path: string;
  readonly name: string;
  readonly modifiedMs: number;
  readonly bytes: number;
}

/** What is known of a run besides its recording. */
export interface Origin {
  /** The workspace folder that it was recorded in; empty: none, or not known. */
  readonly folder: string;
  /** The program and what it was given; empty: not known. */
  readonly command: readonly string[];
}

const unknownOrigin: Origin = { folder: '', command: [] };

/** By path of the recording. */
const originsKey = 'longpole.recordingOrigins';

export class Recordings implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  readonly folder: string;

  /** `inUse`: what the window shows, by path, besides in tabs. */
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly inUse: () => readonly string[],
  ) {
    this.folder = recordingsFolder(context);
  }

  /** Moves a finished recording here. Returns where it is. */
  async add(from: string, { program, args, directory }: { program: string; args: readonly string[]; directory: string }): Promise<string> {
    await mkdir(this.folder, { recursive: true });
    await this.removeOldest();
    const path = this.freePath(basename(program), new Date());
    await rename(from, path);
    const folder = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(directory))?.name ?? '';
    await this.keepOrigin(path, { folder, command: [program, ...args] });
    this.changed.fire();
    return path;
  }

  /** What is looked at stays, however old it is, until another one is added. */
  private async removeOldest(): Promise<void> {
    const own = (await this.list()).filter(({ path }) => ownName.test(basename(path)));
    const used = new Set([...this.inUse(), ...openInTabs()]);
    const old = own.slice(keptRecordings - 1).filter(({ path }) => !used.has(path));
    await Promise.all(old.map(({ path }) => rm(path, { force: true })));
  }

  /** Two of one second have a number besides. */
  private freePath(program: string, now: Date): string {
    const two = (value: number): string => String(value).padStart(2, '0');
    const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('-');
    const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join('.');
    const named = (suffix: string): string => join(this.folder, `${program} ${day} ${time}${suffix}.lptrace`);
    let path = named('');
    for (let number = 2; existsSync(path); number++) {
      path = named(`-${number}`);
    }
    return path;
  }

  private get origins(): Readonly<Record<string, Origin>> {
    return this.context.workspaceState.get<Record<string, Origin>>(originsKey, {});
  }

  private async keepOrigin(path: string, origin: Origin): Promise<void> {
    const others = Object.entries(this.origins).filter(([other]) => other !== path && existsSync(other));
    await this.context.workspaceState.update(originsKey, Object.fromEntries([...others, [path, origin]]));
  }

  /** Newest first. */
  async list(): Promise<KeptRecording[]> {
    const names = (await readdir(this.folder).catch(() => [])).filter((name) => name.endsWith('.lptrace') && !name.startsWith('.'));
    const all = await Promise.all(
      names.map(async (name) => {
        const path = join(this.folder, name);
        const { mtimeMs, size } = await stat(path);
        return { path, name: recordingName(path), modifiedMs: mtimeMs, bytes: size, ...unknownOrigin, ...this.origins[path] };
      }),
    );
    return all.sort((a, b) => b.modifiedMs - a.modifiedMs);
  }

  /**
   * @throws Error when there is one of that name.
   */
  async rename(path: string, name: string): Promise<string> {
    const to = join(dirname(path), `${name}.lptrace`);
    if (existsSync(to)) {
      throw new Error(`There is a recording called ${name} already.`);
    }
    const origin = this.origins[path] ?? unknownOrigin;
    await rename(path, to);
    await this.keepOrigin(to, origin);
    this.changed.fire();
    return to;
  }

  async remove(path: string): Promise<void> {
    await rm(path, { force: true });
    this.changed.fire();
  }

  dispose(): void {
    this.changed.dispose();
  }
}

function openInTabs(): string[] {
  const inputs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ input }) => input));
  return inputs.flatMap((input) => (input instanceof vscode.TabInputCustom ? [input.uri.fsPath] : []));
}

/** What a person calls it: its program, or the name it was given. */
export function recordingName(path: string): string {
  const file = basename(path);
  return ownName.exec(file)?.groups?.['program'] ?? file.replace(/\.lptrace$/, '');
}

/** Which of several of that name it is: "sorter 12.34.56", or the name that it was given. */
export function recordingTitle(path: string): string {
  const { program, time } = ownName.exec(basename(path))?.groups ?? {};
  return program === undefined || time === undefined ? recordingName(path) : `${program} ${time.slice(11)}`;
}
