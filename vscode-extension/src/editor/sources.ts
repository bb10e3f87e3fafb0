// Sources: the texts that were recorded, kept so that a later version of a file can be compared with them, and the places where
// the files of a recording are on this machine.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import * as vscode from 'vscode';
import { bestCandidate, mapPath, type SourceFileMap } from '../core/sourcePaths';
import type { SourceFile } from '../protocol/longpole/v1/recording';
import { pathInEditor, pathInWorkspace } from './realPaths';

/** Kept texts; the oldest go. */
const mostKept = 1000;
const mostBytes = 4 << 20;

export class Sources {
  private readonly folder: string;

  constructor(
    context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.folder = join((context.storageUri ?? context.globalStorageUri).fsPath, 'sources');
  }

  /** Keeps the texts of these files, as far as they still are what was recorded. */
  async keep(files: readonly SourceFile[]): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    for (const { path, sha256 } of files) {
      if (sha256 === '') {
        continue;
      }
      if (existsSync(this.place(sha256))) {
        const now = new Date();
        await utimes(this.place(sha256), now, now); // not the next to go
        continue;
      }
      const bytes = await readFile(localPath(path)).catch(() => undefined);
      if (bytes !== undefined && bytes.length <= mostBytes && hashOf(bytes) === sha256) {
        await writeFile(this.place(sha256), await promisify(gzip)(bytes));
      }
    }
    await this.removeOldest();
  }

  /** The file with this hash, when it was kept. */
  async bytesOf(sha256: string): Promise<Buffer | undefined> {
    try {
      return sha256 === '' ? undefined : await promisify(gunzip)(await readFile(this.place(sha256)));
    } catch (error) {
      this.log.debug(`no text is kept for ${sha256}: ${String(error)}`);
      return undefined;
    }
  }

  private place(sha256: string): string {
    return join(this.folder, `${sha256.replace(/[^0-9a-f]/g, '')}.gz`);
  }

  private async removeOldest(): Promise<void> {
    const names = await readdir(this.folder);
    if (names.length <= mostKept) {
      return;
    }
    const ages = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(this.folder, name))).mtimeMs })));
    ages.sort((a, b) => b.at - a.at);
    await Promise.all(ages.slice(mostKept).map(({ name }) => rm(join(this.folder, name), { force: true })));
  }
}

export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * The path of a recording's file as the setting longpole.sourceFileMap has it. Each folder of the workspace may have its own; the first
 * one counts under which there is such a file.
 */
export function localPath(path: string): string {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const mapped = folders.map(({ uri }) => mapPath(path, mapOf(uri)));
  const changed = mapped.filter((local) => local !== path);
  return changed.find((local) => existsSync(local)) ?? changed[0] ?? mapPath(path, mapOf(undefined));
}

function mapOf(folder: vscode.Uri | undefined): SourceFileMap {
  const map = vscode.workspace.getConfiguration('longpole', folder).get<SourceFileMap>('sourceFileMap', {});
  if (folder === undefined) {
    return map;
  }
  const here = (local: string): string => resolve(folder.fsPath, local.replaceAll('${workspaceFolder}', folder.fsPath));
  return Object.fromEntries(Object.entries(map).map(([from, to]) => [from, here(to)]));
}

/**
 * The file of a recording on this machine: where the setting says, or it says itself, or the one in the workspace that ends most like
 * it. A copy in the workspace comes before the file itself outside of it, as in a build that compiles copies: it is what the user works on.
 */
export async function findSource(path: string, sha256 = ''): Promise<string | undefined> {
  const mapped = localPath(path);
  const isThere = existsSync(mapped);
  if (isThere && (mapped !== path || pathInWorkspace(mapped) !== undefined)) {
    return pathInEditor(mapped);
  }
  const name = basename(path).replace(/[[\]{}*?]/g, '?');
  const found = (await vscode.workspace.findFiles(`**/${name}`, undefined, 100)).map(({ fsPath }) => fsPath);
  if (!isThere) {
    return bestCandidate(path, found);
  }
  const hashes = await Promise.all(found.map((candidate) => readFile(candidate).then(hashOf, () => '')));
  const copies = found.filter((_candidate, at) => sha256 !== '' && hashes[at] === sha256);
  return bestCandidate(path, copies) ?? pathInEditor(mapped);
}
