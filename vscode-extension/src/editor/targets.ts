// From what is remembered to what is run: launch.json with its variables, CMake Tools' launch target, command lines.
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import * as vscode from 'vscode';
import { parseCommandLine } from '../core/commandLine';
import { nativeConfigurations, parseEnvFile, type LaunchConfiguration } from '../core/launchConfigurations';
import type { WantedTask } from '../core/preLaunch';
import type { Target } from '../core/targets';
import { expandVariables } from '../core/variables';
import type { Run } from './followRecording';

export interface ResolvedTarget extends Run {
  /** Runs before; undefined: nothing. */
  readonly preLaunchTask?: WantedTask | undefined;
  /** The URI of the folder whose launch.json says so. */
  readonly folder?: string;
}

const cmakeExtension = 'ms-vscode.cmake-tools';

/** Everything that could be recorded without typing. */
export function foundTargets(): Target[] {
  const found: Target[] = (vscode.workspace.workspaceFolders ?? []).flatMap((folder) =>
    launchConfigurations(folder).map(({ name }) => ({ kind: 'launch', name, folder: folder.uri.toString() }) as const),
  );
  if (vscode.extensions.getExtension(cmakeExtension) !== undefined) {
    found.push({ kind: 'cmake' });
  }
  return found;
}

/**
 * @throws Error for the user when the target is not there any more or cannot be resolved; undefined when the user was asked for
 * an input and gave none.
 */
export async function resolveTarget(target: Target): Promise<ResolvedTarget | undefined> {
  switch (target.kind) {
    case 'command':
      return resolveCommand(target.command, target.directory);
    case 'launch':
      return resolveLaunch(target.name, target.folder);
    case 'cmake':
      return resolveCmake();
  }
}

export function directoryToRunIn(): string {
  const active = vscode.window.activeTextEditor?.document.uri;
  const folder = (active && vscode.workspace.getWorkspaceFolder(active)) ?? vscode.workspace.workspaceFolders?.[0];
  return folder?.uri.fsPath ?? process.env['HOME'] ?? '/';
}

function resolveCommand(command: string, directory: string): ResolvedTarget {
  const parsed = parseCommandLine(command);
  if ('problem' in parsed) {
    throw new Error(parsed.problem);
  }
  const [program = '', ...args] = parsed.words;
  return { program, args, cwd: directory, env: {} };
}

function launchConfigurations(folder: vscode.WorkspaceFolder): LaunchConfiguration[] {
  return nativeConfigurations(vscode.workspace.getConfiguration('launch', folder).get('configurations'));
}

class NoInput extends Error {}

