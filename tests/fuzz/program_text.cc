#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trace/program_text.h"
#include "trace/recording_text.h"

// A program that is accepted can be printed as a recording and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read =
      longpole::read_program({reinterpret_cast<const char*>(data), size}, "fuzz.prog");
  if (!read)
    return read.error().why.empty() ? (std::abort(), 0) : 0;
  const auto again =
      longpole::read_recording_text(longpole::write_recording_text(*read), "again.rec");
  if (!again || *again != *read)
    std::abort();
  return 0;
}
