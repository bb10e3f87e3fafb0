// What the daemon says before it may be talked to: one line on standard output, then GetServerInfo.

/** The protocol this extension speaks; proto/README.md says when it is raised. */
export const protocolVersion = 1;

export interface Ready {
  readonly socket: string;
  readonly protocol: number;
  readonly version: string;
}

/**
 * The READY line, taken apart; undefined for any other line.
 *
 * @throws Error when the line starts as one and is none.
 */
export function parseReadyLine(line: string): Ready | undefined {
  const start = 'READY ';
  if (!line.startsWith(start)) {
    return undefined;
  }
  const ready: unknown = JSON.parse(line.slice(start.length));
  if (
    typeof ready !== 'object' ||
    ready === null ||
    !('socket' in ready && typeof ready.socket === 'string') ||
    !('protocol' in ready && typeof ready.protocol === 'number') ||
    !('version' in ready && typeof ready.version === 'string')
  ) {
    throw new Error(`the daemon's READY line lacks its socket, protocol or version: ${line}`);
  }
  return { socket: ready.socket, protocol: ready.protocol, version: ready.version };
}

/** Why the two cannot work together, with what to do; undefined when they can. */
export function protocolProblem(
  daemon: { readonly protocol: number; readonly version: string },
  extensionVersion: string,
): string | undefined {
  if (daemon.protocol === protocolVersion) {
    return undefined;
  }
  const older = daemon.protocol < protocolVersion ? 'the daemon' : 'the extension';
  return (
    `Longpole's daemon ${daemon.version} speaks protocol ${daemon.protocol} and the extension ${extensionVersion} ` +
    `speaks protocol ${protocolVersion}: update ${older}, or correct the setting longpole.daemon.path.`
  );
}
