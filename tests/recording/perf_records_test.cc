#include "recording/perf_records.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "raw_bytes.h"

namespace longpole::recording {
namespace {

using testing::ElementsAre;

std::vector<std::string> describe(std::span<const std::uint8_t> bytes) {
  constexpr std::array names = {"in",   "out",     "sample", "fork",     "exit",
                                "exec", "mapping", "waking", "blocking", "lost"};
  std::vector<std::string> lines;
  PerfReader reader(bytes);
  while (const PerfRecord* record = reader.next()) {
    std::string line = fmt::format("{} {} {}", record->time_ns,
                                   names.at(static_cast<std::size_t>(record->kind)), record->tid);
    if (record->preempted)
      line += " preempted";
    for (const std::uint64_t address : record->addresses)
      line += fmt::format(" {:x}", address);
    if (!record->path.empty())
      line += fmt::format(" {}:{:x}-{:x}@{:x}", record->path, record->start, record->end,
                          record->file_offset);
    if (!record->stack.bytes.empty())
      line +=
          fmt::format(" stack {}*{} {:x}", record->stack.bytes.size(), record->stack.bytes.back(),
                      record->stack.registers[instruction_register]);
    if (record->lost != 0)
      line += fmt::format(" {}", record->lost);
    lines.push_back(line);
  }
  if (reader.torn())
    lines.emplace_back("torn");
  return lines;
}

TEST(PerfRecords, EveryKindThatTheLauncherAsksForIsRead) {
  PerfSpool spool;
  spool.exec(5, 100);
  spool.mapping(6, 0x400000, 0x1000, 0x2000, "/bin/program");
  spool.fork(10, 101, 100);
  spool.sample(15, 100, {0x401000, 0x401010});
  spool.out(20, 100);
  spool.in(21, 101);
  spool.out(30, 101, true);
  spool.lost(31, 7);
  spool.exit(40, 101);
  EXPECT_THAT(describe(spool.bytes()),
              ElementsAre("5 exec 100", "6 mapping 100 /bin/program:400000-401000@2000",
                          "10 fork 101", "15 sample 100 401000 401010", "20 out 100", "21 in 101",
                          "30 out 101 preempted", "31 lost 0 7", "40 exit 101"));
}

TEST(PerfRecords, CopiesOfTheStackAreReadAndLeftOut) {
  PerfSpool spool;
  spool.sample_with_stack(15, 100, {0x401000, 0x401010}, 0x77, 4096, 64);
  spool.out(20, 100);
  EXPECT_THAT(describe(spool.bytes()),
              ElementsAre("15 sample 100 401000 401010 stack 64*7 77", "20 out 100"));
  EXPECT_THAT(describe(without_stack_copies(spool.bytes())),
              ElementsAre("15 sample 100 401000 401010", "20 out 100"));
}

TEST(PerfRecords, TracepointsKeepWhatTheySayWithoutTheirStacks) {
  PerfSpool spool;
  spool.waking(15, 100, 101, {0x401000});
  spool.waking(16, 100, 102, {0x401000}, in_interrupt & 0x10);
  spool.blocking(17, 101, {0x402000});
  for (const std::vector<std::uint8_t>& bytes :
       {spool.bytes(), without_stack_copies(spool.bytes(), true)}) {
    PerfReader reader(bytes, &PerfSpool::tracepoints);
    std::vector<std::string> lines;
    while (const PerfRecord* record = reader.next())
      lines.push_back(fmt::format("{} {} {} {:x}", record->time_ns, record->tid, record->woken,
                                  record->addresses.front()));
    EXPECT_THAT(lines, ElementsAre("15 100 101 401000", "17 101 0 402000"));
  }
}

TEST(PerfRecords, ARecordThatIsNotWholeEndsTheStream) {
  PerfSpool spool;
  spool.in(10, 100);
  spool.out(20, 100);
  spool.bytes().pop_back();
  EXPECT_THAT(describe(spool.bytes()), ElementsAre("10 in 100", "torn"));
}

TEST(PerfRecords, ACallChainThatClaimsToBeLongerThanItsRecordIsNotRead) {
  PerfSpool spool;
  spool.sample(10, 100, {0x401000});
  const std::uint64_t huge = std::uint64_t{1} << 60U;
  std::memcpy(spool.bytes().data() + sizeof(perf_event_header) + 32, &huge, sizeof huge);
  spool.in(20, 100);
  EXPECT_THAT(describe(spool.bytes()), ElementsAre("20 in 100"));
}

TEST(PerfRecords, AnyBytesAreRead) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    PerfSpool spool;
    spool.mapping(6, 0x400000, 0x1000, 0x2000, "/bin/program");
    spool.sample(15, 100, {0x401000, 0x401010});
    spool.fork(10, 101, 100);
    spool.exec(5, 100);
    for (int i = 0; i < 10; ++i)
      spool.bytes()[random() % spool.bytes().size()] = static_cast<std::uint8_t>(random());
    EXPECT_LE(describe(spool.bytes()).size(), spool.bytes().size() / sizeof(perf_event_header) + 1);
  }
}

}  // namespace
}  // namespace longpole::recording
