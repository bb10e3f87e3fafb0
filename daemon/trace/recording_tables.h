// The tables of a recording file: everything but the events. Part of recording_file.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/byte_stream.h"
#include "trace/limits.h"
#include "trace/recording.h"

namespace longpole {

void encode_tables(ByteWriter& out, const Recording& recording);

// Fills all of `recording` but the events. Gives the number of events of each thread; the sum is
// within the limit. Look at `in` for what is wrong.
[[nodiscard]] std::vector<std::size_t> decode_tables(ByteReader& in, Recording& recording,
                                                     const Limits& limits);

}  // namespace longpole
