// Bundles with esbuild, which does not check types: `npm run types` does. Usage: build.mjs extension|tests
import { build } from 'esbuild';
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const common = { absWorkingDir: here, bundle: true, platform: 'node', target: 'node20', logLevel: 'warning' };

const what = process.argv[2];
if (what === 'extension') {
  rmSync(join(here, 'dist'), { recursive: true, force: true });
  await build({
    ...common,
    // Every window with C in it loads the first; the second once something of Longpole is used; gRPC, which takes longer to load than
    // all the rest, with the daemon.
    entryPoints: { extension: 'src/extension.ts', product: 'src/product.ts', client: 'src/daemon/client.ts' },
    outdir: 'dist',
    external: ['vscode', './product.js', './client.js'],
    minify: true,
    sourcemap: true,
    sourcesContent: false,
  });
  await build({
    ...common,
    platform: 'browser',
    target: 'chrome120',
    format: 'iife',
    entryPoints: { timeline: 'src/webview/main.ts', whatIf: 'src/webview/whatIf.ts' },
    outdir: 'dist',
    minify: true,
  });
} else if (what === 'tests') {
  rmSync(join(here, 'out'), { recursive: true, force: true });
  const tests = readdirSync(join(here, 'test'), { recursive: true })
    .filter((path) => /\.(test|measure)\.ts$|(fakeDaemon|[pP]ictures)\.ts$/.test(path))
    .map((path) => join('test', path));
  await build({
    ...common,
    entryPoints: tests,
    outbase: '.',
    outdir: 'out',
    packages: 'external',
    alias: { vscode: './test/parts/standIn.ts' },
    // It has what its tests need; that the editor has all, the compiler of types knows.
    logOverride: { 'import-is-undefined': 'silent' },
    sourcemap: 'inline',
  });
} else {
  console.error('usage: build.mjs extension|tests');
  process.exit(2);
}
