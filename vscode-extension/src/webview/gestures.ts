// What mouse and keys do. Keys are taken only while the picture has the focus, as Perfetto's are; help.ts lists them.
import { cpuText, crowdText, eventText, momentOf, stretchText } from '../core/timeline/details';
import { threadNames } from '../core/timeline/drawCpus';
import { timeBelow } from '../core/timeline/drawGraphs';
import { graphText, levelText } from '../core/timeline/graphText';
import { idleBeside, waitingBeside } from '../core/timeline/idleness';
import { hitTest, nearPixels, type Hit } from '../core/timeline/hit';
import type { CpuRow, Item, View } from '../core/timeline/model';
import { pictureOf } from '../core/timeline/picture';
import { around, centred, lengthOf, pan, within, zoom, zoomStep, zoomSteps } from '../core/timeline/scale';
import { SvgSurface } from '../core/timeline/svgSurface';
import { drawDetails, drawNote, drawTable, leadsOf, markText } from './beside';
import { fillHelp } from './help';
import { editor, page } from './page';
import { pngOf } from './png';
import { selectFirst, type Timeline } from './timeline';

interface Drag {
  readonly kind: 'pan' | 'mark' | 'overview';
  readonly x: number;
  readonly y: number;
  readonly view: View;
  readonly scroll: number;
  moved: boolean;
}

export class Gestures {
  private pointerX: number | undefined;
  private drag: Drag | undefined;
  private readonly trail: { thread: number; event: number }[] = [];

  constructor(private readonly timeline: Timeline) {}

  act(action: string): void {
    switch (action) {
      case 'back':
        this.timeline.history.back();
        this.timeline.moved();
        break;
      case 'forward':
        this.timeline.history.forward();
        this.timeline.moved();
        break;
      case 'fit':
        this.timeline.fit();
        break;
      case 'in':
      case 'in3':
        this.timeline.move(zoomStep(this.timeline.view, action === 'in' ? zoomSteps.small : zoomSteps.large, this.timeline.totalNs));
        break;
      case 'out':
      case 'out3':
        this.timeline.move(zoomStep(this.timeline.view, 1 / (action === 'out' ? zoomSteps.small : zoomSteps.large), this.timeline.totalNs));
        break;
      case 'scheduler':
      case 'compare':
        editor.postMessage({ kind: action });
        break;
      case 'pick':
        this.pick();
        break;
      case 'table':
        this.toggleTable();
        break;
      case 'svg':
      case 'png':
        this.savePicture(action);
        break;
      case 'help':
        fillHelp(page.help, this.timeline.theme);
        page.help.showModal();
        break;
    }
  }

  private pick(): void {
    const threads = (this.timeline.lanes[0]?.overview ?? this.timeline.lanes[0]?.interval)?.threads ?? [];
    const { picked } = this.timeline.kept;
    editor.postMessage({
      kind: 'pick',
      threads: threads.map(({ thread, name, function: started }) => ({
        thread,
        name: name.slice(0, 300),
        function: started.slice(0, 300),
        picked: picked?.includes(thread) ?? true,
      })),
    });
  }

  private toggleTable(): void {
    page.table.hidden = !page.table.hidden;
    page.stage.hidden = !page.table.hidden;
    document.querySelector('[data-action=table]')?.setAttribute('aria-pressed', String(page.stage.hidden));
    // Behind the table there is no picture to be saved.
    for (const button of document.querySelectorAll<HTMLButtonElement>('[data-action=svg], [data-action=png]')) {
      button.disabled = page.stage.hidden;
    }
    drawTable(this.timeline);
    (page.table.hidden ? page.canvas : page.table).focus();
  }

  private savePicture(format: 'svg' | 'png'): void {
    const { theme, title } = this.timeline;
    const picture = pictureOf(this.timeline.scene(), title);
    if (format === 'png') {
      editor.postMessage({ kind: 'save', format, content: pngOf(picture, theme) });
      return;
    }
    const surface = new SvgSurface(picture.width, picture.height, theme.background);
    picture.draw(surface, theme);
    editor.postMessage({ kind: 'save', format, content: surface.document(page.title.textContent) });
  }

