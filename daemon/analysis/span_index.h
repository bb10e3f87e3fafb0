// SpanIndex: what each thread does from moment to moment, in a few bytes a span, with sums over blocks
// of spans, so that any interval can be told in as many steps as it has pixels.
//
//   tokens   │3 running│1 blocked│2 runnable│5 running│…     1 to 3 bytes each, all of a thread together
//   blocks   └─────────────── sums of 12 ──────────────┘
//
// A token is a span: its state, its length, and whether it is the last of its part. Written in order by
// a Builder, then immutable; safe for any number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/types.h"

namespace longpole::analysis {

using PartIndex = std::uint32_t;
inline constexpr PartIndex no_part = 0xffffffffU;

enum class SpanState : std::uint8_t { running, runnable, blocked, io, sleeping };
inline constexpr std::size_t span_state_count = 5;

using SpanTimes = std::array<Nanoseconds, span_state_count>;

struct SpanBlock {
  std::int64_t start = 0;    // of its first span; its end is the start of the next, or the thread's
  std::uint64_t tokens = 0;  // where they begin
  PartIndex first_part = 0;  // that its first token is of
  // By state but the last, whose time is what is left. Only of blocks shorter than `long_block`.
  std::array<std::uint32_t, span_state_count - 1> times{};
  float critical = 0;            // Σ weight · length of its parts' main spans
  float weighted = 0;            // Σ weight · time of what it runs
  std::uint8_t longest_run = 0;  // tokens, from the block's first; meaningless where there is none
  std::uint8_t longest_wait = 0;
};
static_assert(sizeof(SpanBlock) == 48);

class SpanIndex {
 public:
  static constexpr std::uint32_t block_spans = 12;
  static constexpr std::int64_t long_block = std::int64_t{1} << 32U;

  [[nodiscard]] std::size_t first_block(std::uint32_t thread) const { return begin_[thread]; }
  [[nodiscard]] std::size_t last_block(std::uint32_t thread) const { return begin_[thread + 1]; }
  [[nodiscard]] const SpanBlock& block(std::size_t index) const { return blocks_[index]; }
  // When the last span of the thread ends.
  [[nodiscard]] std::int64_t end(std::uint32_t thread) const { return ends_[thread]; }
  [[nodiscard]] std::int64_t block_end(std::uint32_t thread, std::size_t index) const {
    return index + 1 < last_block(thread) ? blocks_[index + 1].start : ends_[thread];
  }
  // Only of blocks shorter than long_block.
  [[nodiscard]] SpanTimes times(std::uint32_t thread, std::size_t index) const;
  // The last block of the thread that begins at or before the time, or the part; else its first.
  [[nodiscard]] std::size_t block_at(std::uint32_t thread, std::int64_t time) const;
  [[nodiscard]] std::size_t block_of(std::uint32_t thread, PartIndex part) const;

  [[nodiscard]] std::size_t bytes() const {
    return blocks_.capacity() * sizeof(SpanBlock) + tokens_.capacity() +
           (begin_.size() + ends_.size()) * 8;
  }

  // Reads the tokens of a thread from the beginning of a block on.
  class Reader {
   public:
    Reader(const SpanIndex& index, std::uint32_t thread, std::size_t block)
        : index_(&index),
          at_(index.tokens_.data() + index.tokens_begin(block)),
          last_(index.tokens_.data() + index.tokens_begin(index.last_block(thread))) {
      if (block < index.last_block(thread)) {
        end = index.blocks_[block].start;
        next_part_ = index.blocks_[block].first_part;
      }
    }

    // False: there is none.
    bool next() {
      if (at_ == last_)
        return false;
      std::uint8_t byte = *at_++;
      const std::uint8_t code = byte & 7U;
      std::uint64_t length = byte >> 3U & 15U;
      for (unsigned shift = 4; (byte & 0x80U) != 0; shift += 7) {
        byte = *at_++;
        length |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      }
      start = end;
      end += static_cast<std::int64_t>(length);
      state = states[code];
      part = code == code_standstill ? no_part : next_part_;
      ends_part = (ending_codes >> code & 1U) != 0;
      next_part_ += ends_part ? 1 : 0;
      return true;
    }
    // On to the beginning of a later block of the thread.
    void skip_to(std::size_t block) {
      at_ = index_->tokens_.data() + index_->tokens_begin(block);
      end = index_->blocks_[block].start;
      next_part_ = index_->blocks_[block].first_part;
    }
    [[nodiscard]] bool is_at(std::size_t block) const {
      return at_ == index_->tokens_.data() + index_->tokens_begin(block);
    }
    [[nodiscard]] PartIndex next_part() const { return next_part_; }

    std::int64_t start = 0;
    std::int64_t end = 0;  // equal: the part has no length
    PartIndex part = no_part;
    SpanState state = SpanState::running;
    bool ends_part = false;

   private:
    const SpanIndex* index_;
    const std::uint8_t* at_;
    const std::uint8_t* last_;
    PartIndex next_part_ = 0;
  };

  class Builder;

 private:
  // Codes of tokens. A wait of fixed length in vain ends its part, a wait for others does not.
  static constexpr std::uint8_t code_nothing = 5;     // the part ends, and has no length
  static constexpr std::uint8_t code_in_vain = 6;     // blocked, and the end of its part
  static constexpr std::uint8_t code_standstill = 7;  // blocked behind the last part
  static constexpr std::uint8_t ending_codes = 1U << 0U | 1U << 3U | 1U << 4U | 1U << 5U | 1U << 6U;
  static constexpr std::array<SpanState, 8> states = {
      SpanState::running,  SpanState::runnable, SpanState::blocked, SpanState::io,
      SpanState::sleeping, SpanState::running,  SpanState::blocked, SpanState::blocked};

  [[nodiscard]] std::uint64_t tokens_begin(std::size_t block) const {
    return block < blocks_.size() ? blocks_[block].tokens : tokens_.size();
  }

  std::vector<std::size_t> begin_{0};  // by thread, and the end: its first block
  std::vector<std::int64_t> ends_;     // by thread
  std::vector<SpanBlock> blocks_;
  std::vector<std::uint8_t> tokens_;
};

// Takes the parts of all threads in order.
class SpanIndex::Builder {
 public:
  explicit Builder(std::size_t parts);

  void begin_thread(std::int64_t time);
  // The next part of the thread, from where the one before ended. `main`: its state from `start` on.
  // `length`: what its weight is per unit of.
  void add(std::int64_t ready, std::int64_t start, std::int64_t end, SpanState main, double weight,
           std::int64_t length);
  void end_thread();
  // In which it never goes on.
  void end_thread_blocked_until(std::int64_t time);
  [[nodiscard]] SpanIndex take();

 private:
  void token(std::int64_t end, SpanState state, std::uint8_t code);
  void open_block();

  SpanIndex index_;
  std::int64_t at_ = 0;
  PartIndex part_ = 0;
  std::uint32_t in_block_ = 0;  // tokens
  std::int64_t longest_run_ = 0;
  std::int64_t longest_wait_ = 0;
  bool is_open_ = false;
};

}  // namespace longpole::analysis
