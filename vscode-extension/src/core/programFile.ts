// What of a program file decides how it can be recorded: line tables, without which there are functions but no lines, and a dynamic
// linker, without which there is nothing. Both stand in its headers. And which source files it was made of, as its line tables say.
import { inflateSync } from 'node:zlib';

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

interface Section {
  readonly name: string;
  readonly offset: number;
  readonly size: number;
  readonly isCompressed: boolean;
}

const compressedFlag = 0x800n;

/** undefined: it is no 64-bit little-endian ELF file that lists its sections. */
async function readSections(read: ReadAt): Promise<Section[] | undefined> {
  const header = await readHeader(read);
  if (header === undefined) {
    return undefined;
  }
  const sectionsAt = Number(header.readBigUInt64LE(0x28));
  const size = header.readUInt16LE(0x3a);
  const count = header.readUInt16LE(0x3c);
  const namesIndex = header.readUInt16LE(0x3e);
  if (size !== sectionHeaderSize || count === 0 || count > mostSections || namesIndex >= count) {
    return undefined;
  }
  const headers = await read(sectionsAt, size * count);
  if (headers.length < size * count) {
    return undefined;
  }
  const sections = Array.from({ length: count }, (_unused, index) => {
    const at = index * size;
    return {
      nameAt: headers.readUInt32LE(at),
      offset: Number(headers.readBigUInt64LE(at + 0x18)),
      size: Number(headers.readBigUInt64LE(at + 0x20)),
      isCompressed: (headers.readBigUInt64LE(at + 0x08) & compressedFlag) !== 0n,
    };
  });
  const namesSection = sections[namesIndex];
  if (namesSection === undefined || namesSection.size > mostSections * 100) {
    return undefined;
  }
  const names = await read(namesSection.offset, namesSection.size);
  return sections.map(({ nameAt, ...section }) => {
    const end = names.indexOf(0, nameAt);
    return { ...section, name: names.toString('latin1', nameAt, end < 0 ? names.length : end) };
  });
}

/** Of either DWARF, compressed in the old way. */
const linesOrInfo = /^\.z?debug_(line|info)$/;
/** It is in a file of its own. */
const elsewhere = /^\.gnu_debug(link|altlink)$/;

/** false only for a 64-bit little-endian ELF file that lists its sections and has no debug information among them. */
export async function mayHaveLines(read: ReadAt): Promise<boolean> {
  const sections = await readSections(read);
  return sections === undefined || sections.some(({ name }) => linesOrInfo.test(name) || elsewhere.test(name));
}

/** More of file names than the largest programs have. */
const mostNames = 2 ** 26;
const compressionHeaderSize = 24;
const zlibCompressed = 1;

/**
 * Whether a program was made of a source file of this name, without its folder, too: false where it has line tables that do not name
 * it, and of what is no 64-bit little-endian ELF file. undefined where that cannot be told.
 */
export async function holds(read: ReadAt, source: string): Promise<boolean | undefined> {
  if ((await readHeader(read)) === undefined) {
    return false;
  }
  // DWARF 5 has the names in a section of their own, DWARF 4 in the tables themselves.
  const sections = (await readSections(read)) ?? [];
  const tables = sections.filter(({ name }) => /^\.debug_line(_str)?$/.test(name));
  if (tables.length === 0 || sections.some(({ name }) => elsewhere.test(name))) {
    return undefined;
  }
  const wanted = Buffer.from(`${source}\0`);
  for (const table of tables) {
    const content = await readSection(read, table);
    const found = content?.includes(wanted);
    if (found !== false) {
      return found;
    }
  }
  return false;
}

/** undefined: it is too large, or in a form that is not known. */
async function readSection(read: ReadAt, { offset, size, isCompressed }: Section): Promise<Buffer | undefined> {
  if (size > mostNames) {
    return undefined;
  }
  const content = await read(offset, size);
  if (!isCompressed) {
    return content;
  }
  if (content.length < compressionHeaderSize || content.readUInt32LE(0) !== zlibCompressed) {
    return undefined;
  }
  try {
    return inflateSync(content.subarray(compressionHeaderSize), { maxOutputLength: mostNames });
  } catch {
    return undefined;
  }
}
