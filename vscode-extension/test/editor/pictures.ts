// Makes the pictures of timelines that the documentation shows: the sorter, producers and consumers before and after, and a chain of
// filters of 64 threads, in a light and a dark theme. Run by `npm run pictures`; needs a C compiler.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { eventually } from './eventually';
import { Workbench } from './workbench';

interface Picture {
  readonly name: string;
  readonly source: string;
  readonly defines: readonly string[];
  readonly prepare?: readonly string[];
  readonly args: readonly string[];
  /** A small part of the run is pictured, too. */
  readonly hasPart?: boolean;
}

const pictures: readonly Picture[] = [
  { name: 'sorter', source: 'sorter/sorter.c', defines: [], prepare: ['--make-input', 'numbers'], args: ['numbers'] },
  { name: 'producer-consumer', source: 'producer-consumer/producer-consumer.c', defines: [], args: [], hasPart: true },
  { name: 'producer-consumer-100', source: 'producer-consumer/producer-consumer.c', defines: ['-DBUFFERS=100'], args: [] },
  // The 63rd prime is 307; with main, the generator, there are 64 threads.
  { name: 'prime-filter', source: 'prime-filter/prime-filter.c', defines: [], args: ['307'] },
];
const themes = { dark: ['Default Dark Modern', 'vs-dark'], light: ['Default Light Modern', 'vs'] } as const;
const settings = (theme: keyof typeof themes): Record<string, unknown> => ({ 'workbench.colorTheme': themes[theme][0], 'longpole.cpus': 8 });

async function make(folder: string): Promise<void> {
  const target = resolve('images', 'timelines');
  mkdirSync(target, { recursive: true });
  const flags = ['-O1', '-g', '-fno-omit-frame-pointer', '-fno-inline-functions-called-once', '-fno-optimize-sibling-calls', '-D_GNU_SOURCE'];
  for (const { name, source, defines, prepare, args } of pictures) {
    execFileSync('cc', [...flags, ...defines, resolve('..', 'examples', source), '-o', name, '-pthread', '-lm'], { cwd: folder });
    if (prepare !== undefined) {
      execFileSync(join(folder, name), [...prepare], { cwd: folder });
    }
    execFileSync(resolve('bin', 'longpole'), ['record', '-o', `${name}.lptrace`, '--', `./${name}`, ...args], { cwd: folder, stdio: 'ignore' });
  }
  const workbench = await Workbench.start({ folder, settings: settings('dark') });
  try {
    const { page } = workbench;
    for (const { name, hasPart = false } of pictures) {
      await workbench.openRecording(`${name}.lptrace`);
      await workbench.webview().getByText(/^[0-9.]+× on 8 CPUs/).waitFor();
      await workbench.runCommand('View: Close All Editors');
      await workbench.runCommand('Longpole: Show Timeline');
      const canvas = workbench.webview().locator('#canvas');
      await canvas.waitFor();
      const panel = page.locator('.part.panel');
      if (((await panel.boundingBox())?.height ?? 0) < 600) {
        await workbench.runCommand('View: Toggle Maximized Panel');
        await eventually(async () => ((await panel.boundingBox())?.height ?? 0) > 600, () => 'a panel as high as the window');
      }
      const drawn = async (suffix: string): Promise<void> => {
        for (const theme of ['dark', 'light'] as const) {
          workbench.server.settings = settings(theme);
          await page.locator(`.monaco-workbench.${themes[theme][1]}`).waitFor();
          await eventually(
            async () => /^[1-9]/.test((await canvas.getAttribute('data-drawn')) ?? '') && (await workbench.webview().locator('h1').innerText()).startsWith(name),
            () => `${name} drawn`,
          );
          await page.mouse.move(2, 2);
          await panel.screenshot({ path: join(target, `${name}${suffix}-${theme}.png`) });
        }
      };
      await drawn('');
      if (hasPart) {
        // An eightieth of the run, in its middle.
        for (let step = 0; step < 4; step++) {
          await canvas.press('Shift++');
        }
        const box = await canvas.boundingBox();
        await canvas.click({ position: { x: (box?.width ?? 0) / 2, y: 10 } });
        await eventually(async () => (await canvas.getAttribute('data-settled')) === 'true' && (await canvas.getAttribute('data-empty')) === '0', () => 'a part');
        // Nothing is framed that has the focus.
        await canvas.evaluate((focused) => focused.blur());
        await drawn('-part');
        await canvas.press('0');
      }
      await workbench.runCommand('View: Toggle Maximized Panel');
    }
  } finally {
    await workbench.stop();
  }
}

const folder = mkdtempSync(join(tmpdir(), 'pictures-'));
make(folder)
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(() => rmSync(folder, { recursive: true }));
