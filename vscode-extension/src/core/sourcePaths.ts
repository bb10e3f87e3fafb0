// Where the files of a recording are on this machine, when it was made on another one or in another folder.
import type { Recording } from '../protocol/longpole/v1/recording';

/** Folders of the recording, each with the folder that it is here. */
export type SourceFileMap = Readonly<Record<string, string>>;

/** The path here; the longest folder that fits decides, and without one the path stays as it is. */
export function mapPath(path: string, map: SourceFileMap): string {
  let best: { from: string; to: string } | undefined;
  for (const [key, to] of Object.entries(map)) {
    const from = key.replace(/\/+$/, '');
    if ((path === from || path.startsWith(`${from}/`)) && from.length >= (best?.from.length ?? 0)) {
      best = { from, to };
    }
  }
  return best === undefined ? path : best.to.replace(/\/+$/, '') + path.slice(best.from.length);
}

/** Of one run of a program, whatever was changed in it since: the lines of one are those of the other. */
export function hasSameFiles(one: Pick<Recording, 'files' | 'startedAtUnixNs'>, other: typeof one): boolean {
  return (
    one.startedAtUnixNs === other.startedAtUnixNs &&
    one.files.length === other.files.length &&
    one.files.every(({ path, sha256 }, index) => path === other.files[index]?.path && sha256 === other.files[index].sha256)
  );
}

/** Of the candidates, the one that ends like the path for the most folders; undefined when two do equally. */
export function bestCandidate(path: string, candidates: readonly string[]): string | undefined {
  const wanted = path.split('/').reverse();
  const ranked = candidates
    .map((candidate) => {
      const parts = candidate.split('/').reverse();
      let same = 0;
      while (same < wanted.length && same < parts.length && wanted[same] === parts[same]) {
        same++;
      }
      return { candidate, same };
    })
    .filter(({ same }) => same > 0)
    .sort((a, b) => b.same - a.same);
  return ranked[0] !== undefined && ranked[0].same !== ranked[1]?.same ? ranked[0].candidate : undefined;
}
