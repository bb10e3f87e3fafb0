// What launch.json says about starting a C or C++ program, whichever debugger it was written for: cppdbg of Microsoft's
// C/C++ extension, lldb of CodeLLDB, lldb-dap of LLVM, gdb of the others. Variables are still in it.
import { parseCommandLine } from './commandLine';
import { wantedTask, type WantedTask } from './preLaunch';

export interface LaunchConfiguration {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Empty: the folder's. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A file of NAME=value lines, which `env` has the last word over; empty: none. */
  readonly envFile: string;
  /** undefined: none. */
  readonly preLaunchTask: WantedTask | undefined;
  /** What of it cannot be done here, in words for the user; empty: nothing. */
  readonly unsupported: string;
}

const types: readonly unknown[] = ['cppdbg', 'lldb', 'lldb-dap', 'gdb'];
/** Those that give their arguments to a shell, which takes these words for its own. */
const throughShell: readonly unknown[] = ['cppdbg', 'gdb'];
const shellWord = /^(?:(?:\d*|&)[<>]|(?:&&?|\|\|?|;)$)/;

/** Those of the configurations that start a native program; what is no such thing, or lacks what it takes, is left out. */
export function nativeConfigurations(configurations: unknown): LaunchConfiguration[] {
  return (Array.isArray(configurations) ? (configurations as unknown[]) : []).flatMap((one) => {
    const { type, request, name, program, args, cwd, env, environment, envFile, preLaunchTask, stdio } = onLinux(asRecord(one));
    if (
      !types.includes(type) ||
      (request !== undefined && request !== 'launch') ||
      typeof name !== 'string' ||
      typeof program !== 'string' ||
      program === ''
    ) {
      return [];
    }
    return [
      {
        name,
        program,
        args: argumentsOf(args),
        cwd: typeof cwd === 'string' ? cwd : '',
        env: { ...environmentOf(environment), ...environmentOf(env) },
        envFile: typeof envFile === 'string' ? envFile : '',
        preLaunchTask: wantedTask(preLaunchTask),
        unsupported: unsupported(type, argumentsOf(args), stdio),
      },
    ];
  });
}

/** What stands under "linux" is in place of what stands beside it. */
function onLinux(configuration: Record<string, unknown>): Record<string, unknown> {
  return { ...configuration, ...asRecord(configuration['linux']) };
}

/** Recorded without them, the program would get the words as its arguments, or wait at the terminal for its input. */
function unsupported(type: unknown, args: readonly string[], stdio: unknown): string {
  const instead = 'Put the command into a script, and record that.';
  const word = throughShell.includes(type) ? args.find((arg) => shellWord.test(arg)) : undefined;
  if (word !== undefined) {
    return `its "args" have ${word}, which is a shell's, and a program is recorded without one. ${instead}`;
  }
  const files = Array.isArray(stdio) ? (stdio as unknown[]) : typeof stdio === 'string' ? [stdio] : Object.values(asRecord(stdio));
  const file = files.find((one) => typeof one === 'string' && one !== '');
  return typeof file === 'string' ? `its "stdio" is ${file}, and a program is recorded with its terminal as input and output. ${instead}` : '';
}

/** A list of words, or, as CodeLLDB allows, one text that is split as a shell would. */
function argumentsOf(args: unknown): string[] {
  if (typeof args === 'string') {
    const parsed = parseCommandLine(args);
    return 'words' in parsed ? [...parsed.words] : [];
  }
  return Array.isArray(args) ? args.filter((word) => typeof word === 'string') : [];
}

/** {"NAME": "value"}, [{"name": "NAME", "value": "value"}] or ["NAME=value"]. */
function environmentOf(environment: unknown): Record<string, string> {
  const result: Record<string, string> = {};
  if (Array.isArray(environment)) {
    for (const entry of environment as unknown[]) {
      if (typeof entry === 'string') {
        const equals = entry.indexOf('=');
        if (equals > 0) {
          result[entry.slice(0, equals)] = entry.slice(equals + 1);
        }
      } else {
        const { name, value } = asRecord(entry);
        if (typeof name === 'string' && typeof value === 'string') {
          result[name] = value;
        }
      }
    }
    return result;
  }
  for (const [name, value] of Object.entries(asRecord(environment))) {
    if (typeof value === 'string' || typeof value === 'number') {
      result[name] = String(value);
    }
  }
  return result;
}

/**
 * What an envFile sets: lines of NAME=value, a leading `export` left out, quotes around a value taken away, \\n in double quotes a new
 * line. Blank lines, comments and what is no such line are passed over, as debuggers do.
 */
export function parseEnvFile(text: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const match = /^\s*(?:export\s+)?([\w.-]+)\s*=\s*(.*?)\s*$/.exec(line);
    const [, name, value = ''] = match ?? [];
    if (name === undefined) {
      continue;
    }
    const quoted = /^(["'])(.*)\1$/.exec(value);
    const bare = quoted?.[2] ?? value.replace(/\s+#.*$/, '');
    result[name] = quoted?.[1] === '"' ? bare.replace(/\\n/g, '\n') : bare;
  }
  return result;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
