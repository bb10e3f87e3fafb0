// Whether a program file has line tables, without which a recording has functions but no lines. Reads the headers alone.

/** Reads `length` bytes at `offset`; fewer where the file ends. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

const elfHeaderSize = 64;
const sectionHeaderSize = 64;
const mostSections = 10_000;

/** false only for a 64-bit little-endian ELF file that lists its sections and has no debug information among them. */
export async function mayHaveLines(read: ReadAt): Promise<boolean> {
  const header = await read(0, elfHeaderSize);
  if (header.length < elfHeaderSize || header.toString('latin1', 0, 4) !== '\x7fELF' || header[4] !== 2 || header[5] !== 1) {
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
