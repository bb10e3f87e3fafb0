// How often a daemon is started that does not live: with a program that notes each start.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import type { ExtensionContext, LogOutputChannel } from 'vscode';
import { Daemon, GivenUp } from '../../src/daemon/daemon';
import { change } from './standIn';

const folder = mkdtempSync(join(tmpdir(), 'daemons-'));
after(() => rmSync(folder, { recursive: true }));
const pids = join(folder, 'pids');
const starts = (): number[] => (existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : []);

function program(name: string, then: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\necho $$ >> '${pids}'\n${then}\n`);
  chmodSync(path, 0o755);
  return path;
}

function daemonOf(path: string): Daemon {
  change('longpole.daemon.path', path);
  rmSync(pids, { force: true });
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as LogOutputChannel;
  return new Daemon({ extension: { packageJSON: { version: '0.9.0' } } } as unknown as ExtensionContext, log);
}

void test('one that does not start is tried a few times, then when the user says so, or names another one', async () => {
  const broken = program('broken', 'echo no room >&2; exit 3');
  const daemon = daemonOf(broken);
  for (let hover = 0; hover < 10; hover++) {
    await assert.rejects(daemon.connection(), /ended with status 3\.\nno room/);
  }
  assert.equal(starts().length, 4);
  assert.equal(daemon.state, 'failed');
  assert.match(daemon.problem, /ended with status 3\.\nno room/);
  await assert.rejects(daemon.connection(), GivenUp);
  await assert.rejects(daemon.restart(), (error) => !(error instanceof GivenUp));
  assert.equal(starts().length, 5);
  for (let hover = 0; hover < 10; hover++) {
    await assert.rejects(daemon.connection());
  }
  const before = starts().length;
  change('longpole.daemon.path', program('broken, too', 'exit 4'));
  await assert.rejects(daemon.connection(), /ended with status 4/);
  assert.equal(starts().length, before + 1);
  daemon.dispose();
});

void test('one that ends by itself again and again is not started by whatever comes next', async (context) => {
  const daemon = daemonOf(program('mortal', `exec '${process.execPath}' '${resolve('out/test/fake-daemon/fakeDaemon.js')}' usual serve --parent-stdin`));
  context.after(() => daemon.stop());
  let restarts = 0;
  daemon.onDidRestart(() => restarts++);
  for (let life = 1; life <= 4; life++) {
    await daemon.connection();
    const ended = new Promise<void>((done) => {
      const listener = daemon.onDidChangeState(() => {
        listener.dispose();
        done();
      });
    });
    process.kill(starts().at(-1) ?? 0, 'SIGKILL');
    await ended;
  }
  assert.equal(daemon.state, 'failed');
  await assert.rejects(daemon.connection(), (error) => error instanceof GivenUp && error.why === "Longpole's daemon was ended by SIGKILL again and again.");
  assert.equal(starts().length, 4);
  assert.equal(restarts, 3);
  await daemon.restart();
  assert.equal(daemon.state, 'running');
  assert.equal(starts().length, 5);
});
