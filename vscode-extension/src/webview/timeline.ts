// The timeline as it is shown: what it knows, what it asks for, and what it draws. Mouse and keys are in gestures.ts.
//
// All state that is worth keeping is in `kept` and survives the page; everything else is asked for again.
import { formatTime } from '../core/format';
import { itemTitle, momentOf } from '../core/timeline/details';
import { History } from '../core/timeline/history';
import { colourEntries, colouringOf, type Entry } from '../core/timeline/legend';
import { scrollTo, type Layout } from '../core/timeline/layout';
import type { At, ItemRequest, Step, ToPanel } from '../core/timeline/messages';
import type { Found, Item, Thread, TimelineData, View } from '../core/timeline/model';
import { unpack } from '../core/timeline/pack';
import { centred, formatMoment, isRounded, isSame, lengthOf, within, wholeRun } from '../core/timeline/scale';
import { rowCount, totalOf, type Scene } from '../core/timeline/scene';
import { drawDetails, drawNote, drawTable, offerWays, showChoices, showProblem } from './beside';
import { CallList } from './callList';
import { Flash } from './flash';
import { chosenViewport, drawAsChosen, layoutOf, lookOf } from './chosen';
import { LaneState } from './lane';
import { editor, page, type Kept } from './page';
import { Screen } from './screen';
import { element } from './sidebar';
import { tell } from './tell';
import { themeOfEditor } from './themeOfEditor';

/** A burst of wheel or keys is one step of the history. */
const burstMs = 600;
/** The view rests when it has not moved for so long. */
const restMs = 120;
/**
 * So long the picture of the run before stands in for one that is on its way; then it is told that there is none yet. Within a second
 * nobody takes up anything else, and a picture that is empty for a moment is a flash.
 */
const standInMs = 1000;

export const selectFirst = 'Select an event first: with a click, or with the arrow keys.';

export class Timeline {
  readonly kept: Kept = {
    view: undefined,
    recording: '',
    colourBy: 'state',
    sortBy: 'start',
    // Rows that come and go as one zooms are found nowhere.
    hideIdle: false,
    rowsAre: 'threads',
    picked: undefined,
    selected: undefined,
    ...editor.getState(),
  };
  /** Of the recording. */
  title = '';
  /** Why its times are others than those that the rest of the window shows. */
  remark = '';
  elsewhere = '';
  lanes: LaneState[] = [];
  private generation = -1;
  history = new History(this.kept.view ?? wholeRun(0));
  private lastMove = 0;
  marked: View | undefined;
  private frame = 0;
  private rest: number | undefined;
  private standIn: number | undefined;
  private readonly flash = new Flash(() => this.redraw());
  private isSelecting = false;
  /** Beside a run that was shown as a whole there is another one: it is to be seen as a whole, too. */
  private hasNewcomer = false;
  /** What is to be done from the selection on that is on its way. */
  private readonly waiting: (() => void)[] = [];
  theme = themeOfEditor();
  private readonly screen = new Screen();
  /** What is drawn: it follows what is chosen once there is what that needs, so that nothing is empty in between. */
  drawnAs = lookOf(this.kept);
  /** What the colours of the view stand for; of one that moves, what they stood for where it rested. */
  colours: readonly Entry[] = [];
  private colouring: Scene['colouring'];
  /** Of each lane. */
  private readonly calls = [0, 1].map((lane) => new CallList(lane, (request) => editor.postMessage(request)));

  constructor() {
    showChoices(this.kept);
    new ResizeObserver(() => this.resized()).observe(page.stage);
    new MutationObserver(() => this.themeChanged()).observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
    this.resized();
  }

  // What the extension says.

