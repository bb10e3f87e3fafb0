// Blocks of a span index as they are unpacked, against the same spans read one after the other.
#include "analysis/span_index.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "analysis/part_weights.h"

namespace longpole::analysis {
namespace {

constexpr std::int64_t start = 1'000'000'007;

// Lengths of one byte to four, and parts that have none. The last thread stands still.
SpanIndex random_index(std::mt19937_64& random, std::uint32_t threads) {
  SpanIndex::Builder builder(0, 1000, 1);
  const auto length = [&] {
    const std::int64_t longest[] = {0, 0xff, 0xffff, 0x3fffff, 0x1fffffff};
    return std::uniform_int_distribution<std::int64_t>(
        0, longest[random() % 16 == 0 ? 4 : random() % 4])(random);
  };
  for (std::uint32_t t = 0; t < threads; ++t) {
    builder.begin_thread(start);
    std::int64_t at = start;
    for (std::uint64_t part = random() % 150 + 1; part > 0; --part) {
      const std::int64_t ready = at + (random() % 2 == 0 ? length() : 0);
      const std::int64_t begin = ready + (random() % 3 == 0 ? length() : 0);
      at = begin + length();
      constexpr SpanState states[] = {SpanState::running, SpanState::running, SpanState::running,
                                      SpanState::blocked, SpanState::io,      SpanState::sleeping};
      builder.add(ready, begin, at, states[random() % std::size(states)], 0, 1, 1, 1);
    }
    if (t + 1 < threads)
      builder.end_thread();
    else
      builder.end_thread_blocked_until(at + 12345);
  }
  return builder.take();
}

void compare_block(const SpanIndex& index, std::uint32_t thread, std::size_t block) {
  const std::int64_t from = index.block(block).start();
  const std::uint32_t spans = index.block(block).spans;
  SpanIndex::Reader reader(index, thread, block);
  std::uint32_t running = 0;
  std::uint32_t runnable = 0;
  std::uint32_t parts = 0;
  for (std::uint32_t span = 0; span < spans; ++span) {
    ASSERT_TRUE(reader.next());
    const auto length = static_cast<std::uint32_t>(reader.end - reader.start);
    if (length > 0) {
      const auto passed = static_cast<std::uint32_t>(reader.start - from);
      for (const std::uint32_t time : {passed, passed + length / 2, passed + length - 1}) {
        SpanIndex::Unpacked unpacked(index, index.block(block));
        unpacked.read_to(time);
        ASSERT_EQ(unpacked.count_ended(time), span) << time;
        ASSERT_EQ(unpacked.start(span), passed);
        ASSERT_EQ(unpacked.end(span), passed + length);
        ASSERT_EQ(unpacked.running_before(span), running);
        ASSERT_EQ(unpacked.runnable_before(span), runnable);
        if (!unpacked.is_wide())
          continue;
        SpanIndex::Unpacked once(index, index.block(block));
        const PassedSpans before = once.pass(time);
        const std::uint32_t part = time - passed;
        ASSERT_EQ(before.ended, span) << time;
        ASSERT_EQ(once.start(span), passed);
        ASSERT_EQ(once.end(span), passed + length);
        ASSERT_EQ(before.running, running + (reader.state == SpanState::running ? part : 0));
        ASSERT_EQ(before.runnable, runnable + (reader.state == SpanState::runnable ? part : 0));
      }
    }
    const SpanIndex::Unpacked unpacked(index, index.block(block));
    ASSERT_EQ(unpacked.state(span), reader.state);
    ASSERT_EQ(unpacked.part(span), reader.part);
    ASSERT_EQ(unpacked.ends_part(span), reader.ends_part);
    ASSERT_EQ(unpacked.parts_before(span), parts);
    running += reader.state == SpanState::running ? length : 0;
    runnable += reader.state == SpanState::runnable ? length : 0;
    parts += reader.ends_part ? 1 : 0;
  }
}

void compare_longest(const SpanIndex& index, std::uint32_t thread, std::size_t block) {
  SpanIndex::Reader reader(index, thread, block);
  std::int64_t longest_run = 0;
  std::int64_t longest_wait = 0;
  std::uint32_t run = 0;
  std::uint32_t wait = 0;
  for (std::uint32_t span = 0; span < index.block(block).spans; ++span) {
    ASSERT_TRUE(reader.next());
    const std::int64_t length = reader.end - reader.start;
    if (reader.state == SpanState::running && length > longest_run) {
      longest_run = length;
      run = span;
    } else if (reader.state != SpanState::running && reader.state != SpanState::runnable &&
               length > longest_wait) {
      longest_wait = length;
      wait = span;
    }
  }
  SpanIndex::Unpacked unpacked(index, index.block(block));
  if (longest_run > 0) {
    ASSERT_EQ(unpacked.longest_run(), run);
    ASSERT_EQ(unpacked.run_time(run), longest_run);
  }
  if (longest_wait > 0) {
    ASSERT_EQ(unpacked.longest_wait(), wait);
    ASSERT_EQ(unpacked.wait_time(wait), longest_wait);
  }
}

// What the block weighs up to a time in it, and for how long it runs until then.
struct Weighed {
  std::int64_t weighted = 0;
  std::uint32_t ran = 0;
};
Weighed weighed(const SpanIndex& index, std::uint32_t thread, std::size_t block,
                std::uint32_t passed, const PartWeights& weights) {
  SpanIndex::Reader reader(index, thread, block);
  const std::int64_t until = index.block(block).start() + passed;
  Weighed sum;
  for (std::uint32_t span = index.block(block).spans; span > 0; --span) {
    static_cast<void>(reader.next());
    const std::int64_t time = std::min(reader.end, until) - reader.start;
    if (reader.state != SpanState::running || time <= 0)
      continue;
    sum.weighted += weights.scaled(reader.part) * time;
    sum.ran += static_cast<std::uint32_t>(time);
  }
  return sum;
}

void compare_weights(const SpanIndex& index, std::uint32_t thread, std::size_t block,
                     const PartWeights& weights, std::mt19937_64& random) {
  SpanIndex::Unpacked unpacked(index, index.block(block));
  if (!unpacked.is_wide())
    return;
  const auto all =
      static_cast<std::uint32_t>(index.block_end(thread, block) - index.block(block).start());
  ASSERT_GT(all, 0U);
  for (const std::uint32_t passed :
       {0U, all - 1, static_cast<std::uint32_t>(random() % all), all / 2}) {
    unpacked.read_to(passed);
    const Weighed expected = weighed(index, thread, block, passed, weights);
    ASSERT_EQ(weights.weigh(unpacked, passed, expected.ran), expected.weighted) << passed;
  }
}

TEST(SpanIndex, UnpacksABlockAsItReadsIt) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    constexpr std::uint32_t threads = 5;
    const SpanIndex index = random_index(random, threads);
    for (std::uint32_t t = 0; t < threads; ++t) {
      for (std::size_t block = index.first_block(t); block < index.last_block(t); ++block) {
        // One alone is as long as its block.
        if (index.block(block).spans > 1) {
          ASSERT_NO_FATAL_FAILURE(compare_block(index, t, block)) << "round " << round;
          ASSERT_NO_FATAL_FAILURE(compare_longest(index, t, block)) << "round " << round;
        }
      }
    }
  }
}

TEST(SpanIndex, BlocksAreWeighedAsTheirSpansAre) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 20; ++round) {
    constexpr std::uint32_t threads = 5;
    const SpanIndex index = random_index(random, threads);
    simulation::LargeArray<std::int64_t> scaled(1000);
    for (std::int64_t& weight : scaled)
      weight = std::uniform_int_distribution<std::int64_t>(-0x7fff, 0x7fff)(random);
    const PartWeights of_ideal(scaled, 3);
    ASSERT_FALSE(of_ideal.has_large());
    PartWeights of_path(scaled.size());
    for (PartIndex part = 0; part < scaled.size(); ++part) {
      if (random() % 2 == 0)
        of_path.put_on_path(part);
    }
    for (std::uint32_t t = 0; t < threads; ++t) {
      for (std::size_t block = index.first_block(t); block < index.last_block(t); ++block) {
        ASSERT_NO_FATAL_FAILURE(compare_weights(index, t, block, of_ideal, random));
        ASSERT_NO_FATAL_FAILURE(compare_weights(index, t, block, of_path, random));
      }
    }
  }
}

}  // namespace
}  // namespace longpole::analysis
