// Paths of a recording, which may have been made on another machine; also in pages, where node:path is not.

/** What stands behind the last slash. */
export function basename(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
