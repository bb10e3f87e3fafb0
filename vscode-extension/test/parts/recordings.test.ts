import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, test } from 'node:test';
import type { ExtensionContext } from 'vscode';
import { Recordings } from '../../src/editor/recordings';
import { Memory, TabInputCustom, Uri, window } from './standIn';

const home = mkdtempSync(join(tmpdir(), 'recordings-'));
after(() => rmSync(home, { recursive: true }));

void test('the oldest recordings go, but not those that are looked at', async () => {
  const used: string[] = [];
  const context = { storageUri: Uri.file(home), workspaceState: new Memory() } as unknown as ExtensionContext;
  const recordings = new Recordings(context, () => used);
  mkdirSync(recordings.folder, { recursive: true });
  // The first is the oldest.
  const old = Array.from({ length: 12 }, (_unused, index) => join(recordings.folder, `sorter 2026-01-${String(index + 10)} 12.00.00.lptrace`));
  const named = join(recordings.folder, 'before the change.lptrace');
  [named, ...old].forEach((path, index) => {
    writeFileSync(path, '');
    utimesSync(path, index + 1, index + 1);
  });
  const [shown, inTab, oldest] = old as [string, string, string];
  used.push(shown);
  window.tabGroups.all = [{ tabs: [{ input: new TabInputCustom(Uri.file(inTab)) }, { input: undefined }] }];
  const add = (): Promise<string> => {
    const made = join(home, 'made.lptrace');
    writeFileSync(made, '');
    return recordings.add(made, { program: './sorter', args: [], directory: home });
  };
  const added = await add();
  const left = [named, ...old].filter((path) => existsSync(path));
  assert.deepEqual(left, [named, shown, inTab, ...old.slice(3)], left.map((path) => basename(path)).join(', '));
  assert.equal(existsSync(oldest), false);
  assert.ok(existsSync(added));
  // Once nobody looks at them any more, they go as others do.
  used.pop();
  window.tabGroups.all = [];
  await add();
  assert.equal(existsSync(shown), false);
  assert.equal(existsSync(inTab), false);
});
