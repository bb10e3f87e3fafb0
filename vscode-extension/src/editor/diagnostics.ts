// What someone who is to help needs to know, as text that can be pasted: versions, what the machine allows, and whether a small
// program can be recorded and simulated from one end to the other.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import type { Daemon } from '../daemon/daemon';

/** It is dynamically linked on every system, and ends at once. */
const smallProgram = '/usr/bin/true';
const patienceMs = 60_000;

export async function collectDiagnostics(context: vscode.ExtensionContext, daemon: Daemon): Promise<void> {
  const text = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'Longpole: collecting diagnostics' },
    () => diagnostics(context, daemon),
  );
  const document = await vscode.workspace.openTextDocument({ language: 'markdown', content: text });
  await vscode.window.showTextDocument(document);
}

async function diagnostics(context: vscode.ExtensionContext, daemon: Daemon): Promise<string> {
  const { version } = context.extension.packageJSON as { version: string };
  const settings = vscode.workspace.getConfiguration('longpole').inspect('daemon.path');
  const rows: [string, string | Promise<string>][] = [
    ['extension', version],
    ['editor', `${vscode.env.appName} ${vscode.version}${vscode.env.remoteName === undefined ? '' : `, remote: ${vscode.env.remoteName}`}`],
    ['trusted workspace', String(vscode.workspace.isTrusted)],
    ['system', `${process.platform} ${release()} ${process.arch}, ${cpus().length} CPUs`],
    ['distribution', file('/etc/os-release').then((all) => /^PRETTY_NAME="?(.*?)"?$/m.exec(all)?.[1] ?? 'unknown')],
    ['glibc', run('ldd', ['--version']).then((all) => all.split('\n')[0] ?? '')],
    ['kernel.perf_event_paranoid', file('/proc/sys/kernel/perf_event_paranoid')],
    ['longpole.daemon.path', settings?.globalValue === undefined ? 'not set' : JSON.stringify(settings.globalValue)],
    ['program', Promise.resolve().then(() => daemon.findProgram())],
    ['its version', Promise.resolve().then(() => run(daemon.findProgram(), ['--version']))],
    ['daemon', daemon.connection().then(({ info }) => `${info.version} ${info.commit}, protocol ${info.protocol}`)],
    ['record and simulate', vscode.workspace.isTrusted ? roundTrip(daemon) : 'not tried: the workspace is not trusted'],
  ];
  const lines: string[] = [];
  for (const [name, value] of rows) {
    lines.push(`- **${name}**: ${await Promise.resolve(value).catch((error: unknown) => `failed: ${String(error)}`)}`);
  }
  return ['# Longpole diagnostics', '', ...lines, ''].join('\n');
}

async function roundTrip(daemon: Daemon): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'longpole-'));
  try {
    const recording = join(folder, 'small.lptrace');
    const said = await run(daemon.findProgram(), ['record', '-o', recording, '--', smallProgram]);
    const simulated = await run(daemon.findProgram(), ['simulate', recording, '--cpus', '1,2', '--json']);
    const { runs } = JSON.parse(simulated) as { runs: unknown[] };
    return `works (${runs.length} simulations). ${said.replace(/\s*\n\s*/g, ' ')}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(program, [...args], { timeout: patienceMs });
  return (stdout || stderr).trim();
}

async function file(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).trim();
}