  take(message: ToPanel): void {
    if ('generation' in message && message.kind !== 'show' && message.generation !== this.generation) {
      return;
    }
    switch (message.kind) {
      case 'show':
        this.show(message);
        break;
      case 'data': {
        const lane = this.lanes[message.lane];
        const data = unpack<TimelineData>(message.data);
        lane?.take(message.what, data);
        // Which threads there are is to be known before their rows are asked for.
        this.chooseThreads();
        if (message.lane === 0 && message.what === 'overview') {
          this.firstLook(data.totalNs);
        }
        if (this.hasNewcomer && this.lanes.every(({ overview }) => overview !== undefined)) {
          this.hasNewcomer = false;
          this.history.drift(wholeRun(this.totalNs));
          this.moved();
        }
        this.threadsChanged();
        break;
      }
      case 'item':
        this.itemCame(message.lane, message.item, message.purpose, message.step, message.problem);
        this.isSelecting &&= message.purpose === 'follow';
        while (!this.isSelecting && this.waiting.length > 0) {
          this.waiting.shift()?.();
        }
        break;
      case 'calls':
        this.calls[message.lane]?.take(message);
        drawTable(this);
        break;
      case 'found': {
        const lane = this.lanes[message.lane];
        if (lane !== undefined) {
          lane.found = message.found && unpack<Found>(message.found);
          this.jumpToFound(lane, message.jump);
        }
        drawDetails(this);
        this.redraw();
        break;
      }
      case 'bound': {
        const lane = this.lanes[message.lane];
        if (lane !== undefined) {
          lane.boundNs = message.ns;
        }
        this.redraw();
        break;
      }
      case 'picked':
        this.keep({ picked: message.threads });
        this.threadsChanged();
        break;
      case 'focus':
        (page.table.hidden ? page.canvas : page.table).focus();
        break;
      case 'problem':
        this.lanes.forEach((lane) => lane.fail());
        drawAsChosen(this, true);
        showProblem(message.text);
        break;
    }
  }

  private show(message: ToPanel & { kind: 'show' }): void {
    const before = this.lanes;
    this.hasNewcomer = before.length > 0 && before.length < message.lanes.length && isSame(this.view, wholeRun(this.totalNs));
    this.generation = message.generation;
    this.isSelecting = false;
    this.waiting.length = 0;
    this.lanes = message.lanes.map((info, index) => {
      const isSameProgram = before.length === message.lanes.length && before[index]?.info.recording === info.recording;
      const lane = new LaneState(info, isSameProgram ? before[index]?.scene() : undefined);
      lane.scroll = before[index]?.scroll ?? 0;
      return lane;
    });
    this.title = message.title;
    this.remark = message.remark;
    this.elsewhere = message.elsewhere;
    page.title.replaceChildren(element('b', this.title), ` ${message.lanes.map((lane) => lane.title).join('  ↔  ')}`);
    page.scheduler.textContent = /, (.*)$/.exec(message.lanes[0]?.title ?? '')?.[1] ?? '';
    page.title.title = message.remark;
    page.scheduler.title = ['Simulate with another scheduler.', message.remark].join(' ').trim();
    const recording = message.lanes[0]?.recording ?? '';
    if (recording !== this.kept.recording) {
      this.keep({ recording, view: undefined, selected: undefined, picked: undefined });
      this.history = new History(wholeRun(0));
    }
    page.details.replaceChildren();
    offerWays(this.history);
    this.redraw();
    clearTimeout(this.standIn);
    this.standIn = setTimeout(() => {
      this.lanes.forEach((lane) => lane.forgetBefore());
      this.redraw();
    }, standInMs);
    this.wantOverviews();
  }

  private firstLook(totalNs: number): void {
    const view = this.kept.view === undefined ? wholeRun(totalNs) : within(this.kept.view, totalNs);
    this.history.drift(view);
    this.wantData();
    // The selected event stays selected, and in view, on whatever it is simulated.
    const { selected } = this.kept;
    if (selected !== undefined) {
      this.ask(0, selected.thread, { event: selected.event }, 'here', 'keep');
    }
  }

