// Generates src/protocol/ from the contract in ../proto. Needs protoc (Debian: protobuf-compiler), as the daemon does.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const output = join(here, 'src', 'protocol');
mkdirSync(output, { recursive: true });
try {
  execFileSync(
    'protoc',
    [
      `--plugin=protoc-gen-ts_proto=${join(here, 'node_modules', '.bin', 'protoc-gen-ts_proto')}`,
      `--ts_proto_out=${output}`,
      // 64-bit numbers as bigint: a time of day in nanoseconds does not fit a double.
      '--ts_proto_opt=esModuleInterop=true,outputServices=grpc-js,forceLong=bigint,oneof=unions-value,env=node,outputJsonMethods=false,useExactTypes=false',
      `--proto_path=${join(here, '..', 'proto')}`,
      ...readdirSync(join(here, '..', 'proto', 'longpole', 'v1')).map((name) => `longpole/v1/${name}`),
    ],
    { stdio: 'inherit' },
  );
} catch (error) {
  if (error.code === 'ENOENT') {
    console.error('generate: protoc is not installed; install it with: apt-get install protobuf-compiler');
  }
  process.exit(1);
}
