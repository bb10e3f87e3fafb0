// SpanIndex: what each thread does from moment to moment, in a few bytes a span, with sums over blocks
// of spans, so that any interval can be told in as many steps as it has pixels.
//
//   tokens   │3 running│1 blocked│2 runnable│5 running│…     2 to 3 bytes each, all of a thread together
//   blocks   └─────────────── sums of 32 ──────────────┘
//
// A token is a span: its state, its length, and whether it is the last of its part. The tokens of a block
// are their codes, in three bits each, the bytes of their lengths less one, in two bits each, and the
// lengths, the lowest byte first: a length is read without a look at the one before, so that none is
// waited for. Written in order by a Builder, then immutable; safe for any number of threads.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "analysis/span_sums.h"
#include "simulation/large_array.h"
#include "trace/types.h"

namespace longpole::analysis {

using PartIndex = std::uint32_t;
inline constexpr PartIndex no_part = 0xffffffffU;

enum class SpanState : std::uint8_t { running, runnable, blocked, io, sleeping };
inline constexpr std::size_t span_state_count = 5;
[[nodiscard]] constexpr std::size_t index_of(SpanState state) {
  return static_cast<std::size_t>(state);
}

using SpanTimes = std::array<Nanoseconds, span_state_count>;

// What a span is named by in a picture: where it runs, its profile's number plus one; where it waits, the
// SubjectKey of the call. 0: not known.
using SpanName = std::uint32_t;

struct SpanBlock {
  // Of its first span, in words, for which no gaps are left; its end is the start of the next, or the
  // thread's.
  std::array<std::uint32_t, 2> start_words{};
  std::uint32_t first_part = 0;  // that its first token is of
  // Times of blocks shorter than `long_block`. What is left is blocked, or in others().
  std::uint32_t running = 0;
  std::uint32_t runnable = 0;
  float weighted = 0;            // Σ scaled weight · time of what it runs
  float critical = 0;            // Σ weight · length of its parts' main spans
  std::uint32_t tokens_low = 0;  // where they begin: 2^32 parts have three tokens at most
  std::uint32_t tokens_high : 4 = 0;
  std::uint32_t spans : 6 = 0;
  std::uint32_t has_weights : 1 = 0;
  std::uint32_t has_others : 1 = 0;
  // Of the longest of its runs and of its waits, meaningless where there is none: SpanIndex::run_name().
  std::uint32_t run_name : 10 = 0;
  std::uint32_t wait_name : 10 = 0;

  [[nodiscard]] std::int64_t start() const { return std::bit_cast<std::int64_t>(start_words); }
  [[nodiscard]] std::uint64_t tokens() const {
    return std::uint64_t{tokens_high} << 32U | tokens_low;
  }
  void set_tokens(std::uint64_t tokens) {
    tokens_low = static_cast<std::uint32_t>(tokens);
    tokens_high = static_cast<std::uint32_t>(tokens >> 32U) & 0xfU;
  }
};
static_assert(sizeof(SpanBlock) == 36);

// A span as a token has it.
struct SpanToken {
  std::int64_t start = 0;
  std::int64_t end = 0;  // equal: the part has no length
  PartIndex part = no_part;
  SpanState state = SpanState::running;
  bool ends_part = false;
};

class SpanIndex {
 public:
  class Builder;
  class Unpacked;

  static constexpr std::uint32_t block_spans = 32;
  static constexpr std::int64_t long_block = std::int64_t{1} << 32U;

  [[nodiscard]] std::size_t first_block(std::uint32_t thread) const { return begin_[thread]; }
  [[nodiscard]] std::size_t last_block(std::uint32_t thread) const { return begin_[thread + 1]; }
  [[nodiscard]] const SpanBlock& block(std::size_t index) const { return blocks_[index]; }
  // When the last span of the thread ends.
  [[nodiscard]] std::int64_t end(std::uint32_t thread) const { return ends_[thread]; }
  [[nodiscard]] std::int64_t block_end(std::uint32_t thread, std::size_t index) const {
    return index + 1 < last_block(thread) ? blocks_[index + 1].start() : ends_[thread];
  }
  // In I/O and sleeping, of a block that has it and is shorter than long_block.
  struct Others {
    std::uint32_t io = 0;
    std::uint32_t sleeping = 0;
  };
  [[nodiscard]] Others others(const SpanBlock& block) const {
    Others others;
    std::memcpy(&others, tokens_.data() + block.tokens() - sizeof(others), sizeof(others));
    return others;
  }
  // The name of the longest run in the block, or of its longest wait; none: the thread has so many names
  // that this one is not kept, and is that of the span.
  [[nodiscard]] std::optional<SpanName> run_name(std::uint32_t thread,
                                                 const SpanBlock& block) const {
    return run_names_.at(thread, block.run_name);
  }
  [[nodiscard]] std::optional<SpanName> wait_name(std::uint32_t thread,
                                                  const SpanBlock& block) const {
    return wait_names_.at(thread, block.wait_name);
  }
  // Brings the block's tokens near, as far as they are most often long. Always inlined: see
  // Execution::prefetch().
  [[gnu::always_inline]] void prefetch(std::size_t index) const {
    constexpr std::size_t line = 64;
    const std::uint8_t* const at = tokens_.data() + blocks_[index].tokens();
    __builtin_prefetch(at);
    __builtin_prefetch(at + line);
  }
  // Only of blocks shorter than long_block.
  [[nodiscard]] SpanTimes times(std::uint32_t thread, std::size_t index) const;
  // The last block of the thread that begins at or before the time, or the part; else its first.
  [[nodiscard]] std::size_t block_at(std::uint32_t thread, std::int64_t time) const;
  [[nodiscard]] std::size_t block_of(std::uint32_t thread, PartIndex part) const;

