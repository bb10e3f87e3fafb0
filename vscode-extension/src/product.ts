// Puts the parts together. Loaded when the first of them is needed (extension.ts).
//
//   commands ──▶ Session ──onDidChange──▶ Annotations, StatusBar, Hovers   (read the session and the documents)
//                   │                        ▲
//                   ▼                    Documents                          (follows the texts)
//                Daemon ── gRPC ──▶ longpole serve
import * as vscode from 'vscode';
import { runsPrograms, type CommandName } from './core/commandNames';
import { asSentence, formatCpus } from './core/format';
import { hottestLine } from './core/hottest';
import { recordingViewType, timelineViewId } from './core/ids';
import { filterWords } from './core/threadFilter';
import { Daemon, GivenUp } from './daemon/daemon';
import { Analyses } from './editor/analyses';
import { Annotations } from './editor/annotations';
import { findBinding } from './editor/binding';
import { pickCpus } from './editor/cpuPicker';
import { CorrectableError } from './editor/correctableError';
import { collectDiagnostics } from './editor/diagnostics';
import { Documents } from './editor/documents';
import { recordExample } from './editor/example';
import { FunctionTree, type FunctionNode } from './editor/functionTree';
import { Hovers } from './editor/hover';
import { LockTree } from './editor/lockTree';
import { MachineCheck } from './editor/machineCheck';
import { pickMachine, pickScheduler } from './editor/machinePicker';
import { QuartzTree } from './editor/quartzTree';
import { Recorder } from './editor/recordCommand';
import { RecordingEditor } from './editor/recordingEditor';
import { Recordings, type KeptRecording } from './editor/recordings';
import { RecordingTree } from './editor/recordingTree';
import { RecordTasks } from './editor/recordTask';
import { Session } from './editor/session';
import { findSource, Sources } from './editor/sources';
import { StatusBar } from './editor/statusBar';
import { pickThreads } from './editor/threadPicker';
import { ThreadTree, type ThreadNode } from './editor/threadTree';
import { TimelineView } from './editor/timelineView';
import { UnderWay } from './editor/underWay';
import { WhatIfPanel, type ChangeWish } from './editor/whatIfPanel';

type Commands = Readonly<Record<CommandName, (...args: never[]) => Promise<unknown>>>;

/** What stands in the window before anything else of the extension is loaded, to be filled. */
export interface Shell {
  readonly status: vscode.StatusBarItem;
  readonly functions: vscode.TreeView<FunctionNode>;
}

export class Product implements vscode.Disposable {
  readonly functions: FunctionTree;
  readonly recordings: RecordingTree;
  readonly recordingEditor: RecordingEditor;
  readonly tasks: RecordTasks;
  private readonly daemon: Daemon;
  private readonly session: Session;
  private readonly log: vscode.LogOutputChannel;
  private readonly commands: Commands;
  private readonly subscriptions: vscode.Disposable[];

  constructor(context: vscode.ExtensionContext, shell: Shell) {
    const log = vscode.window.createOutputChannel('Longpole', { log: true });
    const daemon = new Daemon(context, log);
    const session = new Session(daemon, context.workspaceState);
    const machineCheck = new MachineCheck(session);
    const documents = new Documents(session, new Sources(context, log), log);
    const annotations = new Annotations(session, documents, context.workspaceState);
    const recordings = new Recordings(context, () => session.openPaths);
    const recorder = new Recorder(context.workspaceState, session, machineCheck, log);
    const underWay = new UnderWay();
    const report = (error: unknown): void => void showError(error, log);
    const analyses = new Analyses(session);
    const recordingTree = new RecordingTree(session, recordings);
    const threadTree = new ThreadTree(session, analyses);
    const whatIf = new WhatIfPanel(context, session, analyses, report);
    const timeline = new TimelineView(context, session, recordings, report);
    this.log = log;
    this.daemon = daemon;
    this.session = session;
    this.functions = new FunctionTree(session, shell.functions);
    this.recordings = recordingTree;
    this.recordingEditor = new RecordingEditor(session, log, report);
    this.tasks = recorder.tasks = new RecordTasks(
      recordings,
      () => daemon.findProgram(),
      () => recorder.knownRuns(),
      (followed) => void recorder.show(followed).catch(report),
      underWay,
    );
    this.commands = {
      record: () => recorder.record(),
      recordOther: () => recorder.recordOther(),
      recordExample: async () => {
        if (await recorder.show(recordExample(context, daemon.findProgram(), recordings))) {
          await goToHottestLine(session, documents);
        }
      },
      chooseTarget: () => recorder.choose(),
      openRecording: () => openRecording(session),
      showOverview: () => showOverview(session),
      showTimeline: () => timeline.show(),
      showLineInTimeline: (file?: string, line?: number, name?: string) => showInTimeline(timeline, documents, file, line, name),
      showThreadInTimeline: ({ row }: ThreadNode) => timeline.showThread(row.thread),
      goToThreadOrigin: (node: ThreadNode) => threadTree.goToOrigin(node),
      goToThreadFunction: (node: ThreadNode) => threadTree.goToFunction(node),
      whatIf: (wish?: ChangeWish | { readonly change?: ChangeWish }) => whatIf.show(wishOf(wish)),
      takeBackWhatIf: () => session.takeBack(),
      showOnlyThreads: () => pickThreads(session, analyses),
      showOnlyThread: (node: ThreadNode) => threadTree.showOnly(node),
      showAllThreads: () => session.setFilter(undefined),
      setMachine: () => pickMachine(session, analyses),
      findBinding: () => findBinding(session),
      setScheduler: () => pickScheduler(session),
      setCpuCount: () => pickCpus(session, report),
      toggleAnnotations: () => annotations.toggle(),
      clear: () => Promise.resolve(session.clear()),
      restartDaemon: () => daemon.restart(),
      openKept: ({ path }: Pick<KeptRecording, 'path'>) => session.open(path),
      renameRecording: (kept: KeptRecording) => recordingTree.rename(kept),
      compareRecording: (kept: KeptRecording) => recordingTree.compare(kept),
      deleteRecording: (kept: KeptRecording) => recordingTree.remove(kept),
      collectDiagnostics: () => collectDiagnostics(context, daemon),
      showLog: () => Promise.resolve(log.show()),
      goToLine: (file: string, line: number) => goToLine(session, documents, file, line),
      goToHottestLine: () => goToHottestLine(session, documents),
    };
    this.subscriptions = [
      log,
      daemon,
      session,
      documents,
      annotations,
      machineCheck,
      underWay,
      new StatusBar(shell.status, session, documents, daemon, machineCheck, underWay),
      recordings,
      this.functions,
      recordingTree,
      new LockTree(session, analyses),
      threadTree,
      new QuartzTree(session, analyses),
      whatIf,
      this.tasks,
      timeline,
      vscode.window.registerWebviewViewProvider(timelineViewId, timeline),
      vscode.languages.registerHoverProvider([{ scheme: 'file' }], new Hovers(session, documents, analyses)),
      session.onDidChange(() => {
        const has = session.recording !== undefined;
        void vscode.commands.executeCommand('setContext', 'longpole.hasRecording', has);
        void vscode.commands.executeCommand('setContext', 'longpole.hasLines', (session.recording?.info.files.length ?? 0) > 0);
        void vscode.commands.executeCommand('setContext', 'longpole.hasWhatIf', (session.recording?.change ?? '') !== '');
        void vscode.commands.executeCommand('setContext', 'longpole.hasThreadFilter', session.filter !== undefined);
      }),
      session.onDidDropFilter((filter) => {
        void vscode.window.showInformationMessage(`Longpole: this recording has no thread of those to be shown (${filterWords(filter)}). It shows all threads.`);
      }),
      daemon.onDidRestart((how) => tellRestart(how, session, log)),
    ];
  }