  private itemCame(index: number, item: Item | undefined, purpose: ItemRequest['purpose'], step: Step, problem: string): void {
    const lane = this.lanes[index];
    if (lane === undefined) {
      return;
    }
    if (item === undefined) {
      if (purpose === 'select') {
        drawNote(this, problem);
      } else {
        lane.selection = undefined;
        drawDetails(this);
      }
      this.redraw();
      return;
    }
    lane.selection = item;
    if (purpose !== 'follow') {
      this.keep({ selected: { thread: item.thread.thread, event: item.event } });
      const { picked } = this.kept;
      if (picked !== undefined && !picked.includes(item.thread.thread)) {
        this.keep({ picked: [...picked, item.thread.thread] });
        this.threadsChanged();
      }
      this.bringIntoView(lane, item, step !== 'here' || purpose === 'keep');
      page.live.textContent = `${itemTitle(item)}, ${item.thread.name}, ${formatMoment(momentOf(item), this.view)}`;
      this.lanes.forEach((other, otherIndex) => {
        if (other !== lane && other.info.recording === lane.info.recording) {
          this.ask(otherIndex, item.thread.thread, { event: item.event }, 'here', 'follow');
        }
      });
      if (step !== 'here') {
        this.flash.start();
      }
    }
    drawDetails(this);
    drawTable(this);
    this.redraw();
  }

  /** What was looked for comes to the centre (Paper I, section 3.3); what was only clicked stays where it is. */
  private bringIntoView(lane: LaneState, item: Item, toCentre: boolean): void {
    const at = momentOf(item);
    const isSeen = at >= this.view.fromNs && at <= this.view.toNs;
    if (toCentre && (!isSeen || lane === this.lanes[0])) {
      const isFar = at < this.view.fromNs + lengthOf(this.view) * 0.1 || at > this.view.toNs - lengthOf(this.view) * 0.1;
      if (isFar || !isSeen) {
        this.move(centred(this.view, at, this.totalNs));
      }
    }
    const row = lane.threads.findIndex(({ thread }) => thread.thread === item.thread.thread);
    const layout = this.layout().lanes[this.lanes.indexOf(lane)];
    if (row >= 0 && layout !== undefined && this.kept.rowsAre === 'threads') {
      lane.scroll = scrollTo(layout, row);
    }
    lane.isToShowSelection = row < 0;
  }

  private jumpToFound(lane: LaneState, jump: boolean): void {
    const { found } = lane;
    if (found === undefined || !jump || lane !== this.lanes[0]) {
      return;
    }
    page.live.textContent = `${found.title}: ${formatTime(found.timeNs)} in ${found.rows.length} threads`;
    if (found.rows.length === 0) {
      const at = found.nextNs ?? found.previousNs;
      if (at !== undefined) {
        this.move(centred(this.view, at, this.totalNs));
      }
      return;
    }
    const row = lane.threads.findIndex(({ thread }) => found.rows.some((each) => each.thread === thread.thread));
    const layout = this.layout().lanes[0];
    if (row >= 0 && layout !== undefined) {
      lane.scroll = scrollTo(layout, row);
    }
  }

  // Where we are.

  get view(): View {
    return this.history.view;
  }

  get totalNs(): number {
    return totalOf(this);
  }

  /** Before there is a run, there is nowhere to go. */
  move(view: View, isBurst = false): void {
    if (this.totalNs === 0) {
      return;
    }
    this.hasNewcomer &&= isSame(view, this.view);
    const now = performance.now();
    if (isBurst && now - this.lastMove < burstMs) {
      this.history.drift(view);
    } else {
      this.history.go(view);
    }
    this.lastMove = isBurst ? now : 0;
    this.moved();
  }

  /** The whole run; of one that is on its way, once it is there. */
  fit(): void {
    if (this.totalNs === 0) {
      this.keep({ view: undefined });
    }
    this.move(wholeRun(this.totalNs));
  }

  moved(): void {
    this.keep({ view: this.view });
    offerWays(this.history);
    this.redraw();
    this.wantData();
  }

  keep(change: Partial<Kept>): void {
    Object.assign(this.kept, change);
    editor.setState(this.kept);
  }

  layout(rowsAre = this.drawnAs.rowsAre): Layout {
    return layoutOf(this.lanes, (lane) => rowCount(lane.scene(), rowsAre));
  }

  scene(): Scene {
    return {
      layout: this.layout(),
      view: this.view,
      lanes: this.lanes.map((lane) => lane.scene()),
      ...this.drawnAs,
      colouring: this.colouring,
      marked: this.marked,
      bright: this.flash.isBright,
    };
  }

  // What we ask for.

  private wantOverviews(): void {
    this.lanes.forEach((lane, index) => this.question(lane, index, 'overview'));
  }

