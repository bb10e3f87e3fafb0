// What can be recorded, as it is remembered for a workspace: not resolved, so that what changes in launch.json or in CMake's
// choice of a target is followed.
import { basename } from 'node:path';
import { parseCommandLine } from './commandLine';

export type Target =
  /** Typed by the user, as `parseCommandLine` reads it. */
  | { readonly kind: 'command'; readonly command: string; readonly directory: string }
  /** A configuration of the launch.json of the folder with this URI. */
  | { readonly kind: 'launch'; readonly name: string; readonly folder: string }
  /** The target that CMake Tools would launch. */
  | { readonly kind: 'cmake' };

export const mostTargets = 10;

/** The targets with this one as the latest. */
export function remember(targets: readonly Target[], used: Target): Target[] {
  return [used, ...forget(targets, used)].slice(0, mostTargets);
}

export function forget(targets: readonly Target[], target: Target): Target[] {
  return targets.filter((other) => targetKey(other) !== targetKey(target));
}

/** Equal for targets that are the same. */
export function targetKey(target: Target): string {
  switch (target.kind) {
    case 'command':
      return `command\0${target.directory}\0${target.command}`;
    case 'launch':
      return `launch\0${target.folder}\0${target.name}`;
    case 'cmake':
      return 'cmake';
  }
}

/** What a person calls it. */
export function targetName(target: Target): string {
  switch (target.kind) {
    case 'command': {
      const parsed = parseCommandLine(target.command);
      return basename('words' in parsed ? (parsed.words[0] ?? '') : target.command);
    }
    case 'launch':
      return target.name;
    case 'cmake':
      return 'CMake launch target';
  }
}
