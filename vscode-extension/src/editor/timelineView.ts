// The timeline in the panel: what its page asks for comes from the daemon, what it selects opens beside it.
//
// It shows one simulation of the shown recording, on the number of CPUs that the window shows, and beside it another one when asked
// to: of other CPUs, another scheduler, or another recording. The page holds what its pixels need and no more.
import { writeFile } from 'node:fs/promises';
import * as vscode from 'vscode';
import { isNotFound } from '../core/daemonErrors';
import { errorSentence, formatCountOf, formatCpus, formatSpeedup, formatTime } from '../core/format';
import { shortName } from '../core/functionNames';
import { boundThreads, isMachine, machineSummary, schedulerOf, schedulers, withBinding } from '../core/machineSettings';
import { timelineCalls, timelineData, timelineFound, timelineItem } from '../core/timeline/fromProtocol';
import { idleReason } from '../core/timeline/idleness';
import type { CallsRequest, DataRequest, FromPanel, ItemRequest, LaneInfo, PickThread, ToPanel } from '../core/timeline/messages';
import type { View } from '../core/timeline/model';
import { pack } from '../core/timeline/pack';
import { timelinePage } from '../core/timeline/timelinePage';
import type { SimulatedRun } from '../daemon/client';
import { timelineViewId } from '../core/ids';
import type { Recordings } from './recordings';
import { recordingName } from './recordings';
import type { Session } from './session';

interface LaneChoice {
  readonly scheduler: string;
  /** undefined: the window's. */
  readonly cpus: number | undefined;
  /** undefined: the shown recording. */
  readonly path: string | undefined;
  /** Threads are bound to CPUs as the window's settings say. */
  readonly isBound: boolean;
}

/** What is looked for in all simulations. */
interface Search {
  readonly title: string;
  readonly file: string;
  readonly line: number;
  readonly function: string;
}

const mostThreadsListed = 20_000;
const wholeRunPixels = 1000;
/** Of a thread in the table; more are counted. */
const mostCalls = 200;

