import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseTask, taskWords, wantedTask, type KnownTask } from '../../src/core/preLaunch';

const task = (name: string, more: Partial<KnownTask> = {}): KnownTask => ({
  name,
  source: 'Workspace',
  definition: { type: 'shell' },
  folder: 'file:///one',
  isDefaultBuild: false,
  ...more,
});

void test('what launch.json wants before is told by name, by what it is, or as the default', () => {
  assert.deepEqual(wantedTask('make'), { kind: 'named', name: 'make' });
  assert.deepEqual(wantedTask('${defaultBuildTask}'), { kind: 'defaultBuild' });
  assert.deepEqual(wantedTask({ type: 'npm', script: 'watch' }), { kind: 'defined', definition: { type: 'npm', script: 'watch' } });
  for (const nothing of ['', undefined, null, 3, {}]) {
    assert.equal(wantedTask(nothing), undefined);
  }
});

void test('a task is that of the folder that wants it, or of the whole workspace, and of no other folder', () => {
  const [one, two, all] = [task('make'), task('make', { folder: 'file:///two' }), task('make', { folder: undefined })];
  const make = { kind: 'named', name: 'make' } as const;
  assert.equal(chooseTask(make, [all, two, one], 'file:///one'), one);
  assert.equal(chooseTask(make, [one, two, all], 'file:///two'), two);
  assert.equal(chooseTask(make, [one, all], 'file:///two'), all);
  assert.equal(chooseTask(make, [one], 'file:///two'), undefined);
  const [build, buildTwo] = [task('build', { isDefaultBuild: true }), task('build', { isDefaultBuild: true, folder: 'file:///two' })];
  assert.equal(chooseTask({ kind: 'defaultBuild' }, [one, buildTwo, build], 'file:///one'), build);
  assert.equal(chooseTask({ kind: 'defaultBuild' }, [one, buildTwo], 'file:///one'), undefined);
});

void test('a task is known by its label, with or without its source, and by its definition', () => {
  const gcc = task('gcc build active file', { source: 'C/C++', definition: { type: 'cppbuild', options: { cwd: '.' } } });
  const other = task('gcc', { definition: { type: 'shell', command: 'gcc' } });
  const chosen = (preLaunchTask: unknown): KnownTask | undefined => {
    const wanted = wantedTask(preLaunchTask);
    return wanted && chooseTask(wanted, [other, gcc], 'file:///one');
  };
  assert.equal(chosen('C/C++: gcc build active file'), gcc);
  assert.equal(chosen('gcc build active file'), gcc);
  assert.equal(chosen({ type: 'cppbuild' }), gcc);
  assert.equal(chosen({ type: 'cppbuild', options: { cwd: '.' } }), gcc);
  assert.equal(chosen({ type: 'cppbuild', options: { cwd: '..' } }), undefined);
  assert.equal(chosen({ type: 'shell', command: 'gcc' }), other);
  assert.equal(taskWords({ kind: 'defined', definition: { type: 'npm' } }), '{"type":"npm"}');
});