  wantData(): void {
    this.lanes.forEach((lane, index) => {
      if (lane.overview !== undefined) {
        this.question(lane, index, 'rows');
      }
    });
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.rested(), restMs);
  }

  private rested(): void {
    this.chooseColours();
    this.lanes.forEach((lane, index) => {
      if (lane.overview !== undefined) {
        this.question(lane, index, 'interval');
      }
      if (lane.found !== undefined && !isRounded(lane.found.view, this.view)) {
        editor.postMessage({ kind: 'find', generation: this.generation, lane: index, view: this.view, pixels: this.layout().plotWidth });
      }
    });
    drawDetails(this);
    drawTable(this);
  }

  private question(lane: LaneState, index: number, what: 'rows' | 'interval' | 'overview'): void {
    const viewport = chosenViewport(this, index);
    // Behind the table there is no picture, but the table is of the interval.
    if (viewport === undefined || (what === 'rows' && page.stage.clientWidth === 0)) {
      return;
    }
    const question = lane.question(what, viewport);
    if (question !== undefined) {
      editor.postMessage({ ...question, generation: this.generation, lane: index });
    }
  }

  private chooseColours(): void {
    const scene = this.scene();
    this.colouring = colouringOf(scene);
    this.colours = colourEntries(scene);
    this.redraw();
  }

  ask(lane: number, thread: number, at: At, step: Step, purpose: ItemRequest['purpose']): void {
    this.isSelecting ||= purpose !== 'follow';
    editor.postMessage({ kind: 'item', generation: this.generation, lane, thread, at, step, purpose });
  }

  /** What a thread of a lane calls in the view; undefined: that is on its way. */
  callsOf(lane: number, thread: Thread): readonly Item[] | undefined {
    return this.calls[lane]?.of(this.generation, thread, this.view);
  }

  /** The daemon is asked what to select: of keys that follow quickly, each goes on from what the one before selects. A key that is held
   * down waits for nothing. */
  fromSelection(act: () => void, isRepeated = false): void {
    if (!this.isSelecting) {
      act();
    } else if (!isRepeated) {
      this.waiting.push(act);
    }
  }

  private chooseThreads(): void {
    const picked = this.kept.picked === undefined ? undefined : new Set(this.kept.picked);
    for (const lane of this.lanes) {
      lane.chooseThreads({ sortBy: this.kept.sortBy, hideIdle: this.kept.hideIdle, picked });
    }
  }

  threadsChanged(): void {
    showChoices(this.kept);
    this.chooseThreads();
    const { colourBy } = this.drawnAs;
    drawAsChosen(this);
    if (this.drawnAs.colourBy !== colourBy) {
      this.chooseColours();
    }
    this.redraw();
    drawDetails(this);
    drawTable(this);
    this.wantData();
  }

  // What we draw.

  private resized(): void {
    this.screen.resized();
    this.draw();
    this.wantData();
  }

  private themeChanged(): void {
    this.theme = themeOfEditor();
    this.resized();
  }

  redraw(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw(): void {
    const scene = this.screen.draw(() => this.scene(), this.theme);
    if (scene !== undefined) {
      tell(this, scene, this.screen.frameMs);
    }
  }

  step(step: Step): void {
    const selection = this.lanes[0]?.selection;
    if (selection !== undefined) {
      this.ask(0, selection.thread.thread, { event: selection.event }, step, 'select');
    } else {
      drawNote(this, selectFirst);
    }
  }

  choose(change: Partial<Pick<Kept, 'colourBy' | 'sortBy' | 'hideIdle' | 'rowsAre'>>): void {
    this.keep(change);
    this.threadsChanged();
  }

  unselect(): void {
    this.lanes.forEach((lane) => (lane.selection = undefined));
    this.keep({ selected: undefined });
    drawDetails(this);
    this.redraw();
  }

  scrollBy(index: number, pixels: number): void {
    const lane = this.lanes[index];
    const box = this.layout().lanes[index];
    if (lane !== undefined && box !== undefined) {
      lane.scroll = Math.min(Math.max(0, box.scroll + pixels), Math.max(0, box.contentHeight - box.rows.height));
      this.redraw();
      this.wantData();
    }
  }
}
