// One file may have several paths, where folders are links to others: a recording has the one that the compiler was called with, the
// editor the one that the user opened.
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';

/** Without links; of what is not there, as it is. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export function isSameFile(one: string, other: string): boolean {
  return one === other || realPath(one) === realPath(other);
}

/** The path by which the editor has this file open, or else its path within the workspace: opened by another one it would be a second document. */
export function pathInEditor(path: string): string {
  const open = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === 'file').map(({ fileName }) => fileName);
  if (open.includes(path)) {
    return path;
  }
  const real = realPath(path);
  const same = open.find((fileName) => realPath(fileName) === real);
  return same ?? pathInWorkspace(path) ?? path;
}

/** undefined: it is in no folder of the workspace. */
export function pathInWorkspace(path: string): string | undefined {
  if (vscode.workspace.getWorkspaceFolder(vscode.Uri.file(path)) !== undefined) {
    return path;
  }
  const real = realPath(path);
  for (const { uri } of vscode.workspace.workspaceFolders ?? []) {
    const root = realPath(uri.fsPath);
    if (real.startsWith(`${root}/`)) {
      return join(uri.fsPath, real.slice(root.length));
    }
  }
  return undefined;
}
