// Room in the file `events`: bytes that are claimed and written, or parts of it that are mapped. What is mapped is reserved on
// disk and filled with pages first, so that storing there never faults, not even on a full disk.
//
// Threads: any, without a lock. Signals must be blocked by the caller. Errors: null, false or -1, and the recording has stopped.
#pragma once

#include <cstddef>
#include <cstdint>

#include "longpole/raw_record.h"

namespace longpole::recorder {

inline constexpr std::uint32_t kChunkBytes = LONGPOLE_CHUNK_BYTES;
inline constexpr std::uintptr_t kPlaceInChunk = kChunkBytes - 1;  // of an address
inline constexpr std::uint32_t kPageBytes = LONGPOLE_PAGE_BYTES;
inline constexpr std::uint32_t kUnitBytes = LONGPOLE_UNIT_BYTES;

// Where `bytes`, a multiple of kUnitBytes, begin that are nobody else's.
std::int64_t claim_bytes(std::uint32_t bytes);

bool write_to_events(const void* data, std::size_t bytes, std::int64_t offset);

// A chunk of kChunkBytes, kPageBytes or kUnitBytes, at a multiple of its length. It is all zeros but for its length, its form,
// LONGPOLE_FORM_NOTHING, and what is said here of where it is. Only its first `ready` bytes may be touched.
longpole_chunk* map_chunk(std::uint32_t bytes);

// Of one of kChunkBytes of which not all is.
bool make_more_ready(longpole_chunk* chunk);

// Nobody stores there any more. Null is allowed.
void unmap_chunk(longpole_chunk* chunk);

// In a child after fork(), in place of that: it is its parent's, as are those that nobody has taken yet.
void forget_chunk(longpole_chunk* chunk);
void forget_mapped_chunks();

}  // namespace longpole::recorder
