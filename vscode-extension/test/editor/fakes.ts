// Programs that are the fake daemon with one behaviour each, and the settings that make the extension use them.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after } from 'node:test';

export type Behaviour = 'usual' | 'as-the-file-says' | 'other-protocol' | 'crash-on-start' | 'crash-on-record' | 'refuse-record';

const programs = mkdtempSync(join(tmpdir(), 'fakes-'));
after(() => rmSync(programs, { recursive: true }));

/** Holds the behaviour of `as-the-file-says`. */
export const behaviourFile = join(programs, 'behaviour');

/** The extension calls the program with `serve --parent-stdin`. */
function fake(behaviour: Behaviour): string {
  const path = join(programs, behaviour);
  const script = resolve('out/test/fake-daemon/fakeDaemon.js');
  const word = behaviour === 'as-the-file-says' ? `"$(cat '${behaviourFile}')"` : behaviour;
  writeFileSync(path, `#!/bin/sh\nexec node '${script}' ${word} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

export function fakeSettings(behaviour: Behaviour): Record<string, unknown> {
  return { 'longpole.daemon.path': fake(behaviour), 'longpole.cpus': 8 };
}
