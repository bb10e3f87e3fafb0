import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import type { Task } from 'vscode';
import { runBefore, runTask } from '../../src/editor/preLaunchTask';
import { cancelPressed, messages, progressShown, taskEvents, tasks, Uri } from './standIn';

const task = (name: string, more: object = {}): Task =>
  ({ name, source: 'Workspace', definition: { type: 'shell' }, scope: { uri: Uri.file('/one') }, isBackground: false, ...more }) as unknown as Task;

let terminated = 0;
/** Titles of what was shown while it ran. */
const shown: string[] = [];
const showing = progressShown.event((title) => shown.push(title));
after(() => showing.dispose());
const execution = (of: Task): object => ({ task: of, terminate: () => terminated++ });

/** The next task runs so. */
const runs = (happens: (started: object) => void, isAtOnce = false): void => {
  tasks.executeTask = (of) => {
    const started = execution(of as Task);
    if (isAtOnce) {
      happens(started);
    } else {
      setImmediate(() => happens(started));
    }
    return Promise.resolve(started);
  };
};

const ends = (started: object, exitCode: number | undefined): void => {
  taskEvents.processEnded.fire({ execution: {}, exitCode: 7 });
  if (exitCode !== undefined) {
    taskEvents.processEnded.fire({ execution: started, exitCode });
  }
  taskEvents.ended.fire({ execution: started });
};

beforeEach(() => {
  messages.shown.length = 0;
  shown.length = 0;
  messages.answer = () => undefined;
  tasks.taskExecutions = [];
  terminated = 0;
});

void test('a task that went well is followed by the recording, however soon it ended', async () => {
  runs((started) => ends(started, 0));
  assert.equal(await runTask(task('make')), true);
  runs((started) => ends(started, 0), true);
  assert.equal(await runTask(task('make')), true);
  assert.deepEqual(messages.shown, []);
  // It would only flash.
  assert.deepEqual(shown, []);
});

void test('one that failed, or was not run at all, is a question', async () => {
  runs((started) => ends(started, 3));
  assert.equal(await runTask(task('make')), false);
  assert.deepEqual(messages.shown, ['The task "make" ended with status 3.']);
  messages.answer = (_text, buttons) => buttons.find((button) => button === 'Record Anyway');
  runs((started) => ends(started, undefined));
  assert.equal(await runTask(task('make')), true);
  assert.match(messages.shown[1] ?? '', /could not be run, or a task that it depends on failed/);
});

void test('one that does not end is shown and can be stopped, and nothing is recorded', async () => {
  const cancelling = progressShown.event(() => setImmediate(() => cancelPressed.fire()));
  runs(() => undefined);
  assert.equal(await runTask(task('for ever')), false);
  assert.deepEqual(shown, ['Longpole: for ever']);
  assert.equal(terminated, 1);
  // Not even when the editor never starts it, for it asks something first.
  tasks.executeTask = () => new Promise(() => undefined);
  assert.equal(await runTask(task('asked about')), false);
  // One that it starts all the same has to end.
  let start: (started: object) => void = () => undefined;
  tasks.executeTask = () => new Promise((resolve) => (start = resolve));
  assert.equal(await runTask(task('started late')), false);
  start(execution(task('started late')));
  await new Promise(setImmediate);
  assert.equal(terminated, 2);
  assert.deepEqual(messages.shown, []);
  cancelling.dispose();
});

void test('one that takes a while is shown until it ends', async () => {
  const ending = progressShown.event(() => taskEvents.ended.fire({ execution: started }));
  const started = execution(task('make'));
  tasks.executeTask = () => {
    taskEvents.processEnded.fire({ execution: started, exitCode: 0 });
    return Promise.resolve(started);
  };
  assert.equal(await runTask(task('make')), true);
  assert.deepEqual(shown, ['Longpole: make']);
  assert.equal(terminated, 0);
  ending.dispose();
});

void test('one in the background is not waited for: the user knows when it is ready', async () => {
  const watch = task('watch', { isBackground: true });
  messages.answer = (_text, buttons) => buttons.find((button) => button === 'Record Now');
  runs(() => undefined);
  assert.equal(await runTask(watch), true);
  assert.match(messages.shown[0] ?? '', /runs in the background/);
  assert.deepEqual(shown, []);
  // One that runs already has been ready for long.
  tasks.taskExecutions = [execution(task('watch', { isBackground: true }))];
  tasks.executeTask = () => Promise.reject(new Error('it runs already'));
  assert.equal(await runTask(watch), true);
  assert.equal(messages.shown.length, 1);
});

void test('the task of launch.json that is not there is named, with what to do', async () => {
  tasks.all = [task('make', { scope: { uri: Uri.file('/two') } })];
  assert.equal(await runBefore({ kind: 'named', name: 'make' }, Uri.file('/one').toString()), false);
  assert.match(messages.shown[0] ?? '', /^launch\.json has the preLaunchTask "make", but its folder has no such task\./);
  messages.answer = (_text, buttons) => buttons.find((button) => button === 'Record Anyway');
  assert.equal(await runBefore({ kind: 'defaultBuild' }, Uri.file('/two').toString()), true);
  assert.match(messages.shown[1] ?? '', /"Tasks: Configure Default Build Task"\.$/);
  tasks.all = [task('all', { group: { id: 'build', isDefault: true } })];
  runs((started) => ends(started, 0));
  assert.equal(await runBefore({ kind: 'defaultBuild' }, Uri.file('/one').toString()), true);
  assert.equal(await runBefore(undefined, ''), true);
  assert.equal(messages.shown.length, 2);
});
