// What every window has that shows C: commands, two lists, a status bar item and the editor of recordings. Behind them is nothing yet:
// the first that is used loads the product (product.ts).
import * as vscode from 'vscode';
import { commandNames } from './core/commandNames';
import type { FunctionNode } from './editor/functionTree';
import { recordingViewType, shownKey, taskType } from './core/ids';
import { drawIdle } from './editor/idleStatus';
import { LateTree } from './editor/lateTree';
import type { KeptRecording } from './editor/recordings';
import { hasUnfinished, recordingsFolder } from './editor/unfinished';
import type { Product } from './product';

let product: Promise<Product> | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const status = vscode.window.createStatusBarItem('cpus', vscode.StatusBarAlignment.Left, 0);
  status.name = 'Longpole CPU Count';
  drawIdle(status);
  const idle = vscode.window.onDidChangeVisibleTextEditors(() => drawIdle(status));

  // What could not be loaded, for files are being replaced, say, is tried again the next time.
  const load = (): Promise<Product> =>
    (product ??= loadProduct().catch((error: unknown) => {
      product = undefined;
      throw new Error(`Longpole could not be loaded. Try again; if that does not help, install it anew. ${String(error)}`);
    }));
  const functions = new LateTree<FunctionNode>(async () => (await load()).functions);
  const recordings = new LateTree<KeptRecording>(async () => (await load()).recordings);
  const functionsView = vscode.window.createTreeView('longpole.functions', { treeDataProvider: functions });

  async function loadProduct(): Promise<Product> {
    const { Product } = await import('./product.js');
    idle.dispose();
    const loaded = new Product(context, { status, functions: functionsView });
    context.subscriptions.push(loaded);
    functions.follow(loaded.functions);
    recordings.follow(loaded.recordings);
    return loaded;
  }

  context.subscriptions.push(
    status,
    idle,
    functionsView,
    functions,
    recordings,
    vscode.window.registerTreeDataProvider('longpole.recordings', recordings),
    vscode.window.registerCustomEditorProvider(recordingViewType, {
      openCustomDocument: (uri): vscode.CustomDocument => ({ uri, dispose: () => undefined }),
      resolveCustomEditor: async (document, panel) => (await load()).recordingEditor.show(document, panel),
    }),
    vscode.tasks.registerTaskProvider(taskType, {
      provideTasks: async () => (await load()).tasks.provideTasks(),
      resolveTask: async (task) => (await load()).tasks.resolveTask(task),
    }),
    ...commandNames.map((name) =>
      vscode.commands.registerCommand(`longpole.${name}`, async (...args: unknown[]) => {
        const loaded = await load().catch((error: Error) => void vscode.window.showErrorMessage(error.message));
        await loaded?.run(name, args);
      }),
    ),
  );
  const restore = async (): Promise<void> => {
    if (context.workspaceState.get(shownKey) !== undefined || (await hasUnfinished(recordingsFolder(context)))) {
      await (await load()).restore();
    }
  };
  // Nobody asked for it just now, and it starts a process: after what is waited for.
  const restoreLater = (): void => void setImmediate(() => void restore());
  if (vscode.workspace.isTrusted) {
    restoreLater();
  } else {
    context.subscriptions.push(vscode.workspace.onDidGrantWorkspaceTrust(restoreLater));
  }
}

export async function deactivate(): Promise<void> {
  await (await product?.catch(() => undefined))?.stop();
}
