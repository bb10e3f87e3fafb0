// What of a program file decides how it can be recorded: line tables, without which there are functions but no lines, and a dynamic
// linker, without which there is nothing. Reads the headers alone.

/** Reads `length` bytes at `offset`; fewer where the file ends. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

const elfHeaderSize = 64;
const sectionHeaderSize = 64;
const mostSections = 10_000;

const programHeaderSize = 56;
/** e_type of programs; those that can be loaded anywhere are shared objects, too. */
const programTypes: readonly number[] = [2, 3];
/** The program header that names the dynamic linker, which loads the recorder. */
const interpreterType = 3;

/** Of a 64-bit little-endian ELF file; undefined: it is none. */
async function readHeader(read: ReadAt): Promise<Buffer | undefined> {
  const header = await read(0, elfHeaderSize);
  const isElf = header.length >= elfHeaderSize && header.toString('latin1', 0, 4) === '\x7fELF' && header[4] === 2 && header[5] === 1;
  return isElf ? header : undefined;
}

/** true only for a 64-bit little-endian ELF program that lists its segments and has no dynamic linker among them. */
export async function isStatic(read: ReadAt): Promise<boolean> {
  const header = await readHeader(read);
  if (header === undefined || !programTypes.includes(header.readUInt16LE(0x10)) || header.readUInt16LE(0x36) !== programHeaderSize) {
    return false;
  }
  const count = header.readUInt16LE(0x38);
  const segments = await read(Number(header.readBigUInt64LE(0x20)), count * programHeaderSize);
  const types = Array.from({ length: Math.floor(segments.length / programHeaderSize) }, (_unused, index) => segments.readUInt32LE(index * programHeaderSize));
  return count > 0 && types.length === count && !types.includes(interpreterType);
}

/** false only for a 64-bit little-endian ELF file that lists its sections and has no debug information among them. */
export async function mayHaveLines(read: ReadAt): Promise<boolean> {
  const header = await readHeader(read);
  if (header === undefined) {
    return true;
  }
  const sectionsAt = Number(header.readBigUInt64LE(0x28));
  const size = header.readUInt16LE(0x3a);
  const count = header.readUInt16LE(0x3c);
  const namesIndex = header.readUInt16LE(0x3e);
  if (size !== sectionHeaderSize || count === 0 || count > mostSections || namesIndex >= count) {
    return true;
  }
  const sections = await read(sectionsAt, size * count);
  if (sections.length < size * count) {
    return true;
  }
  const names = namesIndex * size;
  const namesAt = Number(sections.readBigUInt64LE(names + 0x18));
  const namesLength = Number(sections.readBigUInt64LE(names + 0x20));
  if (namesLength > mostSections * 100) {
    return true;
  }
  const all = (await read(namesAt, namesLength)).toString('latin1').split('\0');
  // Of either DWARF, compressed in the old way, or in a file of its own.
  return all.some((name) => /^\.(z?debug_(line|info)|gnu_debug(link|altlink))$/.test(name));
}
