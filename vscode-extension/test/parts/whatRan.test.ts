import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { whatRan } from '../../src/editor/whatRan';

void test('of a task with variables it is known what they were when it ran', async (context) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ran-')));
  const asked = { program: '${workspaceFolder}/sorter', args: ['${file}', ''], cwd: '${workspaceFolder}', env: { MODE: '${config:mode}' }, lockstep: 2, turns: 3 };
  const words = ['record', '--status', join(folder, '.1.status'), '--', '/somewhere/sorter', 'a b', ''];
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000); console.log("runs")', '--', ...words], { cwd: folder, env: { MODE: 'fast=1' } });
  context.after(async () => {
    child.kill();
    await once(child, 'close');
    rmSync(folder, { recursive: true });
  });
  await once(child.stdout, 'data');
  const ran = await whatRan(child.pid ?? 0, join(folder, '.1.status'), asked);
  assert.deepEqual(ran, { program: '/somewhere/sorter', args: ['a b', ''], cwd: folder, env: { MODE: 'fast=1' }, lockstep: 2, turns: 3 });
});

void test('what is gone, or is another process by now, ran as the task says', async () => {
  const asked = { program: './sorter', args: [], cwd: '/work', env: {} };
  assert.deepEqual(await whatRan(process.pid, '/nowhere/.1.status', asked), asked);
});
