// The walkthrough's example: the sorter of the 1999 report, built and recorded where nothing of the user's is.
import { execFile } from 'node:child_process';
import { copyFile, mkdir } from 'node:fs/promises';
import { constants } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { Recorded } from './followRecording';
import type { Recordings } from './recordings';

const flags = ['-O1', '-g', '-fno-omit-frame-pointer', '-fno-inline-functions-called-once', '-D_GNU_SOURCE'];

/** Builds the example, shows its source, and records it. */
export async function recordExample(context: vscode.ExtensionContext, longpole: string, recordings: Recordings): Promise<Recorded> {
  const folder = join(context.globalStorageUri.fsPath, 'example');
  const source = join(folder, 'sorter.c');
  await mkdir(folder, { recursive: true });
  // What somebody tried out in it stays.
  await copyFile(join(context.extensionPath, 'example', 'sorter.c'), source, constants.COPYFILE_EXCL).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  });
  await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: 'Longpole: building the example' }, async () => {
    const run = promisify(execFile);
    try {
      await run('cc', [...flags, 'sorter.c', '-o', 'sorter', '-pthread'], { cwd: folder });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        throw new Error('There is no C compiler here (cc). Install one, on Debian and Ubuntu: apt install gcc.', { cause: error });
      }
      throw new Error(`${source} does not build: ${(error as { stderr?: string }).stderr ?? String(error)}`, { cause: error });
    }
    await run(join(folder, 'sorter'), ['--make-input', 'numbers'], { cwd: folder });
  });
  await vscode.window.showTextDocument(vscode.Uri.file(source));
  // Not in a terminal, as other programs are: a window without a folder lets none start there, and this one says nothing.
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: 'Longpole: recording the example' }, async () => {
    const recorded = join(folder, 'example.lptrace');
    const run = { program: join(folder, 'sorter'), args: ['numbers'], cwd: folder, env: {} };
    await promisify(execFile)(longpole, ['record', '-o', recorded, '--', run.program, ...run.args], { cwd: folder });
    return { path: await recordings.add(recorded, { program: 'sorter', args: run.args, directory: folder }), stopped: false, run };
  });
}
