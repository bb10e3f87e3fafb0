import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveTarget } from '../../src/editor/targets';
import { settings, Uri, workspace } from './standIn';

const folder = { name: 'here', index: 0, uri: Uri.file('/home/me/here') };
workspace.workspaceFolders = [folder];
settings['launch.configurations'] = [
  { type: 'lldb', name: 'above', program: 'build/sorter', cwd: '${workspaceFolder}/build' },
  { type: 'lldb', name: 'beside', program: 'build/sorter', cwd: 'build' },
  { type: 'lldb', name: 'nowhere', program: 'build/sorter' },
  { type: 'cppdbg', name: 'piped', program: 'build/sorter', args: ['<', 'in.txt'] },
];

const resolved = (name: string): ReturnType<typeof resolveTarget> => resolveTarget({ kind: 'launch', name, folder: folder.uri.toString() });

void test('a configuration of launch.json runs where its debugger would run it', async () => {
  assert.equal((await resolved('above'))?.cwd, '/home/me/here/build');
  assert.equal((await resolved('beside'))?.cwd, '/home/me/here/build');
  assert.equal((await resolved('nowhere'))?.cwd, '/home/me/here');
});

void test('what of a configuration cannot be done is said in place of recording something else', async () => {
  await assert.rejects(resolved('piped'), /launch\.json, "piped": its "args" have <, which is a shell's/);
});
