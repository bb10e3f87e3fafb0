// Makes the pictures of the walkthrough: parts of the window at a size that can be read beside the steps, in every kind of theme. Run
// by `npm run pictures`; needs a C compiler.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Workbench } from './workbench';

const themes = {
  dark: ['Default Dark Modern', 'vs-dark'],
  light: ['Default Light Modern', 'vs'],
  'high-contrast': ['Default High Contrast', 'hc-black'],
  'high-contrast-light': ['Default High Contrast Light', 'hc-light'],
} as const;

interface Clip {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

async function make(): Promise<void> {
  const target = resolve('images', 'walkthrough');
  mkdirSync(target, { recursive: true });
  const base = { 'longpole.cpus': 8, 'longpole.annotations.gutter': true };
  const workbench = await Workbench.start({ folder: '../examples/sorter', settings: base });
  const { page } = workbench;
  const inAllThemes = async (name: string, clip: Clip, prepare: () => Promise<unknown>): Promise<void> => {
    for (const [kind, [theme, css]] of Object.entries(themes)) {
      workbench.server.settings = { ...base, 'workbench.colorTheme': theme };
      await page.locator(`.monaco-workbench.${css}`).waitFor();
      await prepare();
      await page.screenshot({ path: join(target, `${name}-${kind}.png`), clip, animations: 'disabled' });
    }
  };
  try {
    const flags = ['-O1', '-g', '-fno-omit-frame-pointer', '-fno-inline-functions-called-once', '-D_GNU_SOURCE'];
    execFileSync('cc', [...flags, 'sorter.c', '-o', 'sorter', '-pthread'], { cwd: workbench.folder });
    execFileSync('./sorter', ['--make-input', 'numbers'], { cwd: workbench.folder });
    await workbench.openFile('sorter.c');
    await workbench.runCommand('Longpole: Record and Simulate');
    await workbench.answer('Longpole: Program to Record', './sorter numbers');
    await workbench.untilStatus(/^8 CPUs · [\d.]+×$/);
    await page.keyboard.press('Control+J');
    await workbench.runCommand('Notifications: Clear All Notifications');
    await page.keyboard.press('Control+B');
    const lines = readFileSync(join(workbench.folder, 'sorter.c'), 'utf8').split('\n');
    const merge = lines.findIndex((line) => line.includes('static void merge(')) + 1;
    await workbench.goToLine(merge);
    await workbench.untilAnnotations((found) => [...found.values()].some(({ text }) => text.includes('overall')), 'what merge is worth');
    await inAllThemes('lines', { x: 52, y: 240, width: 900, height: 440 }, async () => {
      await page.mouse.move(5, 400);
      await workbench.hover(merge, 'merge');
    });
    await page.mouse.move(5, 400);
    await workbench.statusItem.click();
    await workbench.untilAsked('Longpole: Set CPU Count');
    await inAllThemes('cpus', { x: 430, y: 0, width: 620, height: 344 }, () => workbench.untilAsked('Longpole: Set CPU Count'));
    await page.keyboard.press('Escape');
    await workbench.runCommand('Longpole: What If It Were Faster?');
    await workbench.untilAsked('Longpole: What If');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'merge' }).first().click();
    await workbench.webview().getByText('less time at 8 CPUs').waitFor();
    const panel = await page.locator('iframe.webview.ready').filter({ visible: true }).last().boundingBox();
    const { x = 760, y = 60 } = panel ?? {};
    await inAllThemes('what-if', { x, y, width: 700, height: 390 }, () => workbench.webview().getByText('less time at 8 CPUs').waitFor());
  } finally {
    await workbench.stop();
  }
}

make().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
