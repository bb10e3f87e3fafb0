// Puts the parts together and offers the commands.
//
//   commands ──▶ Session ──onDidChange──▶ Annotations, StatusBar, Hovers   (read the session and the documents)
//                   │                        ▲
//                   ▼                    Documents                          (follows the texts)
//                Daemon ── gRPC ──▶ longpole serve
import * as vscode from 'vscode';
import { Daemon } from './daemon/daemon';
import { Analyses } from './editor/analyses';
import { Annotations } from './editor/annotations';
import { findBinding } from './editor/binding';
import { pickCpus } from './editor/cpuPicker';
import { collectDiagnostics } from './editor/diagnostics';
import { Documents } from './editor/documents';
import { recordExample } from './editor/example';
import { FunctionTree } from './editor/functionTree';
import { Hovers } from './editor/hover';
import { LockTree } from './editor/lockTree';
import { pickMachine, pickScheduler } from './editor/machinePicker';
import { QuartzTree } from './editor/quartzTree';
import { RecordingEditor, recordingViewType } from './editor/recordingEditor';
import { Recorder } from './editor/recordCommand';
import { Recordings, type KeptRecording } from './editor/recordings';
import { RecordingTree } from './editor/recordingTree';
import { RecordTasks } from './editor/recordTask';
import { Session } from './editor/session';
import { findSource, Sources } from './editor/sources';
import { StatusBar } from './editor/statusBar';
import { ThreadTree, type ThreadNode } from './editor/threadTree';
import { TimelineView, timelineViewId } from './editor/timelineView';
import { WhatIfPanel, type ChangeWish } from './editor/whatIfPanel';

let daemon: Daemon | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Longpole', { log: true });
  daemon = new Daemon(context, log);
  const session = new Session(daemon, context.workspaceState);
  const documents = new Documents(session, new Sources(context, log), log);
  const annotations = new Annotations(session, documents, context.workspaceState);
  const statusBar = new StatusBar(session, documents, daemon);
  const recordings = new Recordings(context);
  const recorder = new Recorder(context.workspaceState, session, log);
  const functionTree = new FunctionTree(session);
  const recordingTree = new RecordingTree(session, recordings);
  const running = daemon;

  const report = (error: unknown): void => void showError(error, log);
  const analyses = new Analyses(session);
  const threadTree = new ThreadTree(session, analyses);
  const whatIf = new WhatIfPanel(context, session, analyses, report);
  const timeline = new TimelineView(context, session, recordings, report);
  recorder.tasks = new RecordTasks(
    recordings,
    () => running.findProgram(),
    () => recorder.knownRuns(),
    (followed) => void recorder.show(followed).catch(report),
  );
  const command = (name: string, run: (...args: never[]) => Promise<unknown>, needsTrust = false): vscode.Disposable =>
    vscode.commands.registerCommand(`longpole.${name}`, async (...args: never[]) => {
      try {
        // A command can be called even where it is not offered.
        if (!needsTrust || (await isTrusted())) {
          await run(...args);
        }
      } catch (error) {
        report(error);
      }
    });

  context.subscriptions.push(
    log,
    running,
    session,
    documents,
    annotations,
    statusBar,
    recordings,
    functionTree,
    recordingTree,
    new LockTree(session, analyses),
    threadTree,
    new QuartzTree(session, analyses),
    whatIf,
    recorder.tasks,
    timeline,
    vscode.window.registerWebviewViewProvider(timelineViewId, timeline),
    vscode.window.registerTreeDataProvider('longpole.recordings', recordingTree),
    vscode.languages.registerHoverProvider([{ scheme: 'file' }], new Hovers(session, documents)),
    vscode.window.registerCustomEditorProvider(recordingViewType, new RecordingEditor(session, report)),
    command('record', () => recorder.record(), true),
    command('recordOther', () => recorder.recordOther(), true),
    command('recordExample', async () => session.open(await recordExample(context, running.findProgram(), recordings)), true),
    command('chooseTarget', () => recorder.choose(), true),
    command('openRecording', () => openRecording(session)),
    command('showOverview', () => showOverview(session)),
    command('showTimeline', () => timeline.show()),
    command('showLineInTimeline', (file?: string, line?: number, name?: string) => showInTimeline(timeline, documents, file, line, name)),
    command('showThreadInTimeline', ({ row }: ThreadNode) => timeline.showThread(row.thread)),
    command('goToThreadOrigin', (node: ThreadNode) => threadTree.goToOrigin(node)),
    command('goToThreadFunction', (node: ThreadNode) => threadTree.goToFunction(node)),
    command('whatIf', (wish?: ChangeWish | { readonly change?: ChangeWish }) => whatIf.show(wishOf(wish))),
    command('takeBackWhatIf', () => session.takeBack()),
    command('setMachine', () => pickMachine(session, analyses)),
    command('findBinding', () => findBinding(session)),
    command('setScheduler', () => pickScheduler(session)),
    command('setCpuCount', () => pickCpus(session, report)),
    command('toggleAnnotations', () => annotations.toggle()),
    command('clear', () => Promise.resolve(session.clear())),
    command('restartDaemon', () => running.restart()),
    command('openKept', ({ path }: Pick<KeptRecording, 'path'>) => session.open(path)),
    command('renameRecording', (kept: KeptRecording) => recordingTree.rename(kept)),
    command('compareRecording', (kept: KeptRecording) => recordingTree.compare(kept)),
    command('deleteRecording', (kept: KeptRecording) => recordingTree.remove(kept)),
    command('collectDiagnostics', () => collectDiagnostics(context, running)),
    command('showLog', () => Promise.resolve(log.show())),
    command('goToLine', goToLine),
  );
  session.onDidChange(() => {
    const has = session.recording !== undefined;
    void vscode.commands.executeCommand('setContext', 'longpole.hasRecording', has);
    void vscode.commands.executeCommand('setContext', 'longpole.hasWhatIf', (session.recording?.change ?? '') !== '');
  });
  context.subscriptions.push(running.onDidRestart((how) => tellRestart(how, session, log)));
  if (vscode.workspace.isTrusted) {
    // Nobody asked for it just now, and it starts a process: after what is waited for.
    setImmediate(() => {
      session.restore().catch((error: unknown) => log.warn(`the last recording was not opened again: ${String(error)}`));
    });
  }
}