  key(event: KeyboardEvent): boolean {
    // On many keyboards a character needs AltGr, which some systems report as Ctrl and Alt.
    if (!event.getModifierState('AltGraph') && (event.ctrlKey || event.metaKey || event.altKey)) {
      return false;
    }
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const act = this.fromSelection(key);
    if (act !== undefined) {
      this.timeline.fromSelection(act, event.repeat);
      return true;
    }
    const length = lengthOf(this.timeline.view);
    const anchor = this.pointerX === undefined ? this.timeline.view.fromNs + length / 2 : timeBelow(this.timeline.scene(), this.pointerX);
    switch (key) {
      case 'w':
        this.timeline.move(zoom(this.timeline.view, 1.25, anchor, this.timeline.totalNs), true);
        return true;
      case 's':
        this.timeline.move(zoom(this.timeline.view, 1 / 1.25, anchor, this.timeline.totalNs), true);
        return true;
      case 'a':
      case 'ArrowLeft':
        this.timeline.move(pan(this.timeline.view, -length / 10, this.timeline.totalNs), true);
        return true;
      case 'd':
      case 'ArrowRight':
        this.timeline.move(pan(this.timeline.view, length / 10, this.timeline.totalNs), true);
        return true;
      case '=':
        this.act('in');
        return true;
      case '+':
        this.act(event.shiftKey ? 'in3' : 'in');
        return true;
      case '-':
        this.act('out');
        return true;
      case '_':
        this.act('out3');
        return true;
      case '0':
        this.act('fit');
        return true;
      case 'Backspace':
        this.act(event.shiftKey ? 'forward' : 'back');
        return true;
      case 'PageDown':
      case 'PageUp':
        this.timeline.scrollBy(0, (key === 'PageDown' ? 1 : -1) * (this.timeline.layout().lanes[0]?.rows.height ?? 0));
        return true;
      case 'c':
        this.timeline.choose({ rowsAre: this.timeline.kept.rowsAre === 'cpus' ? 'threads' : 'cpus' });
        return true;
      case 'h':
        this.timeline.choose({ hideIdle: !this.timeline.kept.hideIdle });
        return true;
      case 'p':
        this.act('pick');
        return true;
      case 'v':
        this.act('compare');
        return true;
      case 't':
        this.act('table');
        return true;
      case '?':
        this.act('help');
        return true;
      default:
        return false;
    }
  }

  /** What a key does that begins at the selection; undefined: it is none of those. */
  private fromSelection(key: string): (() => void) | undefined {
    const { timeline } = this;
    const selection = (): Item | undefined => timeline.lanes[0]?.selection;
    switch (key) {
      case 'f':
        return () => this.fitSelection(selection());
      case 'm':
        return () => this.mark(selection());
      case '.':
        return () => timeline.step('next');
      case ',':
        return () => timeline.step('previous');
      case '>':
        return () => timeline.step('nextSimilar');
      case '<':
        return () => timeline.step('previousSimilar');
      case 'ArrowDown':
        return () => this.selectNeighbour(1);
      case 'ArrowUp':
        return () => this.selectNeighbour(-1);
      case 'Enter':
        return () => {
          const place = selection()?.place;
          if (place !== undefined) {
            leadsOf(timeline).open(place);
          }
        };
      case '[':
        return () => this.toWaker(selection());
      case ']':
        return () => {
          const last = this.trail.pop();
          if (last !== undefined) {
            timeline.ask(0, last.thread, { event: last.event }, 'here', 'keep');
          }
        };
      case 'Escape':
        return () => {
          if (timeline.marked === undefined) {
            timeline.unselect();
          } else {
            timeline.marked = undefined;
            drawDetails(timeline);
            timeline.redraw();
          }
        };
      default:
        return undefined;
    }
  }

  private fitSelection(selection: Item | undefined): void {
    if (selection === undefined) {
      drawNote(this.timeline, selectFirst);
    } else {
      this.timeline.move(around(selection.startNs, Math.max(selection.endNs, selection.made ? selection.callNs : 0), this.timeline.totalNs));
    }
  }

  private toWaker(selection: Item | undefined): void {
    const waker = selection?.wokenBy ?? selection?.cpuFrom;
    if (selection !== undefined && waker !== undefined) {
      this.trail.push({ thread: selection.thread.thread, event: selection.event });
      this.timeline.ask(0, waker.thread, { event: waker.event }, 'here', 'keep');
    } else {
      drawNote(this.timeline, selection === undefined ? selectFirst : 'Nothing woke this: it waited for no one.');
    }
  }

  /** One end of an interval is at the selection; with the other end known, just that interval is shown. */
  private mark(selection: Item | undefined): void {
    const { timeline } = this;
    if (selection === undefined) {
      drawNote(timeline, selectFirst);
      return;
    }
    const here = momentOf(selection);
    const there = timeline.marked?.fromNs;
    timeline.marked = there === undefined ? { fromNs: here, toNs: here } : undefined;
    if (there === undefined) {
      page.live.textContent = markText(timeline);
      drawDetails(timeline);
      timeline.redraw();
    } else {
      timeline.move(within({ fromNs: Math.min(here, there), toNs: Math.max(here, there) }, timeline.totalNs));
    }
  }

