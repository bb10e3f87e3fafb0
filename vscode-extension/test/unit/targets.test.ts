import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { nativeConfigurations, parseEnvFile } from '../../src/core/launchConfigurations';
import { holds, isStatic, mayHaveLines } from '../../src/core/programFile';
import { forget, mostTargets, remember, targetName, type Target } from '../../src/core/targets';
import { expandVariables } from '../../src/core/variables';

void test('configurations of every native debugger are understood', () => {
  const usual = { name: 'run', program: '${workspaceFolder}/a.out', args: [], cwd: '', env: {}, envFile: '', preLaunchTask: undefined, unsupported: '' };
  const rows: [unknown, object | undefined][] = [
    [{ type: 'cppdbg', request: 'launch', name: 'run', program: '${workspaceFolder}/a.out' }, usual],
    [{ type: 'lldb', name: 'run', program: '${workspaceFolder}/a.out', args: "-n 'a b'" }, { ...usual, args: ['-n', 'a b'] }],
    [
      { type: 'cppdbg', name: 'run', program: '${workspaceFolder}/a.out', environment: [{ name: 'A', value: '1' }] },
      { ...usual, env: { A: '1' } },
    ],
    [{ type: 'lldb-dap', name: 'run', program: '${workspaceFolder}/a.out', env: ['A=b=c', '=x'] }, { ...usual, env: { A: 'b=c' } }],
    [{ type: 'lldb', name: 'run', program: '${workspaceFolder}/a.out', env: { A: '1', B: {} } }, { ...usual, env: { A: '1' } }],
    [
      { type: 'gdb', name: 'run', program: '${workspaceFolder}/a.out', args: ['x', 3], cwd: '/tmp', preLaunchTask: 'make' },
      { ...usual, args: ['x'], cwd: '/tmp', preLaunchTask: { kind: 'named', name: 'make' } },
    ],
    [
      { type: 'cppdbg', name: 'run', program: 'a.exe', args: ['x'], linux: { program: '${workspaceFolder}/a.out', args: [] }, windows: { args: ['y'] } },
      usual,
    ],
    [{ type: 'cppdbg', request: 'attach', name: 'run', program: 'a' }, undefined],
    [{ type: 'python', request: 'launch', name: 'run', program: 'a' }, undefined],
    [{ type: 'lldb', name: 'run' }, undefined],
    ['no object', undefined],
    [null, undefined],
  ];
  for (const [configuration, wanted] of rows) {
    assert.deepEqual(nativeConfigurations([configuration]), wanted === undefined ? [] : [wanted], JSON.stringify(configuration));
  }
  assert.deepEqual(nativeConfigurations(undefined), []);
});

void test('what a shell or a debugger would do for the program is named', () => {
  const words = (configuration: object): string => nativeConfigurations([{ name: 'run', program: 'a', ...configuration }])[0]?.unsupported ?? '';
  for (const arg of ['<', '<in.txt', '>', '2>&1', '>>', '&>all.txt', '|', '&&', ';']) {
    assert.ok(words({ type: 'cppdbg', args: ['-n', arg, 'in.txt'] }).startsWith(`its "args" have ${arg}, `), arg);
  }
  // No shell comes between CodeLLDB and its program.
  assert.equal(words({ type: 'lldb', args: ['<', 'in.txt'] }), '');
  assert.equal(words({ type: 'cppdbg', args: ['a<b', '2', '-', '&a'] }), '');
  for (const stdio of ['in.txt', [null, 'in.txt'], { stdout: 'in.txt' }]) {
    assert.match(words({ type: 'lldb', stdio }), /^its "stdio" is in\.txt, .* Put the command into a script, and record that\.$/);
  }
  assert.equal(words({ type: 'lldb', stdio: null }), '');
  assert.equal(words({ type: 'lldb', stdio: [null, null] }), '');
});

void test('variables are replaced once, and one that is not known is an error', async () => {
  const values: Record<string, string> = { a: '1', 'env:B': '${a}', empty: '' };
  const expand = (text: string): Promise<string> => expandVariables(text, (name) => Promise.resolve(values[name]));
  assert.equal(await expand('${a}/${env:B}-${empty}-$a {a}'), '1/${a}--$a {a}');
  assert.equal(await expand('plain'), 'plain');
  await assert.rejects(expand('${a} ${nothing}'), /\$\{nothing\} has no value here/);
});

void test('an envFile is read as debuggers read it', () => {
  const text = '\uFEFF# comment\nA=1\r\nexport B = two words \nC="a\\nb # c"\nD=\'$x\'\nE=\nF=5 # five\nnot a line\n=x\n';
  assert.deepEqual(parseEnvFile(text), { A: '1', B: 'two words', C: 'a\nb # c', D: '$x', E: '', F: '5' });
});

void test('targets are remembered latest first, each once', () => {
  const command = (text: string): Target => ({ kind: 'command', command: text, directory: '/' });
  let targets: Target[] = [];
  for (let index = 0; index < mostTargets + 5; index++) {
    targets = remember(targets, command(`./p ${index}`));
  }
  assert.equal(targets.length, mostTargets);
  targets = remember(targets, command(`./p ${mostTargets}`));
  assert.equal(targets.length, mostTargets);
  assert.deepEqual(targets[0], command(`./p ${mostTargets}`));
  assert.equal(forget(targets, command(`./p ${mostTargets}`)).length, mostTargets - 1);
  assert.equal(targetName(command("'./a b/sorter' 1")), 'sorter');
});

interface Section {
  readonly name: string;
  readonly content?: Buffer;
  readonly isCompressed?: boolean;
}

