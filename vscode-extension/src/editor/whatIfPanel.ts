// The what-if panel: how long the program would take if parts of it were faster, if nobody waited for some locks, if locks were
// split. Asked for while a slider moves; the latest answer counts. What is kept is shown by the whole window (session.ts).
import * as vscode from 'vscode';
import { errorSentence, formatCpus, formatShare } from '../core/format';
import { shortName } from '../core/functionNames';
import { schedulerOf } from '../core/machineSettings';
import { curveCpuCounts, programName } from '../core/recordingPage';
import { functionShare } from '../core/weights';
import {
  changeKey,
  changesWords,
  programChange,
  speedChange,
  withChange,
  type Change,
  type FromWhatIf,
  type ToWhatIf,
} from '../core/whatIf';
import { whatIfPage } from '../core/whatIfPage';
import { headline, resultPage, type WhatIfResult } from '../core/whatIfResult';
import type { Analyses } from './analyses';
import type { Session } from './session';

/** What other parts of the window hand over: a part with a name, or an object. */
export interface ChangeWish {
  readonly part?: string;
  readonly label?: string;
  readonly freed?: string;
}

const mostChanges = 50;
const functionsOffered = 100;

export class WhatIfPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private changes: readonly Change[] = [];
  /** The recording that they are about. */
  private path = '';
  private results: readonly WhatIfResult[] = [];
  /** Raised by every change: an answer about an earlier one is thrown away. */
  private turn = 0;
  private asking = false;
  private askAgain = false;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly session: Session,
    private readonly analyses: Analyses,
    private readonly report: (error: unknown) => void,
  ) {
    this.subscription = session.onDidChange(() => this.sessionChanged());
  }

  dispose(): void {
    this.subscription.dispose();
    this.panel?.dispose();
  }

  /** Opens the panel: with this change alone, for whoever asks from elsewhere has another question; without one, where it was left. */
  async show(wish?: ChangeWish): Promise<void> {
    const { recording } = this.session;
    if (recording === undefined) {
      throw new Error('Record a program, or open a recording: what it would be like if parts of it were faster can be asked then.');
    }
    this.follow(recording.path);
    const change = wish && toChange(wish);
    if (change !== undefined) {
      this.change([this.changes.find((one) => changeKey(one) === changeKey(change)) ?? change]);
    }
    if (this.panel === undefined) {
      this.open();
    } else {
      this.panel.reveal();
    }
    if (this.changes.length === 0) {
      await this.add();
    }
  }

  private open(): void {
    const folder = vscode.Uri.joinPath(this.context.extensionUri, 'dist');
    const panel = vscode.window.createWebviewPanel('longpole.whatIf', 'What If', vscode.ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [folder],
    });
    this.panel = panel;
    panel.webview.onDidReceiveMessage((message: FromWhatIf) => void this.take(message).catch(this.report));
    panel.onDidDispose(() => (this.panel = undefined));
    panel.webview.html = whatIfPage(panel.webview.asWebviewUri(vscode.Uri.joinPath(folder, 'whatIf.js')).toString());
  }

  private async take(message: FromWhatIf): Promise<void> {
    switch (message.kind) {
      case 'ready':
        this.tell();
        this.tellResult();
        this.ask();
        break;
      case 'add':
        await this.add();
        break;
      case 'set':
        this.change(withChange(this.changes, message.change));
        break;
      case 'remove':
        this.change(this.changes.filter((change) => changeKey(change) !== message.key));
        break;
      case 'keep':
        await this.session.showChanged(changesWords(this.changes), programChange(this.changes));
        break;
      case 'takeBack':
        await this.session.takeBack();
        break;
      case 'cpus':
        await this.session.choose(message.cpus);
        break;
    }
  }

  private change(changes: readonly Change[]): void {
    this.changes = changes.slice(0, mostChanges);
    this.turn++;
    this.tell();
    this.ask();
  }

  private follow(path: string): void {
    if (path !== this.path) {
      this.path = path;
      this.changes = [];
      this.results = [];
      this.turn++;
    }
  }

  private sessionChanged(): void {
    const { recording, busy, cpus } = this.session;
    if (this.panel === undefined || busy) {
      return;
    }
    if (recording === undefined) {
      this.panel.dispose();
      return;
    }
    this.follow(recording.path);
    this.tell();
    if (this.results.length > 0 && !this.results.some((result) => result.cpus === cpus)) {
      this.ask();
    } else {
      this.tellResult();
    }
  }

  private post(message: ToWhatIf): void {
    void this.panel?.webview.postMessage(message);
  }

  private tell(): void {
    const { recording } = this.session;
    if (recording !== undefined) {
      const title = programName({ command: recording.info.command, path: recording.path });
      const words = changesWords(this.changes);
      this.post({ kind: 'changes', title, changes: this.changes, kept: recording.change, isKept: words === recording.change });
    }
  }

  private tellResult(): void {
    const { results } = this;
    const { cpus, columns, machine } = this.session;
    if (results.length === 0) {
      this.post({ kind: 'result', headline: '', body: '', note: '' });
      return;
    }
    const scheduler = schedulerOf(machine, '');
    const note =
      scheduler === '' || scheduler === 'shared'
        ? ''
        : `What-ifs are simulated with threads that share the CPUs evenly. Shown in the editor, the changed program runs under ${scheduler}.`;
    this.post({ kind: 'result', headline: headline(results, cpus), body: resultPage(results, columns, cpus), note });
  }

  /** One question at a time; what changes meanwhile is asked about next. */
  private ask(): void {
    if (this.asking) {
      this.askAgain = true;
      return;
    }
    const change = programChange(this.changes);
    if (change.speeds.length + change.splits.length + change.freed.length === 0) {
      this.results = [];
      this.tellResult();
      return;
    }
    const { turn } = this;
    this.asking = true;
    const counts = [...new Set([...curveCpuCounts, ...this.session.columns])].sort((a, b) => a - b);
    this.session
      .askUnchanged((client, handle) => client.whatIf(handle, counts, change))
      .then(
        ({ runs }) => {
          if (turn === this.turn) {
            this.results = runs.map((run) => ({
              cpus: run.cpus,
              beforeNs: run.beforeNs,
              afterNs: run.totalNs,
              deadlock: run.deadlock !== undefined,
            }));
            this.tellResult();
          }
        },
        (error: unknown) => {
          if (turn === this.turn) {
            this.results = [];
            this.tellResult();
            this.post({ kind: 'problem', text: errorSentence(error) });
          }
        },
      )
      .finally(() => {
        this.asking = false;
        if (this.askAgain) {
          this.askAgain = false;
          this.ask();
        }
      })
      .catch(this.report);
  }

  /** Offers what there is to be changed, by what it is worth. */
  private async add(): Promise<void> {
    const { recording, cpus } = this.session;
    if (recording === undefined) {
      return;
    }
    const { weights } = recording;
    type Item = vscode.QuickPickItem & { change?: Change };
    const functions = weights.heaviestFunctions(cpus, functionsOffered).filter(({ name }) => name !== '').map(
      (weight): Item => ({
        label: `$(symbol-method) ${shortName(weight.name)}`,
        description: formatShare(functionShare(weights, weight, cpus)),
        detail: weight.name === shortName(weight.name) ? undefined : weight.name,
        change: speedChange(`function:${weight.name}`, weight.name),
      }),
    );
    const { objects } = await this.analyses.objects().catch(() => ({ objects: [] }));
    const locks = objects.flatMap(({ name, kind, holdNs }): Item[] => [
      { label: `$(lock) Nobody waits for ${name}`, description: kind, change: { kind: 'freed', object: name } },
      ...(holdNs === undefined
        ? []
        : [
            { label: `$(lock) Faster while ${name} is held`, description: kind, change: speedChange(`lock:${name}`, `while ${name} is held`) },
            { label: `$(split-horizontal) Split ${name}`, description: kind, change: { kind: 'split', object: name, into: 2 } as const },
          ]),
    ]);
    const chosen = await vscode.window.showQuickPick<Item>(
      [
        { label: `functions, by their share of the critical path at ${formatCpus(cpus)}`, kind: vscode.QuickPickItemKind.Separator },
        ...functions,
        { label: 'what threads wait for', kind: vscode.QuickPickItemKind.Separator },
        ...locks,
      ],
      { title: 'Longpole: What If', placeHolder: 'What were faster?', matchOnDescription: true, matchOnDetail: true },
    );
    if (chosen?.change !== undefined) {
      this.change(withChange(this.changes, chosen.change));
    }
  }
}

function toChange({ part, label, freed }: ChangeWish): Change | undefined {
  if (typeof freed === 'string') {
    return { kind: 'freed', object: freed };
  }
  return typeof part === 'string' ? speedChange(part, typeof label === 'string' ? label : part) : undefined;
}
