import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import type { ExtensionContext } from 'vscode';
import type { Recorded, RecordProcess } from '../../src/editor/followRecording';
import { startOf } from '../../src/editor/processes';
import { Recordings } from '../../src/editor/recordings';
import { RecordTasks } from '../../src/editor/recordTask';
import { UnderWay } from '../../src/editor/underWay';
import { hasUnfinished } from '../../src/editor/unfinished';
import { Memory, Uri } from './standIn';

const home = mkdtempSync(join(tmpdir(), 'taken-'));
const context = { storageUri: Uri.file(home), workspaceState: new Memory() } as unknown as ExtensionContext;
const recordings = new Recordings(context, () => []);
const children: ChildProcess[] = [];
after(() => {
  children.forEach((child) => child.kill());
  rmSync(home, { recursive: true });
});

/** A process that goes on until it is told to end, with these words in its command line. */
const goesOn = async (...words: string[]): Promise<ChildProcess & { readonly pid: number }> => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000); console.log("runs")', '--', ...words]);
  children.push(child);
  await once(child.stdout, 'data');
  return child as ChildProcess & { readonly pid: number };
};
const end = async (child: ChildProcess): Promise<void> => {
  child.kill();
  await once(child, 'close');
};
/** The number of no process. */
const gone = async (): Promise<number> => {
  const child = await goesOn();
  await end(child);
  return child.pid;
};

const run = { program: '/somewhere/sorter', args: ['8'], cwd: home, env: {} };
const placed = (name: string): Pick<RecordProcess, 'status' | 'output' | 'run'> => ({ status: join(recordings.folder, `.${name}.status`), output: join(recordings.folder, `.${name}.lptrace`), run });
const left = async (follower: number, recording: RecordProcess, followerStart?: string): Promise<void> => {
  writeFileSync(recording.status.replace('.status', '.run'), JSON.stringify({ ...recording, follower, followerStart: followerStart ?? (await startOf(follower)) }));
};
const finish = ({ status, output }: Pick<RecordProcess, 'status' | 'output'>): void => {
  writeFileSync(output, 'recorded');
  writeFileSync(status, JSON.stringify({ recording: output }) + '\n');
};

let recorded: Promise<Recorded>[] = [];
const underWay = new UnderWay();
const tasks = new RecordTasks(recordings, () => 'longpole', () => Promise.resolve([]), (followed) => void recorded.push(followed), underWay);
after(() => {
  tasks.dispose();
  underWay.dispose();
});
beforeEach(() => {
  recorded = [];
  rmSync(recordings.folder, { recursive: true, force: true });
  mkdirSync(recordings.folder, { recursive: true });
});

void test('what was recorded to its end while there was no window is taken up', async () => {
  const places = placed('1');
  await left(await gone(), { ...places, processId: await gone() });
  finish(places);
  assert.equal(await hasUnfinished(recordings.folder), true);
  await tasks.takeUp();
  const [one] = await Promise.all(recorded);
  assert.deepEqual(one?.run, run);
  assert.equal(one.stopped, false);
  assert.match(basename(one.path), /^sorter .*\.lptrace$/);
  assert.deepEqual(readdirSync(recordings.folder), [basename(one.path)]);
  assert.deepEqual((await recordings.list()).map(({ command }) => command), [['/somewhere/sorter', '8']]);
});

void test('what still goes on is followed to its end', async () => {
  const places = placed('2');
  const child = await goesOn('record', '--status', places.status);
  await left(await gone(), { ...places, processId: child.pid });
  await tasks.takeUp();
  assert.equal(recorded.length, 1);
  assert.equal(underWay.first?.name, 'sorter', 'the status bar says so');
  finish(places);
  await end(child);
  const [one] = await Promise.all(recorded);
  assert.equal(underWay.first, undefined);
  assert.ok(existsSync(one?.path ?? ''));
});

void test('what failed says why', async () => {
  const places = placed('3');
  await left(await gone(), { ...places, processId: await gone() });
  writeFileSync(places.status, JSON.stringify({ error: 'the disk is full' }) + '\n');
  await tasks.takeUp();
  await assert.rejects(Promise.all(recorded), /the disk is full/);
  assert.deepEqual(readdirSync(recordings.folder), []);
});

void test('of what ended without a word nothing is left, though its number is that of another process by now', async () => {
  const places = placed('4');
  const other = await goesOn();
  await left(await gone(), { ...places, processId: other.pid });
  writeFileSync(places.status, '');
  await tasks.takeUp();
  assert.equal(recorded.length, 0);
  assert.deepEqual(readdirSync(recordings.folder), []);
  await end(other);
});

void test('what another window follows is left to it as long as it lives', async () => {
  const places = placed('5');
  const window = await goesOn();
  await left(window.pid, { ...places, processId: await gone() });
  finish(places);
  const taken = tasks.takeUp();
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(recorded.length, 0);
  await end(window);
  await taken;
  assert.equal((await Promise.all(recorded)).length, 1);
});

void test('a window whose number is that of another process by now is gone', async () => {
  const places = placed('6');
  const other = await goesOn();
  await left(other.pid, { ...places, processId: await gone() }, '1');
  finish(places);
  await tasks.takeUp();
  assert.equal((await Promise.all(recorded)).length, 1);
  await end(other);
});

void test('a damaged note of a recording keeps no other from being taken up', async () => {
  const places = placed('7');
  const whole = { ...places, processId: await gone(), follower: await gone(), followerStart: '1' };
  const elsewhere = { ...whole, status: join(home, 'elsewhere', '.7.status') };
  const damaged = ['', '{', 'null', '[]', '{}', JSON.stringify({ ...whole, run: undefined }), JSON.stringify({ ...whole, processId: '7' }), JSON.stringify(elsewhere)];
  damaged.forEach((text, index) => writeFileSync(join(recordings.folder, `.damaged-${index}.run`), text));
  await left(whole.follower, whole);
  finish(places);
  await tasks.takeUp();
  assert.equal((await Promise.all(recorded)).length, 1);
});
