// Commands that the manifest offers are there, and those that run programs are the ones that it holds back without trust.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { commandNames, runsPrograms } from '../../src/core/commandNames';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string; readonly enablement?: string }[] };
}

const { commands } = (JSON.parse(readFileSync('package.json', 'utf8')) as Manifest).contributes;
const nameOf = (command: string): string => command.replace(/^longpole\./, '');

void test('every command of the manifest is one of ours', () => {
  const unknown = commands.map(({ command }) => nameOf(command)).filter((name) => !commandNames.some((ours) => ours === name));
  assert.deepEqual(unknown, []);
});

void test('what runs programs is offered only where the workspace is trusted, and nothing else needs that', () => {
  const offered = commands.filter(({ enablement }) => enablement?.includes('isWorkspaceTrusted')).map(({ command }) => nameOf(command));
  assert.deepEqual(offered.sort(), [...runsPrograms].sort());
});
