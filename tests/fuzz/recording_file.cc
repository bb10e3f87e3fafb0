#include <cstdint>
#include <cstdlib>

#include "trace/recording_file_format.h"

// Past the checksums, which chance never gets right. The limits keep a single input from taking
// more memory than a fuzzer allows.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longpole;
  const Limits limits{.threads = 10'000, .events = 1'000'000, .table_bytes = 1U << 22U};
  const auto read = decode_recording_with({data, size}, "fuzz.lptrace", Checksums::ignored, limits);
  if (!read)
    return read.error().why.empty() ? (std::abort(), 0) : 0;
  const auto again = decode_recording_with(encode_recording_with(*read, Compression::zstd),
                                           "again.lptrace", Checksums::verified, limits);
  if (!again || *again != *read)
    std::abort();
  return 0;
}