  // Adds the threads behind its own, whose parts go on from its own.
  void append(const SpanIndex& behind);

  [[nodiscard]] std::size_t bytes() const {
    return blocks_.size() * sizeof(SpanBlock) + tokens_.size() +
           (begin_.size() + ends_.size()) * 8 + run_names_.bytes() + wait_names_.bytes();
  }

 private:
  // The names that the blocks of each thread refer to.
  struct Names {
    static constexpr std::uint32_t most =
        1023;  // of a thread; and that number: one that is not kept

    [[nodiscard]] std::optional<SpanName> at(std::uint32_t thread, std::uint32_t number) const {
      if (number == most)
        return std::nullopt;
      return names[begin[thread] + number];
    }
    [[nodiscard]] std::size_t bytes() const { return names.size() * 4 + begin.size() * 8; }
    void append(const Names& behind);

    std::vector<SpanName> names;
    std::vector<std::size_t> begin{0};  // by thread, and the end
  };

  // What the tokens of a block are, from the one at hand on.
  class Codes {
   public:
    Codes() = default;
    // Leaves `at` behind them, at the first length.
    explicit Codes(const std::uint8_t*& at) {
      std::memcpy(&codes_, at, sizeof(codes_));
      std::memcpy(&sizes_, at + bytes_of_codes, sizeof(sizes_));
      at += bytes;
    }

    [[nodiscard]] SpanState state() const { return states[code()]; }
    [[nodiscard]] bool ends_part() const { return (ending >> code() & 1U) != 0; }
    [[nodiscard]] bool is_standstill() const { return code() == standstill; }
    // Leaves `at` behind it.
    [[nodiscard]] std::int64_t length(const std::uint8_t*& at) const {
      std::uint32_t length = 0;
      std::memcpy(&length, at, sizeof(length));
      const auto more = static_cast<unsigned>(sizes_ & 3U);
      at += more + 1;
      return length & 0xffffffffU >> (24U - 8U * more);
    }
    void next() {
      codes_ >>= bits_of_code;
      sizes_ >>= bits_of_size;
    }

   private:
    friend class Builder;
    friend class Unpacked;
    __extension__ using Wide = unsigned __int128;
    static_assert(std::endian::native == std::endian::little);
    static constexpr unsigned bits_of_code = 3;
    static constexpr unsigned bits_of_size = 2;
    static constexpr std::size_t bytes_of_codes = std::size_t{block_spans} * bits_of_code / 8;
    static constexpr std::size_t bytes = bytes_of_codes + sizeof(std::uint64_t);
    static_assert(block_spans * bits_of_size == 64 && bytes >= sizeof(Wide));

    // A code is a state, or one of these. A wait of fixed length in vain ends its part, a wait for others
    // does not.
    static constexpr std::uint8_t nothing = 5;     // the part ends, and has no length
    static constexpr std::uint8_t in_vain = 6;     // blocked, and the end of its part
    static constexpr std::uint8_t standstill = 7;  // blocked behind the last part
    static constexpr std::uint8_t ending = 1U << 0U | 1U << 3U | 1U << 4U | 1U << 5U | 1U << 6U;
    static constexpr std::uint8_t waiting = 0b11011100;
    static constexpr std::array<SpanState, 8> states = {
        SpanState::running,  SpanState::runnable, SpanState::blocked, SpanState::io,
        SpanState::sleeping, SpanState::running,  SpanState::blocked, SpanState::blocked};

    [[nodiscard]] std::uint8_t code() const { return static_cast<std::uint8_t>(codes_ & 7U); }

    Wide codes_ = 0;
    std::uint64_t sizes_ = 0;  // bytes of a length less one
  };

 public:
  // Reads the tokens of a thread from the beginning of a block on.
  class Reader : public SpanToken {
   public:
    Reader(const SpanIndex& index, std::uint32_t thread, std::size_t block)
        : index_(&index), thread_(thread), block_(block), last_(index.last_block(thread)) {
      if (block_ < last_)
        begin_block();
    }

