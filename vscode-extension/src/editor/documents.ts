// Which open documents the recording knows, and where its lines are in them now.
//
// A document is one of the recording's files when its path is that file's, or its name and content are. It shows numbers
// only while its text can be followed back to the text that was recorded. A file of another version is compared with the
// recorded text where that was kept; where it was not, it shows none.
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { LineMap } from '../core/lineMap';
import { hasSameFiles } from '../core/sourcePaths';
import type { SourceFile } from '../protocol/longpole/v1/recording';
import { isSameFile } from './realPaths';
import type { Session, ShownRecording } from './session';
import { hashOf, localPath, type Sources } from './sources';

export type DocumentState =
  | { readonly kind: 'followed'; readonly file: string; readonly lines: LineMap }
  /** The recording knows this file, from another version of it. */
  | { readonly kind: 'otherVersion'; readonly file: string };

/** Long enough not to work at every keystroke, short enough to look immediate. */
const editPauseMs = 150;

export class Documents implements vscode.Disposable {
  private readonly states = new Map<string, DocumentState>();
  private readonly looking = new Map<string, Promise<void>>();
  private readonly changed = new vscode.EventEmitter<vscode.TextDocument>();
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly pauses = new Map<string, NodeJS.Timeout>();
  private known: ShownRecording | undefined;

  /** What is known of a document changed: by an edit, after a pause, or because it was looked at. */
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly session: Session,
    private readonly sources: Sources,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscriptions.push(
      session.onDidChange(() => this.recordingMayHaveChanged()),
      vscode.workspace.onDidChangeTextDocument((event) => this.edited(event)),
      vscode.workspace.onDidCloseTextDocument((document) => this.states.delete(document.uri.toString())),
      vscode.workspace.onDidSaveTextDocument((document) => this.saved(document)),
    );
  }

  /** What is known of a document; when nothing is yet, starts to look, and onDidChange follows. */
  stateOf(document: vscode.TextDocument): DocumentState | undefined {
    // Not the left side of a diff, nor anything else that only looks like a file.
    if (document.uri.scheme !== 'file' || this.known === undefined) {
      return undefined;
    }
    const key = document.uri.toString();
    const state = this.states.get(key);
    if (state === undefined && !this.looking.has(key)) {
      const look = this.lookAt(document, this.known)
        .catch((error: unknown) => this.log.warn(`${document.fileName}: ${String(error)}`))
        .finally(() => {
          if (this.looking.get(key) === look) {
            this.looking.delete(key);
          }
        });
      this.looking.set(key, look);
    }
    return state;
  }

  /** Once it was looked at. */
  async learn(document: vscode.TextDocument): Promise<DocumentState | undefined> {
    const state = this.stateOf(document);
    await this.looking.get(document.uri.toString());
    return state ?? this.states.get(document.uri.toString());
  }

  dispose(): void {
    for (const pause of this.pauses.values()) {
      clearTimeout(pause);
    }
    this.subscriptions.forEach((subscription) => void subscription.dispose());
    this.changed.dispose();
  }

  private recordingMayHaveChanged(): void {
    const { recording } = this.session;
    // On another machine, or changed in a what-if, it is still made of the same files: what is known of them stays, and so do the
    // numbers at their lines until there are others.
    if (recording !== this.known && !(recording !== undefined && this.known !== undefined && hasSameFiles(recording.info, this.known.info))) {
      this.known = recording;
      this.states.clear();
      this.looking.clear();
      if (this.known !== undefined) {
        this.sources.keep(this.known.info.files).catch((error: unknown) => this.log.warn(`sources: ${String(error)}`));
      }
    }
  }

  private async lookAt(document: vscode.TextDocument, recording: ShownRecording): Promise<void> {
    const candidates = recording.info.files.filter((file) => basename(file.path) === basename(document.fileName));
    if (candidates.length === 0) {
      return;
    }
    const bytes = await readFile(document.fileName);
    const hash = hashOf(bytes);
    const file =
      candidates.find((candidate) => localPath(candidate.path) === document.fileName) ??
      candidates.find((candidate) => isSameFile(localPath(candidate.path), document.fileName)) ??
      candidates.find((candidate) => candidate.sha256 === hash);
    if (file === undefined || this.known !== recording || document.isClosed) {
      return;
    }
    const recordedBytes = (await isAsRecorded(file, hash, document.fileName, recording)) ? bytes : await this.sources.bytesOf(file.sha256);
    const recordedText =
      recordedBytes === undefined ? undefined : await vscode.workspace.decode(recordedBytes, { encoding: document.encoding });
    const state: DocumentState =
      recordedText === undefined
        ? { kind: 'otherVersion', file: file.path }
        : follow(file.path, recordedText, document);
    if (this.known === recording && !document.isClosed) {
      this.states.set(document.uri.toString(), state);
      this.changed.fire(document);
    }
  }

  private edited(event: vscode.TextDocumentChangeEvent): void {
    const key = event.document.uri.toString();
    const state = this.states.get(key);
    if (state === undefined || event.contentChanges.length === 0) {
      return;
    }
    if (state.kind === 'otherVersion') {
      // The editor has read it anew: after a checkout it may be the recorded one again.
      if (!event.document.isDirty) {
        this.lookAgain(event.document);
      }
      return;
    }
    state.lines.apply(
      event.contentChanges.map((change) => ({
        startLine: change.range.start.line,
        startCharacter: change.range.start.character,
        endLine: change.range.end.line,
        endCharacter: change.range.end.character,
        text: change.text,
      })),
    );
    if (state.lines.lineCount !== event.document.lineCount) {
      state.lines.reset(linesOf(event.document));
    }
    clearTimeout(this.pauses.get(key));
    this.pauses.set(
      key,
      setTimeout(() => {
        this.pauses.delete(key);
        this.changed.fire(event.document);
      }, editPauseMs),
    );
  }

  /** A file that was of another version may be the recorded one again. */
  private saved(document: vscode.TextDocument): void {
    if (this.states.get(document.uri.toString())?.kind === 'otherVersion') {
      this.lookAgain(document);
    }
  }

  private lookAgain(document: vscode.TextDocument): void {
    this.states.delete(document.uri.toString());
    this.changed.fire(document);
  }
}

async function isAsRecorded(file: SourceFile, hash: string, path: string, recording: ShownRecording): Promise<boolean> {
  if (file.sha256 !== '') {
    return file.sha256 === hash;
  }
  // Without the content of then, a file that was written before the recording is the best there is to know.
  const { mtimeMs } = await stat(path);
  return mtimeMs * 1e6 <= Number(recording.info.startedAtUnixNs);
}

function follow(file: string, recordedText: string, document: vscode.TextDocument): DocumentState {
  const recorded = recordedText.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  const lines = new LineMap(recorded);
  // The document may have been edited and not saved before anyone looked at it.
  lines.reset(linesOf(document));
  return { kind: 'followed', file, lines };
}

function linesOf(document: vscode.TextDocument): string[] {
  return Array.from({ length: document.lineCount }, (_unused, line) => document.lineAt(line).text);
}
