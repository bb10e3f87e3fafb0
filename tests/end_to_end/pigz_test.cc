// pigz as Debian ships it: no debug symbols, nothing compiled for us.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

#include "run.h"

namespace longpole::end_to_end {
namespace {

// Text of a kind: words of a few letters, in no order, so that there is something to compress.
void write_text(const std::filesystem::path& path, std::size_t bytes) {
  std::string text;
  std::uint64_t random = 1998;
  while (text.size() < bytes) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    for (std::uint64_t letters = random >> 52; letters != 0; letters /= 8)
      text.push_back("etaonisr"[letters % 8]);
    text.push_back(random >> 63 != 0 ? '\n' : ' ');
  }
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Pigz, WritesTheSameBytesAndTakesTheCpuTimeItUsed) {
  const ScratchFolder folder;
  const std::string file = folder.path() / "text";
  write_text(file, 16U << 20);
  const std::vector<std::string> command = {"pigz", "-p", "4", "-k", "-c", file};

  const ProgramRun plain = run_program(command, folder.path());
  ASSERT_EQ(plain.status, 0) << "pigz is in Debian's package of the same name: " << plain.errors;
  const auto recorded =
      recorded_until(command, [](const Recorded& other) { return other.speedup(2) > 1.7; });
  EXPECT_TRUE(recorded->recorded_run().output == plain.output);

  EXPECT_NEAR(best_one_cpu_ratio(command), 1, 0.03);
  EXPECT_GT(recorded->speedup(2), 1.7);
  EXPECT_GT(recorded->speedup(4), recorded->speedup(2));
  EXPECT_LE(recorded->speedup(8), 8);
}

}  // namespace
}  // namespace longpole::end_to_end