    // False: there is none.
    bool next() {
      if (left_ == 0) {
        if (block_ + 1 >= last_)
          return false;
        ++block_;
        begin_block();
      }
      --left_;
      start = end;
      end = has_one_ ? index_->block_end(thread_, block_) : end + codes_.length(at_);
      state = codes_.state();
      part = codes_.is_standstill() ? no_part : next_part_;
      ends_part = codes_.ends_part();
      codes_.next();
      next_part_ += ends_part ? 1 : 0;
      return true;
    }

   private:
    void begin_block() {
      const SpanBlock& block = index_->blocks_[block_];
      at_ = index_->tokens_.data() + block.tokens();
      codes_ = Codes(at_);
      left_ = block.spans;
      has_one_ = left_ == 1;
      end = block.start();
      next_part_ = block.first_part;
    }

    const SpanIndex* index_;
    std::uint32_t thread_;
    std::size_t block_;
    std::size_t last_;
    const std::uint8_t* at_ = nullptr;
    Codes codes_;
    std::uint32_t left_ = 0;  // in the block
    bool has_one_ = false;    // it may be too long to be written down: it is as long as the block
    PartIndex next_part_ = 0;
  };

  // The spans of a block by their numbers, and how much there is of the block up to any time in it. Read
  // some at a time and without a branch, which is quicker than to look at one after the other.
  class Unpacked {
   public:
    // Spans that are read together: their codes and sizes begin with a byte.
    static constexpr std::uint32_t group = 8;

    Unpacked() = default;
    Unpacked(const SpanIndex& index, const SpanBlock& block) { begin(index, block); }
    // In place of the block before.
    void begin(const SpanIndex& index, const SpanBlock& block);

    [[nodiscard]] std::uint32_t size() const { return size_; }
    [[nodiscard]] PartIndex first_part() const { return first_part_; }
    // The first of the longest runs, and of the longest waits, whose names SpanIndex::run_name() and
    // wait_name() are; of a block of several spans. Any, where there is none.
    [[nodiscard]] std::uint32_t longest_run();
    [[nodiscard]] std::uint32_t longest_wait();
    // It is full, and this CPU reads eight spans at a time: span_sums.h takes the two below.
    [[nodiscard]] bool is_wide() const { return is_wide_; }
    [[nodiscard]] const std::uint8_t* codes() const { return codes_.data(); }
    [[nodiscard]] const std::uint32_t* ends() const { return ends_.data(); }
    // Reads on up to that time, which is after the block's start, and less than the block is long. What has
    // to do with time, below, is for spans up to the one that is there, of a block shorter than
    // long_block.
    void read_to(std::uint32_t time) {
      while (ends_[read_] <= time)
        read_group();
    }
    // Those that end at `time` or before.
    [[nodiscard]] std::uint32_t count_ended(std::uint32_t time) const;
    // In place of read_to(), count_ended() and what there is before a span, of a block that is_wide(): quicker
    // for a single time in it. What there is before a span is not known then.
    [[nodiscard]] PassedSpans pass(std::uint32_t time) {
      is_passed_ = true;
      return pass_wide({codes_.data(), sizes_, length_at_}, time, &ends_[1]);
    }
    [[nodiscard]] std::uint32_t start(std::uint32_t span) const { return ends_[span]; }
    [[nodiscard]] std::uint32_t end(std::uint32_t span) const { return ends_[span + 1]; }
    // Of all before that one.
    [[nodiscard]] std::uint32_t running_before(std::uint32_t span) const { return running_[span]; }
    [[nodiscard]] std::uint32_t runnable_before(std::uint32_t span) const {
      return runnable_[span];
    }
    // Of the span itself, which has been read. Without a branch, which would be guessed wrongly.
    [[nodiscard]] std::uint32_t run_time(std::uint32_t span) const {
      return (end(span) - start(span)) & (runs(span) ? latest : 0U);
    }
    [[nodiscard]] std::uint32_t wait_time(std::uint32_t span) const {
      return (end(span) - start(span)) & (waits(span) ? latest : 0U);
    }

