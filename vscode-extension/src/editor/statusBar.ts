// The one status bar item: how many CPUs, and how much faster the program is there than on one.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { formatAge, formatCpus, formatElapsed, formatShare, formatSpeedup, formatTime } from '../core/format';
import { functionTitle } from '../core/functionNames';
import { machineSummary, otherScheduler, replacedModel, schedulerWords, type MachineSettings } from '../core/machineSettings';
import { escapeMarkdown } from '../core/markdown';
import { noticeText } from '../core/notices';
import { countWords } from '../core/threadFilter';
import { holderShare, waiting, type FunctionWeight } from '../core/weights';
import type { Daemon } from '../daemon/daemon';
import { commandLink } from './commandLink';
import type { Documents } from './documents';
import { drawIdle } from './idleStatus';
import type { MachineCheck } from './machineCheck';
import type { Session, ShownRecording } from './session';
import type { UnderWay } from './underWay';

const rowsInTooltip = 6;
/** What has less is left out. */
const leastInTooltip = 0.01;

export class StatusBar implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly item: vscode.StatusBarItem,
    private readonly session: Session,
    private readonly documents: Documents,
    private readonly daemon: Daemon,
    private readonly machineCheck: MachineCheck,
    private readonly underWay: UnderWay,
  ) {
    const draw = (): void => this.draw();
    this.subscriptions = [
      session.onDidChange(draw),
      documents.onDidChange(draw),
      daemon.onDidChangeState(draw),
      machineCheck.onDidChange(draw),
      underWay.onDidChange(draw),
      vscode.window.onDidChangeActiveTextEditor(draw),
      vscode.window.onDidChangeVisibleTextEditors(draw),
    ];
    this.draw();
  }

  dispose(): void {
    this.subscriptions.forEach((subscription) => void subscription.dispose());
  }

  private draw(): void {
    const recording = this.session.recording;
    const problem = this.daemon.state === 'failed' ? this.daemon.problem : '';
    const failed = problem !== '';
    this.item.backgroundColor = failed ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    const icon = this.session.busy ? '$(loading~spin)' : failed ? '$(warning)' : '$(pulse)';
    const running = this.underWay.first;
    const isRecording = running === undefined ? '' : `$(record) ${running.name} ${formatElapsed(running.ms)}`;
    if (recording === undefined && running !== undefined) {
      this.item.text = isRecording;
      this.item.tooltip = `${running.name} is being recorded. The message with Cancel stops it and keeps what was recorded.`;
      this.item.command = 'notifications.showList';
      this.item.accessibilityInformation = { label: `Longpole: recording ${running.name}` };
      this.item.show();
      return;
    }
    if (recording === undefined) {
      drawIdle(this.item, icon, problem);
      return;
    }
    const { cpus, machine } = this.session;
    const prediction = recording.weights.prediction(cpus);
    const parts = [formatCpus(cpus)];
    if (prediction !== undefined) {
      parts.push(prediction.deadlock === undefined ? formatSpeedup(prediction.speedup) : 'deadlock');
    }
    const scheduler = otherScheduler(machine);
    if (scheduler !== '') {
      parts.push(scheduler);
    }
    const { remark } = this.machineCheck;
    if (recording.change !== '') {
      parts.push('what if');
    }
    // A part of the numbers must never be taken for all of them.
    if (this.session.shownThreads !== undefined) {
      parts.push(countWords(this.session.shownThreads));
    }
    const stale = this.staleness();
    if (stale !== undefined) {
      parts.push('stale');
    }
    const words = parts.join(' · ');
    this.item.text = `${isRecording === '' ? '' : `${isRecording}  `}${icon} ${words}${remark === '' ? '' : ' $(info)'}`;
    this.item.tooltip = tooltip(recording, cpus, stale, machine, this.session.threadWords, remark, problem);
    // What is shown stays right without a daemon; but nothing else can be asked for.
    this.item.command = failed ? 'longpole.restartDaemon' : 'longpole.setCpuCount';
    const remarks = [failed ? 'The daemon does not run: start it again' : '', remark].filter((text) => text !== '');
    this.item.accessibilityInformation = { label: ['Longpole: ' + words, ...remarks].join('. ') };
    this.item.show();
  }

  private staleness(): string | undefined {
    const document = vscode.window.activeTextEditor?.document;
    const state = document && this.documents.stateOf(document);
    if (document === undefined || state === undefined) {
      return undefined;
    }
    const name = basename(document.fileName);
    if (state.kind === 'otherVersion') {
      return `${name} is of another version than the recorded one and shows no numbers. Record again.`;
    }
    return state.lines.unchanged ? undefined : `${name} has changed since it was recorded.`;
  }
}