  private selectNeighbour(by: number): void {
    const lane = this.timeline.lanes[0];
    const { selection } = lane ?? {};
    const row = lane?.threads.findIndex(({ thread }) => thread.thread === selection?.thread.thread) ?? -1;
    const next = lane?.threads[row < 0 ? 0 : row + by]?.thread;
    if (next !== undefined) {
      const at = selection === undefined ? this.timeline.view.fromNs + lengthOf(this.timeline.view) / 2 : selection.startNs;
      this.timeline.ask(0, next.thread, { timeNs: Math.min(Math.max(at, next.startNs), next.endNs) }, 'here', 'select');
    }
  }

  wheel(event: WheelEvent): void {
    page.tip.hidden = true;
    const hit = hitTest(this.timeline.scene(), event.offsetX, event.offsetY);
    const delta = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
    const sideways = event.shiftKey ? delta : event.deltaX;
    if (event.offsetX < this.timeline.layout().plotX) {
      this.timeline.scrollBy(hit.kind === 'name' ? hit.lane : 0, delta);
    } else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : delta)) {
      this.timeline.move(pan(this.timeline.view, (sideways / this.timeline.layout().plotWidth) * lengthOf(this.timeline.view), this.timeline.totalNs), true);
    } else {
      this.timeline.move(zoom(this.timeline.view, Math.exp(-delta * 0.0022), timeBelow(this.timeline.scene(), event.offsetX), this.timeline.totalNs), true);
    }
  }

  pointerDown(event: PointerEvent): void {
    if (event.button !== 0) {
      return;
    }
    page.canvas.focus();
    page.canvas.setPointerCapture(event.pointerId);
    const hit = hitTest(this.timeline.scene(), event.offsetX, event.offsetY);
    const kind = hit.kind === 'overview' ? 'overview' : hit.kind === 'graph' || hit.kind === 'axis' || event.shiftKey ? 'mark' : 'pan';
    this.drag = { kind, x: event.offsetX, y: event.offsetY, view: this.timeline.view, scroll: this.timeline.lanes[0]?.scroll ?? 0, moved: false };
    if (kind === 'overview') {
      this.lookAtOverview(event.offsetX);
    }
  }

  pointerMove(event: PointerEvent): void {
    this.pointerX = event.offsetX;
    const { drag } = this;
    if (drag === undefined) {
      this.drawTip(hitTest(this.timeline.scene(), event.offsetX, event.offsetY), event.offsetX, event.offsetY);
      return;
    }
    drag.moved ||= Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) > 3;
    if (!drag.moved) {
      return;
    }
    page.tip.hidden = true;
    if (drag.kind === 'overview') {
      this.lookAtOverview(event.offsetX);
    } else if (drag.kind === 'mark') {
      const times = [drag.x, event.offsetX].map((x) => timeBelow(this.timeline.scene(), x)).sort((a, b) => a - b);
      this.timeline.marked = { fromNs: times[0] ?? 0, toNs: times[1] ?? 0 };
      this.timeline.redraw();
    } else {
      page.canvas.classList.add('moving');
      this.timeline.move(pan(drag.view, ((drag.x - event.offsetX) / this.timeline.layout().plotWidth) * lengthOf(drag.view), this.timeline.totalNs), true);
      const lane = this.timeline.lanes[0];
      const box = this.timeline.layout().lanes[0];
      if (this.timeline.lanes.length === 1 && lane !== undefined && box !== undefined) {
        lane.scroll = Math.min(Math.max(0, drag.scroll + drag.y - event.offsetY), Math.max(0, box.contentHeight - box.rows.height));
      }
    }
  }

  pointerUp(event: PointerEvent): void {
    const { drag } = this;
    const { marked } = this.timeline;
    this.drag = undefined;
    this.timeline.marked = undefined;
    page.canvas.classList.remove('moving');
    if (drag === undefined) {
      return;
    }
    if (drag.moved && drag.kind === 'mark' && marked !== undefined) {
      this.timeline.move(within(marked, this.timeline.totalNs));
    } else if (!drag.moved && drag.kind !== 'overview') {
      this.click(hitTest(this.timeline.scene(), event.offsetX, event.offsetY));
    }
    this.timeline.redraw();
  }

  /** The system has taken the pointer for something else. */
  pointerCancelled(): void {
    this.drag = undefined;
    this.timeline.marked = undefined;
    page.canvas.classList.remove('moving');
    this.timeline.redraw();
  }

  private lookAtOverview(x: number): void {
    const { overview } = this.timeline.layout();
    const at = ((x - overview.x) / overview.width) * this.timeline.totalNs;
    this.timeline.move(centred(this.timeline.view, at, this.timeline.totalNs), true);
  }

  private click(hit: Hit): void {
    if (hit.kind === 'cpu') {
      const row = this.cpuRow(hit);
      const thread = hit.summary === undefined ? row?.turns.thread[hit.turn ?? -1] : row?.summaries.thread[hit.summary];
      if (thread !== undefined) {
        this.timeline.ask(hit.lane, thread, { timeNs: hit.timeNs }, 'here', 'select');
      }
    } else if (hit.kind === 'row') {
      const row = this.timeline.lanes[hit.lane]?.data?.rows.find(({ thread }) => thread === hit.thread);
      const event = hit.event === undefined ? undefined : row?.events.event[hit.event];
      this.timeline.ask(hit.lane, hit.thread, event === undefined ? { timeNs: hit.timeNs } : { event }, 'here', 'select');
    } else if (hit.kind === 'name') {
      const thread = this.timeline.lanes[hit.lane]?.threads.find((shown) => shown.thread.thread === hit.thread)?.thread;
      if (thread !== undefined) {
        this.timeline.ask(hit.lane, hit.thread, { timeNs: Math.min(Math.max(this.timeline.view.fromNs, thread.startNs), thread.endNs) }, 'here', 'select');
      }
    }
  }

  doubleClick(event: MouseEvent): void {
    const hit = hitTest(this.timeline.scene(), event.offsetX, event.offsetY);
    const row = hit.kind === 'row' ? this.timeline.lanes[hit.lane]?.data?.rows.find(({ thread }) => thread === hit.thread) : undefined;
    if (hit.kind === 'row' && row !== undefined && hit.stretch !== undefined) {
      this.timeline.move(around(row.stretches.startNs[hit.stretch] ?? 0, row.stretches.endNs[hit.stretch] ?? 0, this.timeline.totalNs));
    } else if (hit.kind === 'cpu' && hit.turn !== undefined) {
      const turns = this.cpuRow(hit)?.turns;
      this.timeline.move(around(turns?.startNs[hit.turn] ?? 0, turns?.endNs[hit.turn] ?? 0, this.timeline.totalNs));
    }
  }

  pointerLeft(): void {
    this.pointerX = undefined;
    page.tip.hidden = true;
  }

  private drawTip(hit: Hit, x: number, y: number): void {
    const text = this.tipText(hit);
    page.tip.hidden = text === '';
    if (text !== '') {
      page.tip.textContent = text.slice(0, 300);
      const isRight = x > page.stage.clientWidth / 2;
      const isLow = y > page.stage.clientHeight / 2;
      page.tip.style.left = isRight ? '' : `${x + 14}px`;
      page.tip.style.right = isRight ? `${page.stage.clientWidth - x + 10}px` : '';
      page.tip.style.top = isLow ? '' : `${y + 16}px`;
      page.tip.style.bottom = isLow ? `${page.stage.clientHeight - y + 10}px` : '';
    }
  }

  private cpuRow(hit: Hit & { kind: 'cpu' }): CpuRow | undefined {
    return this.timeline.lanes[hit.lane]?.data?.cpuRows.find(({ cpu }) => cpu === hit.cpu);
  }

  private tipText(hit: Hit): string {
    if (hit.kind === 'cpu') {
      const [row, lane] = [this.cpuRow(hit), this.timeline.lanes[hit.lane]];
      if (row === undefined || lane?.data === undefined) {
        return '';
      }
      return cpuText(row, hit, threadNames(lane.scene()), waitingBeside(lane.data, hit.timeNs, lane.info.idleReason));
    }
    if (hit.kind === 'name') {
      return this.timeline.lanes[hit.lane]?.threads.find(({ thread }) => thread.thread === hit.thread)?.thread.name ?? '';
    }
    if (hit.kind === 'graph' || hit.kind === 'level') {
      const shown = this.timeline.lanes[hit.lane]?.scene();
      return shown?.data === undefined
        ? ''
        : hit.kind === 'graph'
          ? graphText(shown.data, hit.timeNs, this.timeline.view)
          : levelText(shown.data, hit.level, shown.cpus);
    }
    if (hit.kind !== 'row') {
      return '';
    }
    const lane = this.timeline.lanes[hit.lane];
    const data = lane?.data;
    const row = data?.rows.find(({ thread }) => thread === hit.thread);
    if (data === undefined || row === undefined) {
      return '';
    }
    const name = lane?.threads.find(({ thread }) => thread.thread === hit.thread)?.thread.name.slice(0, 80) ?? '';
    const beside = lane?.info.hasCpus === true ? idleBeside(data, hit.timeNs, lane.info.cpus, lane.info.idleReason) : '';
    const here = hit.event !== undefined ? eventText(row, hit.event, data) : hit.stretch === undefined ? undefined : stretchText(row, hit.stretch, data, beside);
    const { view } = this.timeline;
    const crowd = crowdText(row, hit.timeNs, (nearPixels / this.timeline.layout().plotWidth) * lengthOf(view), data);
    const parts = [here, crowd].filter((part) => part !== undefined);
    return parts.length === 0 ? '' : [name, ...parts].join(' · ');
  }
}
