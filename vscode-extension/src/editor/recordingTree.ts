// The side bar's list of recordings of this workspace: open, rename, compare, delete.
import * as vscode from 'vscode';
import { formatCommandLine } from '../core/commandLine';
import { comparisonPage } from '../core/comparison';
import { formatAge } from '../core/format';
import { pageFrame } from '../core/pageFrame';
import { recordingDescription } from '../core/recordingRow';
import { recordingName, recordingTitle, type KeptRecording, type Recordings } from './recordings';
import type { Session } from './session';

export class RecordingTree implements vscode.TreeDataProvider<KeptRecording>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: vscode.Disposable[];
  private readonly aging = setInterval(() => this.changed.fire(), 60_000);
  private shown: string | undefined;
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly session: Session,
    private readonly recordings: Recordings,
  ) {
    this.subscriptions = [
      recordings.onDidChange(() => this.changed.fire()),
      { dispose: () => clearInterval(this.aging) },
      session.onDidChange(() => {
        if (this.shown !== session.recording?.path) {
          this.shown = session.recording?.path;
          this.changed.fire();
        }
      }),
    ];
  }

  dispose(): void {
    this.subscriptions.forEach((subscription) => void subscription.dispose());
    this.changed.dispose();
  }

  getChildren(node?: KeptRecording): Promise<KeptRecording[]> {
    return node === undefined ? this.recordings.list() : Promise.resolve([]);
  }

  getTreeItem({ path, name, command, modifiedMs, bytes, folder }: KeptRecording): vscode.TreeItem {
    const isShown = path === this.session.recording?.path;
    const item = new vscode.TreeItem(name);
    item.id = path;
    const hasFolders = (vscode.workspace.workspaceFolders ?? []).length > 1;
    item.description = recordingDescription({ isShown, ageMs: Date.now() - modifiedMs, folder: hasFolders ? folder : '', command });
    item.iconPath = new vscode.ThemeIcon(isShown ? 'eye' : 'pulse');
    item.contextValue = isShown ? 'recording shown' : 'recording';
    const facts = `${new Date(modifiedMs).toLocaleString()} · ${Math.ceil(bytes / 1024)} KiB`;
    item.tooltip = [...(command.length === 0 ? [] : [formatCommandLine(command)]), facts, path].join('\n');
    item.command = { command: 'longpole.openKept', title: 'Show', arguments: [{ path }] };
    return item;
  }

  async rename({ path }: KeptRecording): Promise<void> {
    const name = await vscode.window.showInputBox({
      title: 'Longpole: Rename Recording',
      prompt: 'Recordings that have a name of their own are not thrown away when there are many.',
      value: recordingName(path),
      validateInput: (value) => (/^[^/\0]+$/.test(value.trim()) && !value.startsWith('.') ? undefined : 'A name without slashes.'),
    });
    if (name !== undefined) {
      const isShown = path === this.session.recording?.path;
      const to = await this.recordings.rename(path, name.trim());
      if (isShown) {
        await this.session.open(to);
      }
    }
  }

  async remove({ path, name }: KeptRecording): Promise<void> {
    const yes = 'Delete';
    if ((await vscode.window.showWarningMessage(`Delete the recording ${name}?`, { modal: true }, yes)) === yes) {
      if (path === this.session.recording?.path) {
        this.session.clear();
      }
      await this.recordings.remove(path);
    }
  }

  /** The other one is taken as before, the shown one as after, whichever was made first. */
  async compare(other: KeptRecording): Promise<void> {
    const shown = this.session.recording;
    if (shown === undefined) {
      throw new Error('Show one recording first; another one can then be compared with it.');
    }
    const columns = this.session.columns;
    await this.session.need(columns);
    const before = await this.session.peek(other.path, columns);
    const panel = vscode.window.createWebviewPanel(
      'longpole.comparison',
      `${recordingTitle(other.path)} → ${recordingTitle(shown.path)}`,
      vscode.ViewColumn.Active,
      { enableScripts: true, localResourceRoots: [] },
    );
    const ages = (path: string, at: bigint): string =>
      `${recordingName(path)} (${formatAge(Date.now() - Number(at / 1_000_000n))})`;
    const body = comparisonPage(
      { name: ages(other.path, before.info.startedAtUnixNs), weights: before.weights },
      { name: ages(shown.path, shown.info.startedAtUnixNs), weights: shown.weights },
      columns,
      this.session.cpus,
      this.session.threadWords,
    );
    panel.webview.onDidReceiveMessage(() => void panel.webview.postMessage({ body }));
    panel.webview.html = pageFrame();
  }
}