function tooltip(
  recording: ShownRecording,
  cpus: number,
  stale: string | undefined,
  settings: MachineSettings,
  threads: string,
  machineRemark: string,
  problem: string,
): vscode.MarkdownString {
  const { info, weights } = recording;
  const name = info.command[0] === undefined ? basename(recording.path) : basename(info.command[0]);
  const when = info.startedAtUnixNs > 0n ? `, recorded ${formatAge(Date.now() - Number(info.startedAtUnixNs / 1_000_000n))}` : '';
  const lines = [`**${escapeMarkdown(name)}**${escapeMarkdown(when)}`];
  if (problem !== '') {
    const why = problem.split('\n').map(escapeMarkdown).join('  \n');
    lines.push(`$(warning) Longpole's daemon does not run. ${why}  \n[Restart Daemon](command:longpole.restartDaemon) · [Show Log](command:longpole.showLog)`);
  }
  if (recording.change !== '') {
    lines.push(`$(beaker) As if: ${escapeMarkdown(recording.change)}. [Take back](command:longpole.takeBackWhatIf)`);
  }
  const machine = machineSummary(settings);
  if (machine !== '') {
    lines.push(`$(server) ${escapeMarkdown(machine)}. [Change](command:longpole.setMachine)`);
  }
  if (threads !== '') {
    lines.push(
      `$(filter) Annotations and functions show the part of ${escapeMarkdown(threads)}. ` +
        '[Show all threads](command:longpole.showAllThreads) · [Change](command:longpole.showOnlyThreads)',
    );
  }
  const prediction = weights.prediction(cpus);
  if (prediction?.deadlock !== undefined) {
    const { threads, atNs } = prediction.deadlock;
    lines.push(
      escapeMarkdown(`Deadlocks at ${formatCpus(cpus)} after ${formatTime(Number(atNs))}; blocked: ${threads.join(', ')}.`),
    );
  } else if (prediction !== undefined) {
    lines.push(
      `${formatTime(prediction.totalNs)} at ${formatCpus(cpus)}, ${formatSpeedup(prediction.speedup)} as fast as at one, ${schedulerWords(settings)}.`,
    );
  }
  if (machineRemark !== '') {
    lines.push(`$(info) ${escapeMarkdown(machineRemark)} [Choose the scheduler](command:longpole.setScheduler)`);
  }
  const otherModel = replacedModel(settings, prediction?.model ?? '');
  if (otherModel !== '') {
    lines.push(`$(info) ${escapeMarkdown(otherModel)}`);
  }
  const rows = weights
    .heaviestFirst(cpus)
    .slice(0, rowsInTooltip)
    .map((holder) => ({ holder, share: holderShare(weights, holder, cpus) }))
    .filter(({ share }) => share >= leastInTooltip)
    .map(({ holder, share }) => `| ${formatShare(share)} | ${holder === waiting ? '*waiting*' : functionLink(holder)} |`);
  if (rows.length > 0) {
    lines.push(`|  | ${threads === '' ? 'holds the program back' : 'holds the program back in these threads'} |\n|--:|:--|\n${rows.join('\n')}`);
  }
  if (stale !== undefined) {
    lines.push(`$(warning) ${escapeMarkdown(stale)}`);
  }
  for (const notice of info.notices) {
    lines.push(`$(info) ${escapeMarkdown(noticeText(notice.text))}`);
  }
  lines.push(
    '[Record again](command:longpole.record) · [Speed-up and functions](command:longpole.showOverview) · [Timeline](command:longpole.showTimeline) · [CPU count](command:longpole.setCpuCount) · ' +
      '[Machine](command:longpole.setMachine) · [What if](command:longpole.whatIf) · [Annotations on or off](command:longpole.toggleAnnotations) · [Log](command:longpole.showLog)',
  );
  const markdown = new vscode.MarkdownString(lines.join('\n\n'), true);
  markdown.isTrusted = {
    enabledCommands: [
      'longpole.record',
      'longpole.restartDaemon',
      'longpole.showOverview',
      'longpole.showTimeline',
      'longpole.setCpuCount',
      'longpole.setMachine',
      'longpole.setScheduler',
      'longpole.whatIf',
      'longpole.takeBackWhatIf',
      'longpole.showOnlyThreads',
      'longpole.showAllThreads',
      'longpole.toggleAnnotations',
      'longpole.showLog',
      'longpole.goToLine',
    ],
  };
  return markdown;
}

function functionLink({ name, file, firstLine }: FunctionWeight): string {
  const title = escapeMarkdown(functionTitle(name));
  return file === '' ? title : `[${title}](${commandLink('longpole.goToLine', file, firstLine)})`;
}
