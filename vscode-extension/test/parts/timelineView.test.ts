// The timeline's panel comes and goes as the user likes, and so do recordings, while something is to be shown in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExtensionContext, WebviewView } from 'vscode';
import { usualMachine } from '../../src/core/machineSettings';
import type { ToPanel } from '../../src/core/timeline/messages';
import { Weights } from '../../src/core/weights';
import type { Recordings } from '../../src/editor/recordings';
import type { Session } from '../../src/editor/session';
import { TimelineView } from '../../src/editor/timelineView';
import { FindInTimelineResponse, GetTimelineItemResponse, GetTimelineResponse, TimelineThread } from '../../src/protocol/longpole/v1/timeline';
import { EventEmitter, Uri } from './standIn';


/** What a panel hears, as long as there is one. */
class Panel {
  readonly heard: ToPanel[] = [];
  visible = true;
  private readonly said = new EventEmitter<unknown>();
  private readonly visibility = new EventEmitter<void>();
  readonly view = {
    webview: {
      options: {},
      html: '',
      onDidReceiveMessage: this.said.event,
      asWebviewUri: (uri: Uri) => uri,
      postMessage: (message: ToPanel) => {
        if (this.visible) {
          this.heard.push(message);
        }
        return Promise.resolve(this.visible);
      },
    },
    onDidDispose: new EventEmitter<void>().event,
    onDidChangeVisibility: this.visibility.event,
  };

  say(message: unknown): void {
    this.said.fire(message);
  }

  show(visible: boolean): void {
    this.visible = visible;
    this.visibility.fire();
  }
}

class Setting {
  readonly reported: string[] = [];
  readonly panel = new Panel();
  readonly changed = new EventEmitter<void>();
  hasLine = true;
  recording = { path: '/one.lptrace', info: { handle: 1n, startedAtUnixNs: 1n }, weights: new Weights() };
  readonly timeline: TimelineView;

  constructor() {
    // eslint-disable-next-line @typescript-eslint/no-this-alias
    const setting = this;
    const client = {
      getTimeline: () => Promise.resolve(GetTimelineResponse.create({ totalNs: 10, threads: [TimelineThread.create({ thread: 3, startNs: 5 })] })),
      getTimelineItem: () => Promise.resolve(GetTimelineItemResponse.create({ thread: TimelineThread.create({ thread: 3 }) })),
      findInTimeline: () =>
        setting.hasLine ? Promise.resolve(FindInTimelineResponse.create()) : Promise.reject(Object.assign(new Error('no code of that line'), { isNotFound: true })),
    };
    const session = {
      get recording() {
        return setting.recording;
      },
      machine: usualMachine,
      cpus: 8,
      busy: false,
      onDidChange: this.changed.event,
      ask: (_path: string | undefined, question: (asked: typeof client, handle: bigint) => unknown) => question(client, 1n),
    } as unknown as Session;
    const context = { extensionUri: Uri.file('/extension') } as unknown as ExtensionContext;
    this.timeline = new TimelineView(context, session, {} as Recordings, (error) => this.reported.push(String(error)));
    const { panel } = this;
    Object.defineProperty(panel.view, 'visible', { get: () => panel.visible });
    this.timeline.resolveWebviewView(panel.view as unknown as WebviewView);
  }

  async settled(): Promise<void> {
    for (let turns = 0; turns < 20; turns++) {
      await new Promise(setImmediate);
    }
  }

  async isReady(): Promise<void> {
    this.panel.say({ kind: 'ready' });
    await this.settled();
  }

  /** Another one is shown. */
  async opens(path: string): Promise<void> {
    this.recording = { path, info: { handle: 2n, startedAtUnixNs: 2n }, weights: new Weights() };
    this.changed.fire();
    await this.settled();
  }

  heard(kind: ToPanel['kind']): ToPanel[] {
    return this.panel.heard.filter((message) => message.kind === kind);
  }
}

void test('a thread is selected also where the panel was hidden before', async () => {
  const setting = new Setting();
  await setting.isReady();
  setting.panel.show(false);
  await setting.timeline.showThread(3);
  await setting.settled();
  assert.deepEqual(setting.heard('item'), []);
  setting.panel.show(true);
  await setting.isReady();
  const shown = setting.heard('show').at(-1);
  const [item] = setting.heard('item');
  assert.ok(item?.kind === 'item' && shown?.kind === 'show');
  assert.equal(item.generation, shown.generation);
});

void test('what was looked for and is not in another recording is forgotten without a word', async () => {
  const setting = new Setting();
  await setting.isReady();
  await setting.timeline.showLine('/home/me/a.c', 5);
  assert.equal(setting.heard('found').length, 1);
  setting.hasLine = false;
  await setting.opens('/two.lptrace');
  const last = setting.heard('found').at(-1);
  assert.ok(last?.kind === 'found' && last.found === undefined);
  setting.hasLine = true;
  const before = setting.heard('found').length;
  await setting.opens('/three.lptrace');
  assert.equal(setting.heard('found').length, before);
  assert.deepEqual(setting.reported, []);
});

void test('whoever asks for what is not there is told, once', async () => {
  const setting = new Setting();
  setting.hasLine = false;
  await setting.isReady();
  await assert.rejects(setting.timeline.showLine('/home/me/a.c', 5), /no code of that line/);
  await setting.opens('/two.lptrace');
  assert.deepEqual(setting.reported, []);
  // Also where the panel is not there yet.
  setting.panel.show(false);
  await setting.timeline.showLine('/home/me/a.c', 5);
  setting.panel.show(true);
  await setting.isReady();
  assert.deepEqual(setting.reported, ['Error: no code of that line']);
});
