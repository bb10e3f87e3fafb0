#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "trace/recording_file.h"
#include "trace/recording_text.h"

// A recording that is accepted survives being printed, and being written to a file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read =
      longpole::read_recording_text({reinterpret_cast<const char*>(data), size}, "fuzz.rec");
  if (!read)
    return read.error().why.empty() ? (std::abort(), 0) : 0;
  const auto again =
      longpole::read_recording_text(longpole::write_recording_text(*read), "again.rec");
  if (!again || *again != *read)
    std::abort();
  const auto file = longpole::decode_recording(longpole::encode_recording(*read), "again.lptrace");
  if (!file || *file != *read)
    std::abort();
  return 0;
}
