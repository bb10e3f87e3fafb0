// What opens when a recording is selected in the explorer: its page (core/recordingPage.ts), in step with the window's state.
//
// The window shows one recording at a time; the page of another one shows it as soon as it is brought to the front.
import * as vscode from 'vscode';
import { curveCpuCounts, recordingPage } from '../core/recordingPage';
import { usualCpuCounts } from '../core/weights';
import { pageFrame } from './pageFrame';
import type { Session } from './session';

export const recordingViewType = 'longpole.recording';

interface PageMessage {
  /** The page's script listens; what was said before is said again. */
  readonly ready?: boolean;
  readonly file?: string;
  readonly line?: number;
  readonly cpus?: number;
}

export class RecordingEditor implements vscode.CustomReadonlyEditorProvider {
  constructor(
    private readonly session: Session,
    private readonly report: (error: unknown) => void,
  ) {}

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor(document: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    const path = document.uri.fsPath;
    const { webview } = panel;
    let last = '';
    const draw = (): void => {
      const { recording } = this.session;
      if (recording?.path !== path || !panel.visible) {
        return;
      }
      const { info, weights } = recording;
      const columns = [...new Set([...usualCpuCounts, this.session.cpus])].sort((a, b) => a - b);
      const body = recordingPage({ ...info, path }, weights, this.session.cpus, columns, Date.now());
      if (body !== last) {
        last = body;
        void webview.postMessage({ body });
      }
    };
    const show = async (): Promise<void> => {
      if (this.session.recording?.path !== path) {
        await this.session.open(path);
      }
      await this.session.need(curveCpuCounts);
      draw();
    };
    const guarded = (work: Promise<unknown>): void => void work.catch(this.report);
    const listeners = [
      this.session.onDidChange(draw),
      panel.onDidChangeViewState(() => {
        if (panel.active) {
          last = '';
          guarded(show());
        }
      }),
      webview.onDidReceiveMessage((message: PageMessage) => {
        if (message.ready === true) {
          last = '';
          draw();
        } else if (message.cpus !== undefined) {
          guarded(this.session.choose(message.cpus));
        } else if (message.file !== undefined) {
          guarded(Promise.resolve(vscode.commands.executeCommand('longpole.goToLine', message.file, message.line)));
        }
      }),
    ];
    panel.onDidDispose(() => listeners.forEach((listener) => void listener.dispose()));
    webview.options = { enableScripts: true, localResourceRoots: [] };
    webview.html = pageFrame();
    try {
      await show();
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      void webview.postMessage({ problem: message });
      throw error;
    }
  }
}
