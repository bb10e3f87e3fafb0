// Keeps one daemon running for this window: started when first needed, checked before it is used, started again when it
// crashed, stopped with the extension.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';
import { protocolProblem } from '../core/handshake';
import { RestartLimit } from '../core/restarts';
import type { GetServerInfoResponse } from '../protocol/longpole/v1/longpole';
import type { DaemonClient } from './client';
import { startDaemon, type DaemonProcess } from './process';

export interface Connection {
  readonly client: DaemonClient;
  readonly info: GetServerInfoResponse;
}

/** A process that was killed is gone well within this; one that only closed its socket is asked again all the same. */
const noticeEndMs = 5_000;

/** What ends again and again, or does not start, is left alone until the user asks for it: a hover is no reason to try once more. */
export class GivenUp extends Error {
  readonly isGivenUp = true;
  constructor(readonly why: string) {
    super(`${why}\nIt has failed several times within a minute and is not started by itself any more. Once what stands in its way is put right, restart it.`);
  }
}

export type DaemonState = 'stopped' | 'starting' | 'running' | 'failed';

export class Daemon implements vscode.Disposable {
  private readonly stateChanged = new vscode.EventEmitter<DaemonState>();
  private readonly restarts = new RestartLimit(3, 60_000);
  private current: DaemonState = 'stopped';
  private connecting: Promise<Connection> | undefined;
  private running: { process: DaemonProcess; client: DaemonClient } | undefined;
  private disposed = false;
  private lastProblem = '';
  private givenUp: GivenUp | undefined;
  private readonly subscription: vscode.Disposable;

  private readonly restarted = new vscode.EventEmitter<string>();

  readonly onDidChangeState = this.stateChanged.event;
  /** It ended by itself, how is said, and another one runs in its place. */
  readonly onDidRestart = this.restarted.event;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
  ) {
    this.subscription = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('longpole.daemon.path')) {
        this.forgive();
      }
    });
  }

  get state(): DaemonState {
    return this.current;
  }

  /** Why it is `failed`, in words for the user. */
  get problem(): string {
    return this.lastProblem;
  }

  /**
   * The running daemon; starts it when there is none.
   *
   * Looking at recordings needs it also where the workspace is not trusted; it runs nothing of the workspace's for that.
   *
   * @throws Error for the user: no daemon, another protocol, or it was given up.
   */
  connection(): Promise<Connection> {
    if (this.givenUp !== undefined) {
      return Promise.reject(this.givenUp);
    }
    this.connecting ??= this.connect().catch((error: unknown) => {
      this.connecting = undefined;
      const why = error instanceof Error ? error.message : String(error);
      if (!this.restarts.mayRestart(Date.now())) {
        this.givenUp = new GivenUp(why);
      }
      this.fail(why);
      throw error;
    });
    return this.connecting;
  }

  private fail(why: string): void {
    this.lastProblem = why;
    this.setState('failed');
  }

  /** The next question starts it again. */
  private forgive(): void {
    this.restarts.forget();
    this.givenUp = undefined;
  }

  /** To be called when a call found no daemon: resolves once its process is seen to have ended, which is told later than the call. */
  async noticeEnd(): Promise<void> {
    const ended = this.running?.process.ended;
    await (ended && Promise.race([ended, sleep(noticeEndMs)]));
  }

  async restart(): Promise<void> {
    this.forgive();
    await this.stop();
    await this.connection();
  }

  async stop(): Promise<void> {
    // A start under way is waited for: what it started would be left behind otherwise.
    await this.connecting?.catch(() => undefined);
    const running = this.running;
    this.running = undefined;
    this.connecting = undefined;
    if (running !== undefined) {
      running.client.close();
      await running.process.stop();
      this.log.info('daemon stopped');
    }
    this.setState('stopped');
  }

  dispose(): void {
    this.disposed = true;
    this.subscription.dispose();
    void this.stop();
    this.stateChanged.dispose();
    this.restarted.dispose();
  }

  private async connect(): Promise<Connection> {
    this.setState('starting');
    const path = this.findProgram();
    this.log.info(`starting ${path}`);
    // Loaded here and not before, for gRPC takes longer to load than all the rest; and while the daemon starts.
    const [process, { DaemonClient }] = await Promise.all([
      startDaemon(path, (line) => this.log.info(`daemon: ${line}`)),
      import('./client.js'),
    ]);
    const client = new DaemonClient(process.ready.socket);
    try {
      const info = await client.getServerInfo();
      const own = (this.context.extension.packageJSON as { version: string }).version;
      const problem = protocolProblem(info, own);
      if (problem !== undefined) {
        throw new Error(problem);
      }
      this.log.info(`daemon ${info.version} ${info.commit} at ${process.ready.socket}, protocol ${info.protocol}`);
      if (info.version !== own) {
        this.log.warn(`daemon ${info.version} and extension ${own} are of different versions`);
      }
      if (this.disposed) {
        throw new Error('The extension is being stopped.');
      }
      this.running = { process, client };
      void process.ended.then((how) => this.processEnded(process, how));
      this.setState('running');
      return { client, info };
    } catch (error) {
      client.close();
      await process.stop();
      throw error;
    }
  }

  private processEnded(process: DaemonProcess, how: string): void {
    if (this.running?.process !== process) {
      return;
    }
    this.running.client.close();
    this.running = undefined;
    this.connecting = undefined;
    this.log.error(`daemon ${how}`);
    if (this.restarts.mayRestart(Date.now())) {
      this.connection().then(
        () => this.restarted.fire(how),
        (error: unknown) => this.log.error(String(error)),
      );
    } else {
      this.givenUp = new GivenUp(`Longpole's daemon ${how} again and again.`);
      this.fail(this.givenUp.why);
      void this.offerRestart(how);
    }
  }

  private async offerRestart(how: string): Promise<void> {
    const again = 'Restart Daemon';
    const log = 'Show Log';
    const answer = await vscode.window.showErrorMessage(`Longpole's daemon ${how} again and again.`, again, log);
    if (answer === again) {
      await vscode.commands.executeCommand('longpole.restartDaemon');
    } else if (answer === log) {
      this.log.show();
    }
  }

  /**
   * The program `longpole` that this window uses.
   *
   * @throws Error for the user when there is none.
   */
  findProgram(): string {
    const configured = vscode.workspace.getConfiguration('longpole').get<string>('daemon.path', '');
    if (configured !== '') {
      return configured;
    }
    const bundled = join(this.context.extensionPath, 'bin', 'longpole');
    if (!existsSync(bundled)) {
      throw new Error(
        `This package of Longpole brings no daemon for this machine (${process.platform} ${process.arch}): ` +
          'build Longpole on Linux and name its build/release/bin/longpole in the setting longpole.daemon.path.',
      );
    }
    return bundled;
  }

  private setState(state: DaemonState): void {
    if (this.current !== state) {
      this.current = state;
      if (!this.disposed) {
        this.stateChanged.fire(state);
      }
    }
  }
}
