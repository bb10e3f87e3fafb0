// A workspace that was opened through a link, of files that were compiled without one.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import type { LogOutputChannel, TextDocument } from 'vscode';
import { Documents } from '../../src/editor/documents';
import { pathInWorkspace } from '../../src/editor/realPaths';
import type { Session } from '../../src/editor/session';
import { findSource, type Sources } from '../../src/editor/sources';
import { Recording } from '../../src/protocol/longpole/v1/recording';
import { EventEmitter, Uri, workspace } from './standIn';

const home = realpathSync(mkdtempSync(join(tmpdir(), 'links-')));
after(() => rmSync(home, { recursive: true }));
const [real, link] = [join(home, 'disk', 'project'), join(home, 'project')];
mkdirSync(join(real, 'src'), { recursive: true });
symlinkSync(real, link);
const text = 'int one;\nint two;\n';
writeFileSync(join(real, 'src', 'main.c'), text);
const [recorded, opened] = [join(real, 'src', 'main.c'), join(link, 'src', 'main.c')];

function document(path: string, content = text): TextDocument {
  const lines = content.split('\n');
  const uri = Uri.file(path);
  return { uri, fileName: path, isClosed: false, isDirty: false, encoding: 'utf8', lineCount: lines.length, lineAt: (line: number) => ({ text: lines[line] }) } as unknown as TextDocument;
}

beforeEach(() => {
  workspace.workspaceFolders = [{ name: 'project', index: 0, uri: Uri.file(link) }];
  workspace.textDocuments = [];
});

void test('a file is known by whatever path it was opened', async () => {
  // Another version by now: its content does not tell what it is.
  const sha256 = createHash('sha256').update('int one;\n').digest('hex');
  const recording = { info: Recording.create({ files: [{ path: recorded, sha256, modules: [] }] }) };
  const changed = new EventEmitter<void>();
  const session = { recording: undefined as unknown, onDidChange: changed.event };
  const sources = { keep: () => Promise.resolve(), bytesOf: () => Promise.resolve(Buffer.from('int one;\n')) } as unknown as Sources;
  const documents = new Documents(session as unknown as Session, sources, { warn: () => undefined } as unknown as LogOutputChannel);
  session.recording = recording;
  changed.fire();
  const state = await documents.learn(document(opened));
  assert.equal(state?.kind, 'followed');
  assert.equal(state?.file, recorded);
  documents.dispose();
});

void test('a link leads to the document that is open, or to the file as it is in the workspace', async () => {
  assert.equal(await findSource(recorded), opened);
  assert.equal(await findSource(opened), opened);
  workspace.textDocuments = [document(recorded)];
  assert.equal(await findSource(recorded), recorded);
  assert.equal(await findSource(opened), recorded);
  workspace.textDocuments = [document(recorded), document(opened)];
  assert.equal(await findSource(opened), opened);
  // What is elsewhere is opened where it is.
  workspace.workspaceFolders = undefined;
  workspace.textDocuments = [];
  assert.equal(await findSource(recorded), recorded);
});

void test('a source is in the workspace by whatever path', () => {
  assert.equal(pathInWorkspace(recorded), opened);
  assert.equal(pathInWorkspace(opened), opened);
  assert.equal(pathInWorkspace(join(home, 'disk', 'other.c')), undefined);
});