    [[nodiscard]] SpanState state(std::uint32_t span) const { return Codes::states[code(span)]; }
    [[nodiscard]] bool ends_part(std::uint32_t span) const {
      return (Codes::ending >> code(span) & 1U) != 0;
    }
    // Runs, for longer than no time.
    [[nodiscard]] bool runs(std::uint32_t span) const { return code(span) == 0; }
    // Blocked, in I/O or asleep.
    [[nodiscard]] bool waits(std::uint32_t span) const {
      return (Codes::waiting >> code(span) & 1U) != 0;
    }
    // That it is of, or before; behind the thread's last: no_part.
    [[nodiscard]] PartIndex part(std::uint32_t span) const {
      return code(span) == Codes::standstill ? no_part : first_part_ + parts_before(span);
    }
    // Parts that end in the block before that span.
    [[nodiscard]] std::uint32_t parts_before(std::uint32_t span) const;
    // Of the 16 spans of that half of the block: bit 3·i is set where the i-th ends a part.
    [[nodiscard]] std::uint64_t part_ends(std::uint32_t half) const {
      static_assert(Codes::ending == 0b01111001);
      std::uint64_t codes = 0;
      std::memcpy(&codes, &codes_[half * (block_spans / 2) * Codes::bits_of_code / 8],
                  sizeof(codes));
      // All but 1, 2 and 7, of all codes at once.
      constexpr std::uint64_t lowest = 01111111111111111;
      const std::uint64_t low = codes & lowest;
      const std::uint64_t middle = codes >> 1U & lowest;
      const std::uint64_t high = codes >> 2U & lowest;
      return ~((low ^ middle ^ high) & (low | middle)) & lowest;
    }

   private:
    static constexpr std::uint32_t latest = 0xffffffffU;

    void read_group();
    void read_ends();
    template <typename Time>
    [[nodiscard]] std::uint32_t first_longest(const Time& time);
    [[nodiscard]] std::uint32_t code(std::uint32_t span) const {
      const std::uint32_t bit = span * Codes::bits_of_code;
      std::uint16_t codes = 0;
      std::memcpy(&codes, &codes_[bit / 8], sizeof(codes));
      return static_cast<std::uint32_t>(codes) >> bit % 8 & 7U;
    }

    // Of the span before; behind those that were read: latest.
    std::array<std::uint32_t, block_spans + 1> ends_;
    std::array<std::uint32_t, block_spans + 1> running_;
    std::array<std::uint32_t, block_spans + 1> runnable_;
    std::array<std::uint8_t, 16> codes_;  // and more, so that two can be looked at
    std::uint64_t sizes_ = 0;             // of those that were not read
    const std::uint8_t* length_at_ = nullptr;
    bool is_wide_ = false;
    bool is_passed_ = false;  // only ends_ are there
    std::uint32_t read_ = 0;
    std::uint32_t size_ = 0;
    PartIndex first_part_ = 0;
  };

 private:
  std::vector<std::size_t> begin_{0};  // by thread, and the end: its first block
  std::vector<std::int64_t> ends_;     // by thread
  simulation::LargeArray<SpanBlock> blocks_;
  simulation::LargeArray<std::uint8_t> tokens_;
  Names run_names_;
  Names wait_names_;
};

// Takes the parts of threads in order: so many, from that one on.
class SpanIndex::Builder {
 public:
  Builder(PartIndex first_part, std::size_t parts, std::uint32_t weight_scale);
  Builder(const Builder&) = delete;  // it points into itself
  Builder& operator=(const Builder&) = delete;

  void begin_thread(std::int64_t time);
  // The next part of the thread, from where the one before ended. `main`: its state from `start` on.
  // `length`: what its weight is per unit of. `run` and `wait`: its names where it runs, and where it, or
  // the thread behind it, waits.
  void add(std::int64_t ready, std::int64_t start, std::int64_t end, SpanState main,
           std::int64_t scaled_weight, std::int64_t length, SpanName run, SpanName wait);
  void end_thread();
  // In which it never goes on.
  void end_thread_blocked_until(std::int64_t time);
  [[nodiscard]] SpanIndex take();

 private:
  // Numbers the names of the thread at hand.
  class NameNumbers {
   public:
    explicit NameNumbers(Names& names) : names_(names) {}
    [[nodiscard]] std::uint32_t of(SpanName name);
    void end_thread();

   private:
    Names& names_;
    std::vector<std::uint16_t> numbers_;  // by name, plus one; 0: none yet
  };

  void token(std::int64_t end, std::uint8_t code, SpanName name);
  void open_block();
  void close_block();

  SpanIndex index_;
  double weight_scale_;
  std::int64_t at_ = 0;
  PartIndex part_ = 0;
  // The block at hand; closed while it has no spans.
  SpanBlock block_;
  Others others_;
  Codes::Wide codes_ = 0;
  std::uint64_t sizes_ = 0;
  std::array<std::uint8_t, (block_spans + 1) * sizeof(std::uint32_t)> lengths_{};
  std::size_t lengths_end_ = 0;
  struct Longest {
    std::int64_t length = 0;
    SpanName name = 0;
  };
  Longest run_;
  Longest wait_;
  SpanName wait_behind_ = 0;  // the part before
  NameNumbers run_numbers_{index_.run_names_};
  NameNumbers wait_numbers_{index_.wait_names_};
};

}  // namespace longpole::analysis
