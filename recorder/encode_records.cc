#include "encode_records.h"

#include <cstring>

#include "plain_memory.h"

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

unsigned char* put_difference(unsigned char* out, std::uint64_t delta) {
  std::uint64_t rest = (delta << 1) ^ (std::uint64_t{0} - (delta >> 63));
  for (; rest >= 0x80; rest >>= 7) {
    *out++ = static_cast<unsigned char>(rest | 0x80);
  }
  *out++ = static_cast<unsigned char>(rest);
  return out;
}

}  // namespace

RecordEncoder::RecordEncoder(EncodingPlaces& places, unsigned char* out)
    : places_(places), start_(out), out_(out) {
  clear_plainly(&places, sizeof(places));
}

bool RecordEncoder::add(const longpole_record* first, const longpole_record* end) {
  unsigned char* out = out_;
  for (const longpole_record* record = first; record != end; ++record) {
    if (record->kind_and_flags == LONGPOLE_NOTHING) {
      return false;
    }
    std::uint64_t rest;
    std::memcpy(&rest, &record->other_low, sizeof(rest));
    const unsigned place = place_of(record->site, record->object);
    EncodingPlaces::Known& known = places_.known[place];
    const bool other_object = known.object != record->object;
    const bool other_call = known.site != record->site || known.rest != rest;
    *out++ = static_cast<unsigned char>(place | (other_object ? LONGPOLE_OTHER_OBJECT : 0) |
                                        (other_call ? LONGPOLE_OTHER_CALL : 0));
    out = put_difference(out, record->tsc - last_stamp_);
    last_stamp_ = record->tsc;
    if (other_object) {
      known.object = record->object;
      out = put_difference(out, record->object - last_object_);
    }
    last_object_ = record->object;
    if (other_call) {
      known.site = record->site;
      known.rest = rest;
      out = put(put(out, record->site), rest);
    }
  }
  out_ = out;
  return true;
}

}  // namespace longpole::recorder
