// The encoding of full chunks (longpole/raw_record.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "longpole/raw_record.h"

namespace longpole::recorder {

// What a record takes at most.
inline constexpr std::size_t kLongestEncoding = 1 + 10 + 10 + 2 * sizeof(std::uint64_t);

// What the encoding compares with. The caller's, whose stack may have no room for it.
struct EncodingPlaces {
  struct Known {
    std::uint64_t object;
    std::uint64_t site;
    std::uint64_t rest;
  };
  Known known[LONGPOLE_ENCODING_PLACES];
};

// Encodes the records of a chunk one behind the other. `out` must have room for kLongestEncoding a record; whatever `places`
// held is lost.
class RecordEncoder {
 public:
  RecordEncoder(EncodingPlaces& places, unsigned char* out);

  // Those of all slots from `first` to `end`. False: one of the slots is not filled.
  bool add(const longpole_record* first, const longpole_record* end);

  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(out_ - start_); }

 private:
  EncodingPlaces& places_;
  unsigned char* const start_;
  unsigned char* out_;
  std::uint64_t last_stamp_ = 0;
  std::uint64_t last_object_ = 0;
};

}  // namespace longpole::recorder