export async function deactivate(): Promise<void> {
  await daemon?.stop();
}

/** A row of a list holds what it would change; a link is it. */
function wishOf(from: ChangeWish | { readonly change?: ChangeWish } | undefined): ChangeWish | undefined {
  return from !== undefined && 'change' in from ? from.change : (from as ChangeWish | undefined);
}

async function openRecording(session: Session): Promise<void> {
  const [file] =
    (await vscode.window.showOpenDialog({
      title: 'Longpole: Open Recording',
      filters: { 'Recordings and programs': ['lptrace', 'prog', 'rec'] },
    })) ?? [];
  if (file !== undefined) {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: 'Longpole: opening' },
      () => session.open(file.fsPath),
    );
  }
}

async function showOverview(session: Session): Promise<void> {
  const path = session.recording?.path;
  if (path !== undefined) {
    await vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(path), recordingViewType);
  }
}

/** A place of the recording; without one, the line of the cursor. */
async function showInTimeline(timeline: TimelineView, documents: Documents, file?: unknown, line?: unknown, name?: unknown): Promise<void> {
  if (typeof file === 'string' && typeof line === 'number') {
    await timeline.showLine(file, line, typeof name === 'string' ? name : '');
    return;
  }
  const editor = vscode.window.activeTextEditor;
  const state = editor && documents.stateOf(editor.document);
  const recorded = state?.kind === 'followed' ? state.lines.recordedLine(editor?.selection.active.line ?? 0) : undefined;
  if (state === undefined || recorded === undefined) {
    throw new Error('This line is not one of the recording: it is in another file, or was edited since.');
  }
  await timeline.showLine(state.file, recorded + 1);
}

async function goToLine(file: string, line: number): Promise<void> {
  const found = await findSource(file);
  if (found === undefined) {
    throw new Error(
      `${file} is not on this machine. If it is in another folder here, say so in the setting longpole.sourceFileMap.`,
    );
  }
  const at = new vscode.Position(Math.max(0, line - 1), 0);
  await vscode.window.showTextDocument(vscode.Uri.file(found), { selection: new vscode.Range(at, at) });
}

async function isTrusted(): Promise<boolean> {
  if (vscode.workspace.isTrusted) {
    return true;
  }
  const manage = 'Manage Workspace Trust';
  const answer = await vscode.window.showWarningMessage('Longpole runs no program until you trust this workspace.', manage);
  if (answer === manage) {
    await vscode.commands.executeCommand('workbench.trust.manage');
  }
  return false;
}

let isTelling = false;

/** One message, whatever died of it: what was asked meanwhile is asked again, and says for itself when that fails, too. */
function tellRestart(how: string, session: Session, log: vscode.LogOutputChannel): void {
  const tell = async (): Promise<void> => {
    if (isTelling || session.isUnanswered) {
      return;
    }
    isTelling = true;
    const show = 'Show Log';
    const answer = await vscode.window.showWarningMessage(`Longpole's daemon ${how} and was started again. Nothing is lost.`, show);
    isTelling = false;
    if (answer === show) {
      log.show();
    }
  };
  if (!session.busy) {
    void tell();
    return;
  }
  const listener = session.onDidChange(() => {
    if (!session.busy) {
      listener.dispose();
      void tell();
    }
  });
}

async function showError(error: unknown, log: vscode.LogOutputChannel): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  log.error(error instanceof Error && error.stack !== undefined ? error.stack : message);
  const show = 'Show Log';
  if ((await vscode.window.showErrorMessage(message, show)) === show) {
    log.show();
  }
}