export class TimelineView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private isReady = false;
  private generation = 0;
  /** What the lanes are of; the page is told when it changes. */
  private shown = '';
  private other: LaneChoice | undefined;
  private search: Search | undefined;
  /** It was there: should it be so no more, on another machine or in another recording, that is no failure of anything. */
  private wasFound = false;
  private isToHaveFocus = false;
  /** A thread to be selected as soon as there is a page. */
  private wanted: number | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly session: Session,
    private readonly recordings: Recordings,
    private readonly report: (error: unknown) => void,
  ) {
    this.subscriptions = [session.onDidChange(() => this.sessionChanged())];
  }

  dispose(): void {
    this.subscriptions.forEach((subscription) => void subscription.dispose());
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.isReady = false;
    const { webview } = view;
    const folder = vscode.Uri.joinPath(this.context.extensionUri, 'dist');
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    webview.onDidReceiveMessage((message: FromPanel) => void this.take(message).catch(this.report));
    view.onDidChangeVisibility(() => {
      // Its page is gone, and begins anew when it is shown again: what is told to it meanwhile nobody hears.
      this.isReady &&= view.visible;
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.isReady = false;
      this.session.release();
    });
    webview.html = timelinePage(webview.asWebviewUri(vscode.Uri.joinPath(folder, 'timeline.js')).toString());
  }

  async show(): Promise<void> {
    if (this.session.recording === undefined) {
      throw new Error('Record a program, or open a recording: its timeline is shown then.');
    }
    this.isToHaveFocus = true;
    await vscode.commands.executeCommand(`${timelineViewId}.focus`);
    this.giveFocus();
  }

  /** As soon as there is a page. */
  private giveFocus(): void {
    if (this.isToHaveFocus && this.isReady) {
      this.isToHaveFocus = false;
      this.post({ kind: 'focus' });
    }
  }

  /** Marks where a line, or with its name a function, is at work. */
  async showLine(file: string, line: number, name = ''): Promise<void> {
    const where = `${file.slice(file.lastIndexOf('/') + 1)}:${line}`;
    this.search = { title: name === '' ? where : shortName(name), file: name === '' ? file : '', line: name === '' ? line : 0, function: name };
    this.wasFound = false;
    await this.show();
    if (this.isReady) {
      await this.findAnew(0);
    }
  }

  /** Where threads are bound to CPUs: how soon some binding surely lets the program end. */
  private async tellBounds(): Promise<void> {
    const { generation } = this;
    const { machine } = this.session;
    const [lane] = this.lanes();
    if (lane === undefined || boundThreads(machine) === 0 || machine.speeds !== undefined) {
      return;
    }
    const ns = await this.session.ask(undefined, (client, handle) => client.bound(handle, this.cpusOf(lane), machine.latencyNs ?? 0));
    if (ns !== undefined) {
      this.post({ kind: 'bound', generation, lane: 0, ns });
    }
  }

  /** Selects a thread where it begins. */
  async showThread(thread: number): Promise<void> {
    this.wanted = thread;
    await this.show();
    await this.selectWanted();
  }

  private async selectWanted(): Promise<void> {
    const { wanted, generation } = this;
    const [lane] = this.lanes();
    if (wanted === undefined || !this.isReady || lane === undefined) {
      return;
    }
    this.wanted = undefined;
    const run = this.simulation(lane);
    const nothing = { rows: [], cpus: [], colourBy: 'state', listThreads: true, withoutRows: true } as const;
    const whole = await this.session.ask(undefined, (client, handle) => client.getTimeline(handle, run, { fromNs: 0, toNs: 0, pixels: 1 }, nothing));
    const timeNs = whole.threads.find((one) => one.thread === wanted)?.startNs ?? 0;
    const item = await this.session.ask(undefined, (client, handle) => client.getTimelineItem(handle, run, wanted, { timeNs }, 'here'));
    this.post({ kind: 'item', generation, lane: 0, purpose: 'select', step: 'here', item: timelineItem(item), problem: '' });
  }

  private lanes(): LaneChoice[] {
    const scheduler = schedulerOf(this.session.machine, 'linux');
    const own: LaneChoice = { scheduler, cpus: undefined, path: undefined, isBound: true };
    return this.other === undefined ? [own] : [own, this.other];
  }

  private cpusOf({ cpus, scheduler }: LaneChoice): number {
    const wanted = cpus ?? this.session.cpus;
    // A machine has no more.
    return scheduler === 'shared' || scheduler === 'ideal' ? wanted : Math.min(wanted, 1024);
  }

  private sessionChanged(): void {
    if (this.session.recording === undefined || this.session.busy) {
      return;
    }
    this.tellLanes();
  }

  /** Why the times are others than those that the rest of the window shows. */
  private remark([own]: readonly LaneInfo[]): string {
    if (own?.hasCpus !== true || isMachine(schedulerOf(this.session.machine, 'shared'))) {
      return '';
    }
    return (
      `The status bar and the lines say ${this.elsewhere() || 'other times'}: they are of threads that share the CPUs evenly (scheduler shared). ` +
      'Here the scheduler is linux: wake-ups and switches take time, and CPUs have queues.'
    );
  }

  private elsewhere(): string {
    const prediction = this.session.recording?.weights.prediction(this.session.cpus);
    return prediction === undefined || prediction.deadlock !== undefined ? '' : formatTime(prediction.totalNs);
  }

  /** Tells the page what there is to be asked for, when that has changed. */
  private tellLanes(again = false): void {
    const { recording } = this.session;
    if (!this.isReady || recording === undefined) {
      return;
    }
    const lanes: LaneInfo[] = this.lanes().map((lane) => {
      const path = lane.path ?? recording.path;
      const name = lane.path === undefined ? '' : `${recordingName(path)}, `;
      const free = lane.isBound ? '' : ', no thread bound';
      return {
        title: `${name}${formatCpus(this.cpusOf(lane))}, ${lane.scheduler}${free}`,
        cpus: this.cpusOf(lane),
        hasCpus: isMachine(lane.scheduler),
        idleReason: idleReason(lane.scheduler, lane.isBound && boundThreads(this.session.machine) > 0, Number(recording.info.packedUseNs)),
        recording: path,
      };
    });
    // The same file may be another recording by now.
    const shown = JSON.stringify([lanes, machineSummary(this.session.machine), this.session.machine.threads, String(recording.info.handle), String(recording.info.startedAtUnixNs)]);
    if (shown !== this.shown || again) {
      this.shown = shown;
      this.generation++;
      const title = recordingName(recording.path);
      this.post({ kind: 'show', generation: this.generation, title, lanes, remark: this.remark(lanes), elsewhere: this.elsewhere() });
      this.tellBounds().catch(this.report);
      if (this.search !== undefined) {
        this.lanes().forEach((_lane, index) => void this.findAnew(index).catch(this.report));
      }
    }
  }

  private post(message: ToPanel): void {
    void this.view?.webview.postMessage(message);
  }

  private async take(message: FromPanel): Promise<void> {
    switch (message.kind) {
      case 'ready':
        this.isReady = true;
        this.tellLanes(true);
        this.giveFocus();
        await this.selectWanted();
        break;
      case 'data':
        await this.answerData(message);
        break;
      case 'item':
        await this.answerItem(message);
        break;
      case 'calls':
        await this.answerCalls(message);
        break;
      case 'find':
        if (message.generation === this.generation) {
          await this.find(message.lane, message.view, message.pixels, false);
        }
        break;
      case 'findNot':
        this.search = undefined;
        this.lanes().forEach((_lane, lane) => this.post({ kind: 'found', generation: this.generation, lane, found: undefined, jump: false }));
        break;
      case 'open':
        await vscode.commands.executeCommand('longpole.goToLine', message.place.file, message.place.line);
        break;
      case 'pick':
        await this.pick(message.threads);
        break;
      case 'scheduler':
        await vscode.commands.executeCommand('longpole.setScheduler');
        break;
      case 'compare':
        await this.chooseOther();
        break;
      case 'compareNot':
        this.other = undefined;
        this.session.release();
        this.tellLanes();
        break;
      case 'save':
        await this.save(message.format, message.content);
        break;
    }
  }

  private simulation(lane: LaneChoice): SimulatedRun {
    // Threads have other names in another recording, and other schedulers are compared by themselves.
    const own = lane.path === undefined && lane.scheduler === schedulerOf(this.session.machine, 'linux');
    const machine = lane.isBound ? this.session.machine : withBinding(this.session.machine, []);
    return { cpus: this.cpusOf(lane), scheduler: lane.scheduler, machine: own ? machine : undefined };
  }

  private async answerData({ generation, lane: index, what, view, pixels, rows, cpus, colourBy }: DataRequest): Promise<void> {
    const lane = this.lanes()[index];
    if (generation !== this.generation || lane === undefined) {
      return;
    }
    const content = { rows, cpus, colourBy, listThreads: what !== 'rows', withoutRows: what !== 'rows' || rows.length === 0 };
    try {
      const answer = await this.session.ask(lane.path, (client, handle) =>
        client.getTimeline(handle, this.simulation(lane), { ...view, pixels }, content),
      );
      this.post({ kind: 'data', generation, lane: index, what, data: pack(timelineData(answer)) });
    } catch (error) {
      if (generation === this.generation) {
        this.post({ kind: 'problem', text: errorSentence(error) });
      }
    }
  }

  private async answerItem({ generation, lane: index, thread, at, step, purpose }: ItemRequest): Promise<void> {
    const lane = this.lanes()[index];
    if (generation !== this.generation || lane === undefined) {
      return;
    }
    const reply = { kind: 'item', generation, lane: index, purpose, step } as const;
    try {
      const answer = await this.session.ask(lane.path, (client, handle) => 
        client.getTimelineItem(handle, this.simulation(lane), thread, at, step),
      );
      this.post({ ...reply, item: timelineItem(answer), problem: '' });
    } catch (error) {
      this.post({ ...reply, item: undefined, problem: error instanceof Error ? error.message : String(error) });
    }
  }

  private async answerCalls({ generation, lane: index, thread, timeNs, view }: CallsRequest): Promise<void> {
    const lane = this.lanes()[index];
    if (generation !== this.generation || lane === undefined) {
      return;
    }
    const following = { most: mostCalls - 1, untilNs: view.toNs };
    // A thread that does nothing there has no calls.
    const calls = await this.session
      .ask(lane.path, (client, handle) => client.getTimelineItem(handle, this.simulation(lane), thread, { timeNs }, 'here', following))
      .then(timelineCalls, () => []);
    this.post({ kind: 'calls', generation, lane: index, thread, view, calls });
  }

  /** In the whole run. What is not there is told to whoever has just asked for it, and then forgotten. */
  private async findAnew(index: number): Promise<void> {
    const { search } = this;
    try {
      await this.find(index, { fromNs: 0, toNs: 0 }, 0, true);
      this.wasFound ||= index === 0;
    } catch (error) {
      if (!isNotFound(error) || search !== this.search) {
        throw error;
      }
      const isNew = index === 0 && !this.wasFound;
      if (index === 0) {
        this.search = undefined;
      }
      this.post({ kind: 'found', generation: this.generation, lane: index, found: undefined, jump: false });
      if (isNew) {
        throw error;
      }
    }
  }

  /** A view of length 0 is the whole run. */
  private async find(index: number, view: View, pixels: number, jump: boolean): Promise<void> {
    const lane = this.lanes()[index];
    const { search, generation } = this;
    if (lane === undefined || search === undefined) {
      return;
    }
    const run = this.simulation(lane);
    const asked = { ...view, pixels: pixels === 0 ? wholeRunPixels : Math.round(pixels) };
    const answer = await this.session.ask(lane.path, (client, handle) => client.findInTimeline(handle, run, asked, search));
    let answered = view;
    if (view.toNs === view.fromNs) {
      const nothing = { rows: [], cpus: [], colourBy: 'state', listThreads: false, withoutRows: true } as const;
      const whole = await this.session.ask(lane.path, (client, handle) => client.getTimeline(handle, run, { ...view, pixels: 1 }, nothing));
      answered = { fromNs: 0, toNs: whole.totalNs };
    }
    if (search === this.search) {
      this.post({ kind: 'found', generation, lane: index, found: pack(timelineFound(answer, search.title, answered, asked.pixels)), jump });
    }
  }

  private async pick(threads: readonly PickThread[]): Promise<void> {
    if (threads.length > mostThreadsListed) {
      throw new Error(`A list of ${threads.length} threads is too long to choose from.`);
    }
    const items = threads.map(({ thread, name, function: started, picked }) => ({ label: name, description: shortName(started), picked, thread }));
    const chosen = await vscode.window.showQuickPick(items, {
      title: 'Longpole: Threads to Show',
      placeHolder: 'Type a name or a function; the box above selects all that are listed',
      canPickMany: true,
      matchOnDescription: true,
    });
    if (chosen !== undefined) {
      const all = chosen.length === items.length || chosen.length === 0;
      this.post({ kind: 'picked', threads: all ? undefined : chosen.map(({ thread }) => thread) });
    }
  }

  private async chooseOther(): Promise<void> {
    const [own] = this.lanes();
    const { recording } = this.session;
    if (own === undefined || recording === undefined) {
      return;
    }
    const item = (label: string, description: string, other: LaneChoice): vscode.QuickPickItem & { other?: LaneChoice } => ({ label, description, other });
    const separator = (label: string): vscode.QuickPickItem & { other?: LaneChoice } => ({ label, kind: vscode.QuickPickItemKind.Separator });
    const counts = this.session.choices
      .filter((cpus) => cpus !== this.session.cpus)
      .map((cpus) => {
        const speedup = recording.weights.prediction(cpus)?.speedup;
        return item(formatCpus(cpus), speedup === undefined ? '' : formatSpeedup(speedup), { ...own, cpus });
      });
    const others = schedulers.filter(([name]) => name !== own.scheduler).map(([name, text]) => item(name, text, { ...own, scheduler: name }));
    const kept = (await this.recordings.list())
      .filter(({ path }) => path !== recording.path)
      .map(({ path, name, modifiedMs }) => item(name, new Date(modifiedMs).toLocaleString(), { ...own, path }));
    const bound = boundThreads(this.session.machine);
    const free =
      bound === 0 ? [] : [separator('the same machine'), item('no thread bound', `in place of ${formatCountOf(bound, 'bound thread')}`, { ...own, isBound: false })];
    const items = [...free, separator('other numbers of CPUs'), ...counts, separator('other schedulers'), ...others, separator('other recordings'), ...kept];
    const chosen = await vscode.window.showQuickPick(items, {
      title: 'Longpole: Compare the Timeline With',
      placeHolder: 'Both are drawn above each other, on one time axis',
      matchOnDescription: true,
    });
    if (chosen?.other !== undefined) {
      this.other = chosen.other;
      this.tellLanes();
    }
  }

  private async save(format: 'png' | 'svg', content: string): Promise<void> {
    const { recording } = this.session;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(process.env['HOME'] ?? '/');
    const name = `${recording === undefined ? 'timeline' : recordingName(recording.path)} ${formatCpus(this.session.cpus)}.${format}`;
    const target = await vscode.window.showSaveDialog({
      title: 'Longpole: Save Picture',
      defaultUri: vscode.Uri.joinPath(folder, name),
      filters: { Pictures: [format] },
    });
    if (target !== undefined) {
      await writeFile(target.fsPath, format === 'png' ? Buffer.from(content, 'base64') : content);
    }
  }
}
