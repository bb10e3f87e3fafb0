// The encoding of full chunks (longpole/raw_record.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "longpole/raw_record.h"

namespace longpole::recorder {

// What a record takes at most.
inline constexpr std::size_t kLongestEncoding = 1 + 10 + 3 * sizeof(std::uint64_t);

// What the encoding compares with. The caller's, whose stack may have no room for it.
struct EncodingPlaces {
  struct Known {
    std::uint64_t object;
    std::uint64_t site;
    std::uint64_t rest;
  };
  Known known[LONGPOLE_ENCODING_PLACES];
};

// Encodes the records of all slots from `first` to `end` and returns how many bytes that took; `out` must
// have room for kLongestEncoding a record. Whatever `places` held is lost. 0: one of the slots is not filled.
std::size_t encode_records(const longpole_record* first, const longpole_record* end,
                           EncodingPlaces& places, unsigned char* out);

}  // namespace longpole::recorder
