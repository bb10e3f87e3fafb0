// Packs the extension, with the daemon and the recorder where build/release has them: a package without them is the one
// for machines on which Longpole cannot record, and says so when it is used.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const repository = dirname(here);
const build = join(repository, 'build', 'release');
const programs = ['bin/longpole', 'lib/liblongpole-recorder.so'];

copyFileSync(join(repository, 'LICENSE'), join(here, 'LICENSE'));
rmSync(join(here, 'bin'), { recursive: true, force: true });
rmSync(join(here, 'lib'), { recursive: true, force: true });
const complete = programs.every((program) => existsSync(join(build, program)));
if (complete) {
  for (const program of programs) {
    mkdirSync(dirname(join(here, program)), { recursive: true });
    copyFileSync(join(build, program), join(here, program));
  }
  chmodSync(join(here, 'bin/longpole'), 0o755);
} else {
  console.warn('package: build/release has no daemon and recorder; the package will have none either');
}
const target = complete ? ['--target', `linux-${process.arch}`] : [];
execFileSync(
  join(here, 'node_modules', '.bin', 'vsce'),
  ['package', '--no-dependencies', '--no-rewrite-relative-links', '--allow-missing-repository', ...target, '--out', join(here, 'longpole.vsix')],
  { cwd: here, stdio: 'inherit' },
);