  /** Runs a command; what goes wrong is shown. */
  async run(name: CommandName, args: readonly unknown[]): Promise<void> {
    try {
      // A command can be called even where it is not offered.
      if (!runsPrograms.includes(name) || (await isTrusted())) {
        await this.commands[name](...(args as never[]));
      }
    } catch (error) {
      void showError(error, this.log);
    }
  }

  /** Shows again what was shown when this window was last open, and goes on with what was recorded then. */
  async restore(): Promise<void> {
    try {
      await this.session.restore();
    } catch (error) {
      this.log.warn(`the last recording was not opened again: ${String(error)}`);
    }
    try {
      await this.tasks.takeUp();
    } catch (error) {
      this.log.warn(`what was being recorded when the window was closed was not taken up: ${String(error)}`);
    }
  }

  /** Resolves when the daemon is gone. */
  stop(): Promise<void> {
    return this.daemon.stop();
  }

  dispose(): void {
    this.subscriptions.forEach((subscription) => void subscription.dispose());
  }
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

/** A line as it was recorded, wherever it stands since. */
async function goToLine(session: Session, documents: Documents, file: string, line: number): Promise<void> {
  const found = await findSource(file, session.recording?.info.files.find(({ path }) => path === file)?.sha256);
  if (found === undefined) {
    throw new CorrectableError(
      `${file} is not on this machine. If it is in another folder here, say so in the setting longpole.sourceFileMap.`,
      'Open Setting',
      async () => void (await vscode.commands.executeCommand('workbench.action.openSettings', 'longpole.sourceFileMap')),
    );
  }
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(found));
  const state = await documents.learn(document);
  const place = state?.kind === 'followed' ? state.lines.placeOf(line - 1) : undefined;
  const at = new vscode.Position(place?.line ?? Math.max(0, line - 1), 0);
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(at, at) });
  if (place?.stands === false || state?.kind === 'otherVersion') {
    const why = state?.kind === 'otherVersion' ? 'This is another version than the recorded one' : 'That line was edited since it was recorded';
    vscode.window.setStatusBarMessage(`${why}; the place is near.`, tellMs);
  }
}

async function goToHottestLine(session: Session, documents: Documents): Promise<void> {
  const { recording, cpus } = session;
  if (recording === undefined) {
    throw new Error('No recording is shown.');
  }
  const files = recording.info.files.map(({ path }) => path);
  const hottest = hottestLine(recording.weights, files, cpus);
  if (hottest === undefined) {
    throw new Error(
      files.length === 0
        ? 'This recording has functions but no lines: build the program with -g and record it again.'
        : `No line of ${session.filter === undefined ? 'this program' : 'the shown threads'} is on the critical path at ${formatCpus(cpus)}.`,
    );
  }
  await goToLine(session, documents, hottest.file, hottest.line);
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

/** Long enough to be read in passing. */
const tellMs = 8000;

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
  log.error(error instanceof Error && error.stack !== undefined ? error.stack : message, ...(error instanceof Error && error.cause !== undefined ? [error.cause] : []));
  const show = 'Show Log';
  const restart = 'Restart Daemon';
  // Where the user can put it right, the log has nothing to add.
  const buttons = error instanceof CorrectableError ? [error.remedy] : error instanceof GivenUp ? [restart, show] : [show];
  const answer = await vscode.window.showErrorMessage(asSentence(message), ...buttons);
  if (answer === show) {
    log.show();
  } else if (answer === restart) {
    await vscode.commands.executeCommand('longpole.restartDaemon');
  } else if (answer !== undefined && error instanceof CorrectableError) {
    await error.correct().catch((next: unknown) => showError(next, log));
  }
}