/** An ELF file that is nothing but its headers and these sections. */
function elf(all: readonly (string | Section)[]): Buffer {
  const sections = all.map((section) => (typeof section === 'string' ? { name: section } : section));
  const names = Buffer.from(`\0${sections.map(({ name }) => name).join('\0')}\0`);
  const contents = [names, ...sections.map(({ content }) => content ?? Buffer.alloc(0))];
  const headers = contents.map((content, index) => {
    const { name, isCompressed } = sections[index - 1] ?? {};
    const header = Buffer.alloc(64);
    header.writeUInt32LE(name === undefined ? 0 : names.indexOf(`\0${name}\0`) + 1, 0);
    header.writeBigUInt64LE(isCompressed === true ? 0x800n : 0n, 0x08);
    header.writeBigUInt64LE(BigInt(64 + Buffer.concat(contents.slice(0, index)).length), 0x18);
    header.writeBigUInt64LE(BigInt(content.length), 0x20);
    return header;
  });
  const start = Buffer.alloc(64);
  start.write('\x7fELF\x02\x01', 'latin1');
  start.writeBigUInt64LE(BigInt(64 + Buffer.concat(contents).length), 0x28);
  start.writeUInt16LE(64, 0x3a);
  start.writeUInt16LE(headers.length, 0x3c);
  return Buffer.concat([start, ...contents, ...headers]);
}

void test('a program without debug information is told from all others', async () => {
  const rows: [Buffer, boolean][] = [
    [elf(['.text', '.debug_line']), true],
    [elf(['.text', '.zdebug_info']), true],
    [elf(['.text', '.gnu_debuglink']), true],
    [elf(['.text', '.symtab']), false],
    // What it cannot read it does not warn about.
    [Buffer.from('#!/bin/sh\n'.padEnd(100)), true],
    [elf(['.text']).subarray(0, 70), true],
    [Buffer.alloc(0), true],
  ];
  for (const [file, wanted] of rows) {
    const read = (offset: number, length: number): Promise<Buffer> => Promise.resolve(file.subarray(offset, offset + length));
    assert.equal(await mayHaveLines(read), wanted, file.toString('latin1'));
  }
});

void test('a program is taken to hold the sources that its line tables name', async () => {
  const table = Buffer.from('/home/user\0main.c\0lib/queue.h\0');
  const compressed = (type: number): Buffer => {
    const header = Buffer.alloc(24);
    header.writeUInt32LE(type, 0);
    return Buffer.concat([header, deflateSync(table)]);
  };
  const [zlib, other] = [1, 2];
  const rows: [Buffer, string, boolean | undefined][] = [
    [elf(['.text', { name: '.debug_line_str', content: table }]), 'main.c', true],
    [elf(['.text', { name: '.debug_line', content: table }]), 'queue.h', true],
    [elf(['.text', { name: '.debug_line', content: Buffer.alloc(9) }, { name: '.debug_line_str', content: table }]), 'queue.h', true],
    [elf(['.text', { name: '.debug_line_str', content: table }]), 'main.cc', false],
    [elf(['.text', { name: '.debug_line_str', content: table }]), 'home', false],
    [elf([{ name: '.debug_line_str', content: compressed(zlib), isCompressed: true }]), 'main.c', true],
    [elf([{ name: '.debug_line_str', content: compressed(zlib), isCompressed: true }]), 'other.c', false],
    // What cannot be told from the file.
    [elf([{ name: '.debug_line_str', content: compressed(other), isCompressed: true }]), 'other.c', undefined],
    [elf([{ name: '.debug_line', content: compressed(zlib).subarray(0, 30), isCompressed: true }]), 'other.c', undefined],
    [elf([{ name: '.debug_line', content: table }, '.gnu_debugaltlink']), 'other.c', undefined],
    [elf(['.text']), 'main.c', undefined],
    // No program holds any.
    [Buffer.from('#!/bin/sh\nexec main.c\0'.padEnd(100)), 'main.c', false],
    [Buffer.alloc(0), 'main.c', false],
  ];
  for (const [file, source, wanted] of rows) {
    const read = (offset: number, length: number): Promise<Buffer> => Promise.resolve(file.subarray(offset, offset + length));
    assert.equal(await holds(read, source), wanted, `${source} in ${file.toString('latin1')}`);
  }
});

/** An ELF program with segments of these types. */
function program(type: number, segments: readonly number[]): Buffer {
  const file = Buffer.alloc(64 + segments.length * 56);
  file.write('\x7fELF\x02\x01', 'latin1');
  file.writeUInt16LE(type, 0x10);
  file.writeBigUInt64LE(64n, 0x20);
  file.writeUInt16LE(56, 0x36);
  file.writeUInt16LE(segments.length, 0x38);
  segments.forEach((segment, index) => file.writeUInt32LE(segment, 64 + index * 56));
  return file;
}

void test('a static program is told from all others', async () => {
  const [load, interpreter] = [1, 3];
  const rows: [Buffer, boolean][] = [
    [program(2, [load, load]), true],
    [program(3, [load]), true],
    [program(3, [load, interpreter, load]), false],
    [program(2, [interpreter]), false],
    // An object file, one that ends too soon, a script, nothing: the recorder says for itself what is wrong.
    [program(1, []), false],
    [program(2, [load, load]).subarray(0, 100), false],
    [Buffer.from('#!/bin/sh\n'.padEnd(100)), false],
    [Buffer.alloc(0), false],
  ];
  for (const [file, wanted] of rows) {
    const read = (offset: number, length: number): Promise<Buffer> => Promise.resolve(file.subarray(offset, offset + length));
    assert.equal(await isStatic(read), wanted, file.toString('hex'));
  }
});
