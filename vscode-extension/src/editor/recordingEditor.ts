// What opens when a recording is selected in the explorer: its page (core/recordingPage.ts), in step with the window's state.
//
// The window shows one recording at a time; the page of another one shows it as soon as it is brought to the front.
import * as vscode from 'vscode';
import { pageFrame } from '../core/pageFrame';
import { curveCpuCounts, recordingPage } from '../core/recordingPage';
import type { Stretch } from '../core/curve';
import { errorSentence } from '../core/format';
import { functionTitle } from '../core/functionNames';
import { expectedSentence, isUsual, machineSummary, replacedModel, schedulerWords, usualMachine, type MachineSettings } from '../core/machineSettings';
import { usualCpuCounts, type Weights } from '../core/weights';
import type { Session } from './session';

interface PageMessage {
  /** The page's script listens; what was said before is said again. */
  readonly ready?: boolean;
  readonly file?: string;
  readonly line?: number;
  readonly cpus?: number;
  /** Of those that are offered where there is nothing to be read. */
  readonly action?: 'again' | 'log';
}

export class RecordingEditor {
  constructor(
    private readonly session: Session,
    private readonly log: vscode.LogOutputChannel,
    private readonly report: (error: unknown) => void,
  ) {}

  async show(document: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    const path = document.uri.fsPath;
    const { webview } = panel;
    let last = '';
    /** Why there is nothing to be read. */
    let problem: string | undefined;
    let asked: Weights | undefined;
    let leads: { of: Weights; stretches: Stretch[] } | undefined;
    let expected: { of: Weights; cpus: number; sentence: string } | undefined;
    const draw = (): void => {
      const { recording, machine, cpus } = this.session;
      if (recording?.path !== path || !panel.visible) {
        return;
      }
      const { info, weights } = recording;
      const columns = [...new Set([...usualCpuCounts, cpus])].sort((a, b) => a - b);
      const body = recordingPage(
        {
          ...info,
          path,
          change: recording.change,
          machine: machineSummary(machine),
          scheduler: schedulerWords(machine),
          expected: expected?.of === weights && expected.cpus === cpus ? expected.sentence : '',
          replacedModel: replacedModel(machine, weights.prediction(cpus)?.model ?? ''),
          shownThreads: this.session.threadWords,
        },
        weights,
        cpus,
        columns,
        Date.now(),
        leads?.of === weights ? leads.stretches : undefined,
      );
      problem = undefined;
      if (body !== last) {
        last = body;
        void webview.postMessage({ body });
      }
    };
    /** Simulates several times more, so it is asked for last; without an answer nothing is said. */
    const askExpected = async (): Promise<void> => {
      const { recording, machine, cpus } = this.session;
      if (recording?.path !== path || (expected?.of === recording.weights && expected.cpus === cpus)) {
        return;
      }
      expected = { of: recording.weights, cpus, sentence: '' };
      const on: MachineSettings = isUsual(machine) ? { ...usualMachine, scheduler: 'linux' } : machine;
      const sentence = await this.session
        .ask(undefined, (client, handle) => client.predict(handle, [cpus], on, { withInterval: true }))
        .then(({ predictions: [prediction] }) => (prediction === undefined ? '' : expectedSentence(prediction, on)), () => '');
      if (expected.of === recording.weights && expected.cpus === cpus) {
        expected = { of: recording.weights, cpus, sentence };
        draw();
      }
    };
    const ask = async (weights: Weights | undefined): Promise<void> => {
      asked = weights;
      await this.session.need(curveCpuCounts);
      draw();
      // Who leads on a machine with parameters is known only where it was simulated, and of some threads nobody does.
      if (weights !== undefined && leads?.of !== weights && isUsual(this.session.machine) && weights.threads === undefined) {
        const answer = await this.session.ask(undefined, (client, handle) => client.getLeads(handle, curveCpuCounts.at(-1) ?? 1));
        leads = {
          of: weights,
          stretches: answer.leads.map(({ fromCpus, toCpus, function: name }) => ({ leader: functionTitle(name), first: fromCpus, last: toCpus })),
        };
        draw();
      }
      await askExpected();
    };
    // A program that was recorded meanwhile may have taken this recording's place in the window.
    const bringBack = async (): Promise<void> => {
      if (this.session.recording?.path !== path) {
        await this.session.open(path);
      }
    };
    let isShowing = false;
    const show = async (): Promise<void> => {
      isShowing = true;
      try {
        await bringBack();
        await ask(this.session.recording?.weights);
        // Others have taken their place meanwhile: another machine, or a changed program.
        while (this.session.recording?.path === path && this.session.recording.weights !== asked) {
          await ask(this.session.recording.weights);
        }
      } finally {
        isShowing = false;
      }
    };
    // What is on its way is not asked for once more: opening is itself a change, and brings the page to the front.
    const showAgain = (): void => {
      draw();
      if (!isShowing) {
        void begin();
      }
    };
    const tellProblem = (): void => {
      if (problem !== undefined) {
        void webview.postMessage({ problem });
      }
    };
    // What the page already shows is worth more than the reason why nothing new came.
    const begin = async (): Promise<void> => {
      const isRead = this.session.recording?.path === path;
      await show().catch((error: unknown) => {
        if (isRead) {
          this.report(error);
          return;
        }
        this.log.error(`${path}: ${String(error)}`);
        problem = errorSentence(error);
        tellProblem();
      });
    };
    const choose = async (cpus: number): Promise<void> => {
      await bringBack();
      await this.session.choose(cpus);
    };
    const guarded = (work: Promise<unknown>): void => void work.catch(this.report);
    const listeners = [
      this.session.onDidChange(() => {
        draw();
        // Another machine, or a changed program: the curve has to be asked for again.
        const { recording, busy } = this.session;
        if (!busy && panel.visible && recording?.path === path && recording.weights !== asked) {
          showAgain();
        } else if (!busy && panel.visible && !isShowing) {
          void askExpected();
        }
      }),
      panel.onDidChangeViewState(() => {
        if (panel.active) {
          last = '';
          showAgain();
        }
      }),
      webview.onDidReceiveMessage((message: PageMessage) => {
        if (message.ready === true) {
          last = '';
          draw();
          tellProblem();
        } else if (message.action === 'again') {
          showAgain();
        } else if (message.action === 'log') {
          guarded(Promise.resolve(vscode.commands.executeCommand('longpole.showLog')));
        } else if (message.cpus !== undefined) {
          guarded(choose(message.cpus));
        } else if (message.file !== undefined) {
          guarded(Promise.resolve(vscode.commands.executeCommand('longpole.goToLine', message.file, message.line)));
        }
      }),
    ];
    panel.onDidDispose(() => listeners.forEach((listener) => void listener.dispose()));
    webview.options = { enableScripts: true, localResourceRoots: [] };
    webview.html = pageFrame();
    await begin();
  }
}
