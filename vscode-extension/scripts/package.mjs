// Packs the extension, with the daemon and the recorder where build/release is configured: a package without them is the
// one for machines on which Longpole cannot record, and says so when it is used.
//
// The daemon is the portable one: it needs glibc and nothing else of the machine it is installed on.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const repository = dirname(here);
const build = join(repository, 'build', 'release');
const targets = ['longpole-portable', 'longpole-recorder'];
const programs = { 'bin/longpole': 'portable/bin/longpole', 'lib/liblongpole-recorder.so': 'lib/liblongpole-recorder.so' };
const libraries = ['libc.so.6', 'libm.so.6', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'];

copyFileSync(join(repository, 'LICENSE'), join(here, 'LICENSE'));
// The walkthrough's example.
mkdirSync(join(here, 'example'), { recursive: true });
copyFileSync(join(repository, 'examples', 'sorter', 'sorter.c'), join(here, 'example', 'sorter.c'));
rmSync(join(here, 'bin'), { recursive: true, force: true });
rmSync(join(here, 'lib'), { recursive: true, force: true });
const complete = existsSync(join(build, 'CMakeCache.txt'));
if (complete) {
  execFileSync('cmake', ['--build', build, '--target', ...targets], { stdio: 'inherit' });
  for (const [place, built] of Object.entries(programs)) {
    mkdirSync(dirname(join(here, place)), { recursive: true });
    copyFileSync(join(build, built), join(here, place));
    const dynamic = execFileSync('readelf', ['--dynamic', '--wide', join(here, place)], { encoding: 'utf8' });
    const strange = [...dynamic.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map((match) => match[1]).filter((name) => !libraries.includes(name));
    if (strange.length > 0) {
      console.error(`package: ${place} needs ${strange.join(', ')}, which not every machine has`);
      process.exit(1);
    }
  }
  chmodSync(join(here, 'bin/longpole'), 0o755);
} else {
  console.warn('package: build/release is not configured; the package will have no daemon and no recorder');
}
const target = complete ? ['--target', `linux-${process.arch}`] : [];
execFileSync(
  join(here, 'node_modules', '.bin', 'vsce'),
  ['package', '--no-dependencies', '--no-rewrite-relative-links', '--allow-missing-repository', ...target, '--out', join(here, 'longpole.vsix')],
  { cwd: here, stdio: 'inherit' },
);
