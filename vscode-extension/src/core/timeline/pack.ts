// Plain data with typed arrays, in and out of one block of bytes. The editor's messages carry at most some two hundred blocks, and
// a timeline has thousands of arrays.

const kinds = { Float64Array, Float32Array, Uint32Array, Uint8Array } as const;
type Kind = keyof typeof kinds;
type Numbers = InstanceType<(typeof kinds)[Kind]>;

/** Stands for an array: its kind, where it begins, how many numbers it has. */
interface Reference {
  readonly numbers: readonly [Kind, number, number];
}

export interface Packed {
  readonly json: string;
  readonly bytes: Uint8Array;
}

export function pack(data: unknown): Packed {
  const arrays: Numbers[] = [];
  let size = 0;
  const json = JSON.stringify(data, (_key, value: unknown) => {
    const kind = kindOf(value);
    if (kind === undefined) {
      return value;
    }
    const array = value as Numbers;
    const reference: Reference = { numbers: [kind, size, array.length] };
    arrays.push(array);
    // Each begins where the largest numbers may.
    size += Math.ceil(array.byteLength / 8) * 8;
    return reference;
  });
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += Math.ceil(array.byteLength / 8) * 8;
  }
  return { json, bytes };
}

/** What was packed. Its arrays are views of one copy of the bytes. */
export function unpack<T>({ json, bytes }: Packed): T {
  // Views of eight bytes begin at multiples of eight of a buffer: where the message has put the bytes, they need not.
  const aligned = new Uint8Array(bytes);
  return JSON.parse(json, (_key, value: unknown) => {
    const numbers = (value as Partial<Reference> | null)?.numbers;
    return Array.isArray(numbers) ? new kinds[numbers[0]](aligned.buffer, aligned.byteOffset + numbers[1], numbers[2]) : value;
  }) as T;
}

function kindOf(value: unknown): Kind | undefined {
  return (Object.keys(kinds) as Kind[]).find((kind) => value instanceof kinds[kind]);
}