async function resolveLaunch(name: string, folderUri: string): Promise<ResolvedTarget | undefined> {
  const folder = vscode.workspace.workspaceFolders?.find((candidate) => candidate.uri.toString() === folderUri);
  const configuration = folder && launchConfigurations(folder).find((candidate) => candidate.name === name);
  if (folder === undefined || configuration === undefined) {
    throw new Error(`launch.json has no configuration "${name}" any more. Choose another program to record.`);
  }
  if (configuration.unsupported !== '') {
    throw new Error(`launch.json, "${name}": ${configuration.unsupported}`);
  }
  const inputs = new Map<string, string>();
  const expand = (text: string): Promise<string> => expandVariables(text, (variable) => lookUp(variable, folder, inputs));
  try {
    // As debuggers have it: from the folder on, unless it is absolute.
    const cwd = resolve(folder.uri.fsPath, await expand(configuration.cwd));
    const program = await expand(configuration.program);
    const args: string[] = [];
    for (const arg of configuration.args) {
      args.push(await expand(arg));
    }
    const env = await environmentFrom(configuration.envFile === '' ? '' : await expand(configuration.envFile), folder.uri.fsPath);
    for (const [key, value] of Object.entries(configuration.env)) {
      env[key] = await expand(value);
    }
    const preLaunchTask = await expandTask(configuration.preLaunchTask, expand);
    return { program: isAbsolute(program) ? program : join(folder.uri.fsPath, program), args, cwd, env, preLaunchTask, folder: folderUri };
  } catch (error) {
    if (error instanceof NoInput) {
      return undefined;
    }
    throw new Error(`launch.json, "${name}": ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

async function expandTask(task: WantedTask | undefined, expand: (text: string) => Promise<string>): Promise<WantedTask | undefined> {
  if (task?.kind === 'named') {
    return { ...task, name: await expand(task.name) };
  }
  if (task?.kind === 'defined') {
    const definition: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(task.definition)) {
      definition[key] = typeof value === 'string' ? await expand(value) : value;
    }
    return { ...task, definition };
  }
  return task;
}

/** @throws Error for the user when there is no such file. */
async function environmentFrom(file: string, folder: string): Promise<Record<string, string>> {
  if (file === '') {
    return {};
  }
  const path = isAbsolute(file) ? file : join(folder, file);
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(`its envFile ${path} cannot be read.`);
  });
  return parseEnvFile(text);
}

async function lookUp(name: string, folder: vscode.WorkspaceFolder, inputs: Map<string, string>): Promise<string | undefined> {
  const root = folder.uri.fsPath;
  const editor = vscode.window.activeTextEditor;
  const file = editor?.document.uri.scheme === 'file' ? editor.document.fileName : undefined;
  const [kind, rest] = name.includes(':') ? [name.slice(0, name.indexOf(':')), name.slice(name.indexOf(':') + 1)] : [name, ''];
  switch (kind) {
    case 'workspaceFolder':
    case 'workspaceRoot':
      return rest === '' ? root : vscode.workspace.workspaceFolders?.find((other) => other.name === rest)?.uri.fsPath;
    case 'workspaceFolderBasename':
      return basename(root);
    case 'cwd':
      return root;
    case 'userHome':
      return homedir();
    case 'pathSeparator':
    case '/':
      return sep;
    case 'file':
      return file;
    case 'fileBasename':
      return file && basename(file);
    case 'fileBasenameNoExtension':
      return file && basename(file, extname(file));
    case 'fileExtname':
      return file && extname(file);
    case 'fileDirname':
      return file && dirname(file);
    case 'fileDirnameBasename':
      return file && basename(dirname(file));
    case 'relativeFile':
      return file && relative(root, file);
    case 'relativeFileDirname':
      return file && relative(root, dirname(file));
    case 'lineNumber':
      return editor && String(editor.selection.active.line + 1);
    case 'selectedText':
      return editor?.document.getText(editor.selection);
    case 'env':
      return process.env[rest] ?? '';
    case 'config': {
      const value = vscode.workspace.getConfiguration(undefined, folder).get<unknown>(rest);
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
    }
    case 'command':
      return asText(await vscode.commands.executeCommand<unknown>(rest));
    case 'input':
      return askInput(rest, folder, inputs);
    default:
      return undefined;
  }
}

interface LaunchInput {
  readonly id?: string;
  readonly type?: string;
  readonly description?: string;
  readonly default?: string;
  readonly password?: boolean;
  readonly options?: readonly (string | { readonly label?: string; readonly value: string })[];
  readonly command?: string;
  readonly args?: unknown;
}

/** An input of launch.json, asked for once per run. */
async function askInput(id: string, folder: vscode.WorkspaceFolder, inputs: Map<string, string>): Promise<string | undefined> {
  const known = inputs.get(id);
  if (known !== undefined) {
    return known;
  }
  const all = vscode.workspace.getConfiguration('launch', folder).get<LaunchInput[]>('inputs') ?? [];
  const input = all.find((candidate) => candidate.id === id);
  if (input === undefined) {
    return undefined;
  }
  const value = await valueOf(input);
  if (value === undefined) {
    throw new NoInput();
  }
  inputs.set(id, value);
  return value;
}

async function valueOf(input: LaunchInput): Promise<string | undefined> {
  switch (input.type) {
    case 'promptString':
      return vscode.window.showInputBox({ prompt: input.description, value: input.default, password: input.password });
    case 'pickString': {
      const items = (input.options ?? []).map((option) =>
        typeof option === 'string' ? { label: option, value: option } : { label: option.label ?? option.value, value: option.value },
      );
      return (await vscode.window.showQuickPick(items, { placeHolder: input.description }))?.value;
    }
    case 'command':
      return asText(await vscode.commands.executeCommand<unknown>(input.command ?? '', input.args));
    case undefined:
    default:
      throw new Error(`\${input:${input.id}} has no type that is known.`);
  }
}

async function resolveCmake(): Promise<ResolvedTarget> {
  if (vscode.extensions.getExtension(cmakeExtension) === undefined) {
    throw new Error('CMake Tools is not there any more. Choose another program to record.');
  }
  // This one builds first where cmake.buildBeforeRun says so; the other question must not build a second time.
  const program = asText(await vscode.commands.executeCommand<unknown>('cmake.launchTargetPath'));
  if (program === undefined || program === '') {
    throw new Error('CMake Tools has no launch target: configure the project and run "CMake: Set Launch/Debug Target".');
  }
  const directory = asText(await vscode.commands.executeCommand<unknown>('cmake.getLaunchTargetDirectory'));
  const configured = vscode.workspace.getConfiguration('cmake').get<{ args?: unknown; cwd?: unknown }>('debugConfig');
  const args = Array.isArray(configured?.args) ? configured.args.filter((arg) => typeof arg === 'string') : [];
  return { program, args, cwd: directory ?? dirname(program), env: {} };
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
