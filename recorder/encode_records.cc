#include "encode_records.h"

#include <cstring>

namespace longpole::recorder {

namespace {

// The top bits of a product with the golden ratio depend on all bits.
unsigned place_of(std::uint64_t site, std::uint64_t object) {
  constexpr unsigned kShift = 64 - 6;
  static_assert(LONGPOLE_ENCODING_PLACES == 1u << (64 - kShift));
  return static_cast<unsigned>(((site != 0 ? site : object) * 0x9e3779b97f4a7c15u) >> kShift);
}

unsigned char* put(unsigned char* out, std::uint64_t word) {
  std::memcpy(out, &word, sizeof(word));
  return out + sizeof(word);
}

unsigned char* put_stamp(unsigned char* out, std::uint64_t delta) {
  std::uint64_t rest = (delta << 1) ^ (std::uint64_t{0} - (delta >> 63));
  for (; rest >= 0x80; rest >>= 7) {
    *out++ = static_cast<unsigned char>(rest | 0x80);
  }
  *out++ = static_cast<unsigned char>(rest);
  return out;
}

}  // namespace

std::size_t encode_records(const longpole_record* first, const longpole_record* end,
                           EncodingPlaces& places, unsigned char* out) {
  std::memset(&places, 0, sizeof(places));
  const unsigned char* const start = out;
  std::uint64_t last_stamp = 0;
  for (const longpole_record* record = first; record != end; ++record) {
    if (record->kind_and_flags == LONGPOLE_NOTHING) {
      return 0;
    }
    std::uint64_t rest;
    std::memcpy(&rest, &record->other_low, sizeof(rest));
    const unsigned place = place_of(record->site, record->object);
    EncodingPlaces::Known& known = places.known[place];
    const bool other_object = known.object != record->object;
    const bool other_call = known.site != record->site || known.rest != rest;
    *out++ = static_cast<unsigned char>(place | (other_object ? LONGPOLE_OTHER_OBJECT : 0) |
                                        (other_call ? LONGPOLE_OTHER_CALL : 0));
    out = put_stamp(out, record->tsc - last_stamp);
    last_stamp = record->tsc;
    if (other_object) {
      known.object = record->object;
      out = put(out, record->object);
    }
    if (other_call) {
      known.site = record->site;
      known.rest = rest;
      out = put(put(out, record->site), rest);
    }
  }
  return static_cast<std::size_t>(out - start);
}

}  // namespace longpole::recorder
