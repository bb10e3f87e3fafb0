// A real VS Code for a test: code-server with the packed extension, shown by Chromium. Each one has its own home, and
// everything it started is gone after stop().
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { chromium, type BrowserContext, type FrameLocator, type Locator, type Page } from 'playwright-core';
import { EditorServer, type ServerOptions } from './editorServer';
import { eventually, patience } from './eventually';

export interface WorkbenchOptions extends ServerOptions {
  /** Copied into the home, so that tests may edit. */
  readonly folder: string;
  /** JSON files that the copy has more, by their paths in it: one written later is news to the editor only when its watcher says so. */
  readonly files?: Readonly<Record<string, unknown>>;
  /** A .code-workspace file of the folder to open in place of the folder. */
  readonly workspace?: string;
  /** false: a window without a folder. */
  readonly opensFolder?: boolean;
}

/** What stands at the end of one line, and how long its bar is in pixels. */
export interface Annotation {
  readonly text: string;
  readonly barWidth: number;
  readonly colour: string;
}

export class Workbench {
  private constructor(
    /** The copy of the folder that is open. */
    readonly folder: string,
    readonly page: Page,
    private readonly home: string,
    readonly server: EditorServer,
    private readonly browser: BrowserContext,
  ) {}

  static async start(options: WorkbenchOptions): Promise<Workbench> {
    const home = mkdtempSync(join(tmpdir(), 'lp-'));
    const folder = join(home, 'workspace');
    cpSync(options.folder, folder, { recursive: true });
    for (const [path, content] of Object.entries(options.files ?? {})) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), JSON.stringify(content));
    }
    const server = await EditorServer.start(home, options);
    const browser = await chromium.launchPersistentContext(join(home, 'browser'), {
      executablePath: '/usr/bin/chromium',
      viewport: { width: 1480, height: 900 },
      chromiumSandbox: false,
      args: [
        ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
        ...['--disable-component-update', '--disable-sync'],
      ],
    });
    const page = browser.pages()[0] ?? (await browser.newPage());
    page.setDefaultTimeout(patience);
    const workbench = new Workbench(folder, page, home, server, browser);
    const opened =
      options.workspace !== undefined
        ? `?workspace=${join(folder, options.workspace)}`
        : options.opensFolder === false
          ? '?ew=true'
          : `?folder=${folder}`;
    const address = `${server.address}${opened}`;
    try {
      await page.goto(address);
      await page.locator('.monaco-workbench').waitFor();
    } catch {
      // A workbench that does not come up at all is no finding about the extension: once more.
      await page.goto(address);
      await page.locator('.monaco-workbench').waitFor();
    }
    return workbench;
  }

  /** A second call does nothing. */
  async stop(): Promise<void> {
    if (!this.server.isRunning) {
      return;
    }
    await this.browser.close();
    await this.server.stop();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  /** A picture of the window, under out/. */
  async screenshot(name: string): Promise<void> {
    if (this.page.isClosed()) {
      return;
    }
    await this.page.screenshot({ path: join('out', 'screenshots', `${name}.png`) });
  }

  /** By its title, or the beginning of one that no other has. */
  async runCommand(title: string): Promise<void> {
    const rows = this.page.locator('.quick-input-list .monaco-list-row');
    const named = rows.filter({ has: this.page.locator('.label-name', { hasText: exactly(title) }) }).first();
    const first = this.page.locator('.quick-input-list .monaco-list-row.focused', { hasText: title });
    const isFocused = async (): Promise<boolean> => /\bfocused\b/.test((await named.getAttribute('class').catch(() => null)) ?? '');
    // The palette knows a command only once the extension's manifest has been read.
    await eventually(
      async () => {
        await this.openQuickInput('F1', `>${title}`);
        const found = await named.or(first).first().waitFor({ timeout: 3000 }).then(
          () => true,
          () => false,
        );
        // The first of those that match need not be the one of that name.
        const isThere = found && (await named.count()) > 0;
        for (let step = 0; isThere && step < 20 && !(await isFocused()); step++) {
          await this.page.keyboard.press('ArrowDown');
        }
        const isChosen = isThere ? await isFocused() : found;
        await this.page.keyboard.press(isChosen ? 'Enter' : 'Escape');
        return isChosen;
      },
      () => `the command ${title}`,
    );
    // A key that is pressed next is not for the palette. The command may have put another list or box in its place.
    await eventually(
      async () => !(await this.quickInput.isVisible()) || (await this.quickInput.inputValue()) !== `>${title}`,
      () => 'the palette to close',
    );
  }

  /** Puts the cursor on a line and the line into the middle; the editor has the focus then. */
  async goToLine(line: number): Promise<void> {
    await this.openQuickInput('Control+G', `:${line}`);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: `line ${line}` }).first().waitFor();
    await this.page.keyboard.press('Enter');
    await this.quickInput.waitFor({ state: 'hidden' });
    await this.page.getByText(new RegExp(`^Ln ${line}, Col \\d+`)).first().waitFor();
  }

  /** Opens a file of the folder by its name. */
  async openFile(name: string): Promise<void> {
    const row = this.page.locator('.quick-input-list .monaco-list-row.focused', { hasText: name });
    const tab = this.page.locator(`.tab.active[data-resource-name="${name}"]`).first();
    await eventually(
      async () => {
        await this.openQuickInput('Control+P', name);
        // The list is filled in several goes: what is focused now may be moved away before the key comes.
        await row.waitFor({ timeout: 5000 }).catch(() => undefined);
        await this.page.keyboard.press('Enter');
        return tab.waitFor({ timeout: 3000 }).then(
          () => true,
          () => false,
        );
      },
      () => `${name} in front`,
    );
    await this.quickInput.waitFor({ state: 'hidden' });
  }

  /** Opens a recording of the folder that is open by its name. */
  async openRecording(name: string): Promise<void> {
    await this.untilRecording(() => this.page.locator('.explorer-folders-view .monaco-list-row', { hasText: exactly(name) }).dblclick(), name);
  }

  /**
   * Opens a recording until it is in front as one. A window that does not know the extension's editor yet, which it is told of
   * after all that can be seen of the extension, opens it as text. To be opened from the Explorer: the list of files remembers that
   * one was text.
   */
  async untilRecording(open: () => Promise<void>, name: string): Promise<void> {
    const tab = this.page.locator(`.tab.active[data-resource-name="${name}"]`).first();
    const group = this.page.locator('.editor-group-container.active');
    // Of a file that is no text the editor says that it is none.
    const text = group.locator(`.monaco-editor[data-uri$="/${name}"]`).or(group.locator('.monaco-editor-pane-placeholder'));
    const overview = this.page.locator('iframe.webview').filter({ visible: true });
    await eventually(
      async () => {
        await open();
        await tab.waitFor();
        await text.or(overview).first().waitFor();
        if ((await text.count()) === 0) {
          return true;
        }
        await this.runCommand('View: Close Editor');
        return false;
      },
      () => `${name} as a recording`,
    );
  }

  /**
   * Presses the key until the input is there and takes the text: a workbench that just came up, or a page that has the focus, may
   * miss the key, and an editor that opens meanwhile closes the input again.
   */
  private async openQuickInput(key: string, text: string): Promise<void> {
    await eventually(
      async () => {
        await this.page.keyboard.press(key);
        try {
          await this.quickInput.waitFor({ timeout: 3000 });
          await this.quickInput.fill(text, { timeout: 3000 });
          return true;
        } catch {
          return false;
        }
      },
      () => `the input that ${key} opens`,
    );
  }

  /**
   * Waits until the next window would open the recording in front as one: which pages are open is written down every few seconds,
   * not when they open. Read from where VS Code keeps its state in a browser, a database for each workspace.
   */
  async untilPageIsKept(): Promise<void> {
    const keptEditors = (): Promise<string[]> =>
      this.page.evaluate(async () => {
        const answer = <T>(request: IDBRequest<T>): Promise<T> =>
          new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(new Error(String(request.error)));
          });
        const names = (await indexedDB.databases()).map(({ name = '' }) => name);
        const kept = names
          .filter((name) => name.startsWith('vscode-web-state-db-'))
          .map(async (name) => {
            const database = await answer(indexedDB.open(name));
            try {
              return await answer<unknown>(database.transaction('ItemTable').objectStore('ItemTable').get('memento/workbench.parts.editor'));
            } finally {
              database.close();
            }
          });
        return (await Promise.all(kept)).map(String);
      });
    await eventually(
      async () => (await keptEditors()).some((editors) => editors.includes('longpole.recording')),
      () => 'the page to be kept for the next window',
    );
  }

  /** Waits until the active file has edits that are not saved, or has none. */
  async untilDirty(dirty: boolean): Promise<void> {
    await this.page.locator(dirty ? '.tab.active.dirty' : '.tab.active:not(.dirty)').first().waitFor();
  }

  /** Throws away what was edited in the active file and reads it again, whether or not a watcher saw it change. */
  async revertFile(): Promise<void> {
    await this.runCommand('File: Revert File');
    await this.untilDirty(false);
  }

  /** Selects an action that a row shows under the pointer; a list that is filled anew in between takes it away again. */
  async rowAction(row: Locator, icon: string): Promise<void> {
    await eventually(
      async () => {
        try {
          await row.hover({ timeout: 3000 });
          await row.locator(`.codicon-${icon}`).click({ timeout: 3000 });
          return true;
        } catch {
          await this.page.mouse.move(1, 1);
          return false;
        }
      },
      () => `the action ${icon}`,
    );
  }

  /** Types another program to record than before, and records it. */
  async recordAnother(command: string): Promise<void> {
    await this.runCommand('Longpole: Record Another Program');
    await this.untilAsked('Longpole: What to Record');
    await this.quickInput.fill('Another');
    await this.page.keyboard.press('Enter');
    await this.answer('Longpole: Program to Record', command);
  }

  /** Waits for the input box or list with this title. */
  async untilAsked(title: string): Promise<void> {
    await this.page.locator('.quick-input-widget:visible .quick-input-title', { hasText: title }).waitFor();
  }

  /** Chooses from the list that is open, wherever in it that stands. */
  async choose(text: string): Promise<void> {
    await this.quickInput.fill(text);
    await this.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).click();
  }

  /** Answers the input box with this title. */
  async answer(title: string, text: string): Promise<void> {
    await this.untilAsked(title);
    await this.quickInput.fill(text);
    await this.page.keyboard.press('Enter');
    // Until it is gone it may still be closed without an answer, by the next key.
    await this.page.locator('.quick-input-widget:visible .quick-input-title', { hasText: title }).waitFor({ state: 'hidden' });
  }

  /** The content of the webview that is shown; the one before it may not be gone yet. */
  webview(): FrameLocator {
    return this.page.locator('iframe.webview.ready').filter({ visible: true }).last().contentFrame().frameLocator('iframe#active-frame');
  }

  get quickInput(): Locator {
    return this.page.locator('.quick-input-widget .quick-input-filter input');
  }

  get statusItem(): Locator {
    return this.page.locator('[id="longpole.longpole.cpus"]');
  }

  async statusText(): Promise<string> {
    return ((await this.statusItem.textContent()) ?? '').replace(/\u00a0/g, ' ').trim();
  }

  /** Exactly this text, or one that matches. */
  async untilStatus(wanted: string | RegExp, ms = patience): Promise<void> {
    let found = '';
    await eventually(
      async () => {
        found = await this.statusText();
        return typeof wanted === 'string' ? found === wanted : wanted.test(found);
      },
      () => `${String(wanted)} in the status bar; it is ${found}`,
      ms,
    );
  }

  /** The notification with this text. */
  toast(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast', { hasText: text });
  }

  /** Presses a button of a notification, which goes then; one that is only just sliding in does not feel it. */
  async press(notification: Locator, name: string): Promise<void> {
    const button = notification.getByRole('button', { name });
    await button.waitFor();
    await eventually(
      async () => {
        await button.click({ timeout: 5000 }).catch(() => undefined);
        return notification.waitFor({ state: 'hidden', timeout: 3000 }).then(() => true, () => false);
      },
      () => `the end of the notification in which ${name} is pressed`,
    );
  }

  /** In the terminal that is shown; where it wraps lines does not matter. */
  untilPrinted(text: string): Promise<void> {
    const rows = this.page.locator('.terminal-wrapper.active .xterm-rows');
    let printed = '';
    return eventually(
      async () => {
        printed = (await rows.innerText().catch(() => '')).replace(/\s/g, '');
        return printed.includes(text.replace(/\s/g, ''));
      },
      () => `"${text}" in the terminal, which says ${printed}`,
    );
  }

  /** What stands at the ends of the lines that can be seen, by line number; in one of the editors side by side. */
  async annotations(editor = 0): Promise<Map<number, Annotation>> {
    const found = await this.page.evaluate(async (index) => {
      // What the window has been told is in the page with its next frame.
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      const root = document.querySelectorAll('.editor-instance')[index];
      if (root === undefined) {
        return [];
      }
      const top = (element: Element): string => (element as HTMLElement).style.top;
      const numbers = new Map<string, number>();
      for (const row of root.querySelectorAll('.margin-view-overlays > div')) {
        const number = row.querySelector('.line-numbers')?.textContent;
        if (number) {
          numbers.set(top(row), Number(number));
        }
      }
      const unquoted = (content: string): string => (/^"/.test(content) ? (JSON.parse(content) as string) : '');
      const result: [number, { text: string; barWidth: number; colour: string }][] = [];
      for (const line of root.querySelectorAll('.view-lines > .view-line')) {
        let text = '';
        let colour = '';
        let barWidth = 0;
        for (const span of line.querySelectorAll('span[class*="ced-"]')) {
          const after = getComputedStyle(span, '::after');
          const content = unquoted(after.content);
          if (content !== '') {
            text += content;
            colour = after.color;
          }
          const before = getComputedStyle(span, '::before');
          if (before.content !== 'none' && before.position === 'absolute') {
            barWidth = Math.max(barWidth, parseFloat(before.width) || 0);
          }
        }
        if (text !== '' || barWidth > 0) {
          result.push([numbers.get(top(line)) ?? -1, { text: text.replace(/\u00a0/g, ' '), barWidth, colour }]);
        }
      }
      return result;
    }, editor);
    return new Map(found);
  }

  /** Waits until the annotations are as wanted, and returns them. */
  async untilAnnotations(
    wanted: (annotations: Map<number, Annotation>) => boolean,
    what: string,
    editor = 0,
  ): Promise<Map<number, Annotation>> {
    let annotations = new Map<number, Annotation>();
    await eventually(async () => {
      annotations = await this.annotations(editor);
      return wanted(annotations);
    }, () => `${what}; there are ${JSON.stringify([...annotations])}`);
    return annotations;
  }

  /** Waits until the annotations are those of before, to the last pixel: text, bar and colour are painted one after the other. */
  async untilSameAnnotations(before: Map<number, Annotation>): Promise<void> {
    await this.untilAnnotations((found) => isDeepStrictEqual(found, before), `the annotations of before, ${JSON.stringify([...before])}`);
  }

  /** Puts the pointer on it until the tooltip with this text is shown: the editor may take one away again, or show what was to be said before. */
  async tooltip(of: Locator, text: string | RegExp): Promise<Locator> {
    const tooltip = this.page.locator('.monaco-hover:not(.hidden)', { hasText: text }).first();
    await eventually(
      async () => {
        await this.page.mouse.move(5, 400);
        await of.hover();
        return tooltip.waitFor({ timeout: 5000 }).then(
          () => true,
          () => false,
        );
      },
      () => `the tooltip ${String(text)}`,
    );
    return tooltip;
  }

  /** Puts the pointer on a word of a line that can be seen, and returns the hover that appears. */
  async hover(line: number, word: string): Promise<Locator> {
    const hover = this.page.locator('.monaco-hover:not(.hidden) .hover-contents').first();
    await eventually(
      async () => {
        const place = await this.placeOf(line, word);
        if (place === undefined) {
          return false;
        }
        await this.page.mouse.move(place.x - 3, place.y);
        await this.page.mouse.move(place.x, place.y, { steps: 3 });
        // What is painted meanwhile takes a hover away: then the pointer comes again.
        const shown = await hover.waitFor({ timeout: 5000 }).then(
          () => true,
          () => false,
        );
        if (!shown) {
          await this.page.mouse.move(5, 400);
        }
        return shown;
      },
      () => `a hover on "${word}" of line ${line}`,
    );
    // It fades in.
    await hover.evaluate(async (content) => {
      const animations = content.closest('.monaco-hover')?.getAnimations({ subtree: true }) ?? [];
      await Promise.allSettled(animations.map((animation) => animation.finished));
    });
    return hover;
  }

  /** The middle of a word of a line that can be seen. */
  private placeOf(line: number, word: string): Promise<{ x: number; y: number } | undefined> {
    return this.page.evaluate(
      ([wantedLine, wantedWord]) => {
        const row = [...document.querySelectorAll('.margin-view-overlays > div')].find(
          (candidate) => candidate.querySelector('.line-numbers')?.textContent === String(wantedLine),
        ) as HTMLElement | undefined;
        const viewLine = [...document.querySelectorAll('.view-lines > .view-line')].find(
          (candidate) => (candidate as HTMLElement).style.top === row?.style.top,
        );
        const walker = viewLine && document.createTreeWalker(viewLine, NodeFilter.SHOW_TEXT);
        for (let text = walker?.nextNode(); text; text = walker?.nextNode()) {
          const at = text.textContent?.indexOf(wantedWord) ?? -1;
          if (at >= 0) {
            const range = document.createRange();
            range.setStart(text, at);
            range.setEnd(text, at + wantedWord.length);
            const box = range.getBoundingClientRect();
            return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
          }
        }
        return undefined;
      },
      [line, word] as const,
    );
  }
}

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}
