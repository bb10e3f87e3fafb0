#include "recording/channel_edges.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace longpole::recording {
namespace {

std::uint32_t low_half(std::uint64_t both) {
  return static_cast<std::uint32_t>(both);
}
std::uint32_t high_half(std::uint64_t both) {
  return static_cast<std::uint32_t>(both >> 32U);
}

// A call that may have waited until several descriptors could be read from or written to, or one of these.
struct Poll {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t ordinal = 0;  // among its thread's calls of input and output
};

// Behind a poll, of those that it may have waited for: an event loop serves one descriptor after the other, and tells
// itself by another, as GLib's does, that there is more to do.
constexpr std::uint32_t most_behind_a_poll = 16;

// A call that moved bytes.
struct Transfer {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t thread = 0;
  std::uint32_t ordinal = 0;     // among its thread's calls of input and output
  std::optional<Poll> polled{};  // that may have waited for the same
  std::uint64_t bytes = 0;
  std::uint64_t moved = 0;  // in all, when it is done
  bool waits = false;
  std::uint32_t gives = 0;  // how many calls of other threads wait for it
};

// By the ports of the own and of the other end, and the address of both.
struct Connection {
  std::uint64_t host = 0;
  std::uint16_t own = 0;
  std::uint16_t other = 0;

  friend auto operator<=>(const Connection&, const Connection&) = default;
};

class EdgeFinder {
 public:
  EdgeFinder(const std::vector<RawThread>& threads,
             const std::function<std::int64_t(std::uint64_t)>& time_of)
      : threads_(threads), time_of_(time_of) {
    found_.uses.resize(threads.size());
  }

  ChannelEdges find() {
    for (std::uint32_t t = 0; t < threads_.size(); ++t)
      survey(t);
    std::ranges::stable_sort(changes_, {}, &Change::time);
    apply_changes();
    if (channels_.empty())
      return std::move(found_);
    for (const Call& call : calls_)
      take(call);
    pair_ends_of_data();
    for (Channel& channel : channels_)
      pair(channel);
    for (std::uint32_t c = 0; c < channels_.size(); ++c) {
      report(c, true, channels_[c].reads);
      report(c, false, channels_[c].writes);
      report(c, true, channels_[c].ends_of_data);
      report(c, false, channels_[c].closings);
    }
    return std::move(found_);
  }

 private:
  // What a descriptor stands for changes.
  struct Change {
    enum class What : std::uint8_t { made, duplicated, closed, connected };
    std::int64_t time;
    What what;
    std::uint32_t from;
    std::uint32_t to;
    std::uint64_t capacity;
    std::uint64_t site;
    Transfer closing{};  // the call that closes
    Connection ends{};   // of what is connected
  };
  struct Call {
    Transfer transfer;
    std::uint32_t descriptor;
    bool reads;
  };
  // Of what a poll waited for.
  struct Claim {
    Transfer* by = nullptr;
    std::int64_t done = 0;
  };
  struct Ends {
    std::optional<std::uint32_t> reads;   // the channel that is read from there
    std::optional<std::uint32_t> writes;  // that is written to
  };
  struct Channel {
    std::uint64_t capacity = 0;
    bool counts = false;  // a read takes all that was added, in eight bytes
    bool is_connection = false;
    std::vector<Transfer> reads;
    std::vector<Transfer> writes;
    std::vector<Transfer> ends_of_data;  // reads that were told that nothing more will come
    std::vector<Transfer> closings;      // of the last descriptor to write to
    std::uint32_t writers = 0;           // descriptors, as far as the changes are applied
  };

  void survey(std::uint32_t thread) {
    struct Began {
      std::int64_t time;
      std::uint32_t ordinal;
      std::uint32_t descriptor;
      int way;
    };
    std::vector<Began> began;
    std::uint32_t calls = 0;
    std::optional<Poll> polled;  // the last, if it found something
    std::uint32_t behind = 0;    // transfers since then
    threads_[thread].for_each_record([&](const longpole_record& record) {
      const unsigned kind = LONGPOLE_KIND(record.kind_and_flags);
      if (kind == LONGPOLE_CHANNEL || kind == LONGPOLE_DUPLICATE) {
        changes_.push_back(
            {time_of_(record.tsc),
             kind == LONGPOLE_CHANNEL ? Change::What::made : Change::What::duplicated,
             low_half(record.object), high_half(record.object), other_of(record), record.site});
        return;
      }
      if (kind == LONGPOLE_CONNECTION) {
        Change change{.time = time_of_(record.tsc),
                      .what = Change::What::connected,
                      .from = low_half(record.object),
                      .to = 0,
                      .capacity = 0,
                      .site = record.site};
        change.ends = {other_of(record) >> 16U,
                       static_cast<std::uint16_t>(high_half(record.object)),
                       static_cast<std::uint16_t>(other_of(record))};
        changes_.push_back(change);
        return;
      }
      if (kind != LONGPOLE_IO)
        return;
      const unsigned flags = LONGPOLE_FLAGS(record.kind_and_flags);
      if ((flags & LONGPOLE_BEGINS) != 0) {
        began.push_back(
            {time_of_(record.tsc), calls++, low_half(record.object), int{record.result}});
        return;
      }
      if (began.empty())
        return;
      const Began call = began.back();
      began.pop_back();
      if (call.way == LONGPOLE_IO_OTHER) {
        polled.reset();
        behind = 0;
        if (record.result == 0 && record.object != 0)  // so many descriptors are ready
          polled = Poll{call.time, time_of_(record.tsc), call.ordinal};
      } else if (++behind > most_behind_a_poll) {
        polled.reset();
      }
      if (record.result != 0)
        return;
      if (call.way == LONGPOLE_IO_CLOSES)
        changes_.push_back({call.time,
                            Change::What::closed,
                            call.descriptor,
                            0,
                            0,
                            0,
                            {.begin = call.time,
                             .end = time_of_(record.tsc),
                             .thread = thread,
                             .ordinal = call.ordinal}});
      else if (call.way == LONGPOLE_IO_READS ||
               (call.way == LONGPOLE_IO_WRITES && record.object != 0))
        calls_.push_back({{.begin = call.time,
                           .end = time_of_(record.tsc),
                           .thread = thread,
                           .ordinal = call.ordinal,
                           .polled = polled,
                           .bytes = record.object},
                          call.descriptor,
                          call.way == LONGPOLE_IO_READS});
    });
    found_.uses[thread].resize(calls);
  }

  std::uint32_t make_channel(std::uint64_t site) {
    channels_.emplace_back();
    found_.channels.push_back({site});
    return static_cast<std::uint32_t>(channels_.size() - 1);
  }

  void apply_changes() {
    for (const Change& change : changes_)
      switch (change.what) {
        case Change::What::made: {
          const std::uint32_t channel = make_channel(change.site);
          Channel& made = channels_[channel];
          made.capacity = change.capacity;
          made.counts = change.from == change.to;
          Ends from = ends_before(change.from, change.time);
          from.reads = channel;
          set(change.from, change.time, from);
          Ends to = ends_before(change.to, change.time);
          to.writes = channel;
          set(change.to, change.time, to);
          break;
        }
        case Change::What::connected:
          connect(change);
          break;
        case Change::What::duplicated:
          set(change.to, change.time, ends_before(change.from, change.time));
          break;
        case Change::What::closed:
          if (ends_.contains(change.from)) {
            const std::optional<std::uint32_t> channel =
                ends_before(change.from, change.time).writes;
            set(change.from, change.time, {});
            if (channel && channels_[*channel].writers == 0)
              channels_[*channel].closings.push_back(change.closing);
          }
          break;
      }
  }

  // Either end may be told of first, and one that does not wait for its connection each time that it asks for it.
  void connect(const Change& change) {
    const Connection before = std::exchange(told_[change.from], change.ends);
    if (before == change.ends && ends_before(change.from, change.time).reads)
      return;
    if (const auto awaited = awaited_.find(change.ends); awaited != awaited_.end()) {
      set(change.from, change.time, awaited->second);
      awaited_.erase(awaited);
      return;
    }
    const Ends ends = {make_channel(change.site), make_channel(change.site)};
    channels_[*ends.reads].is_connection = channels_[*ends.writes].is_connection = true;
    set(change.from, change.time, ends);
    awaited_[{change.ends.host, change.ends.other, change.ends.own}] = {ends.writes, ends.reads};
  }

  void set(std::uint32_t descriptor, std::int64_t time, const Ends& ends) {
    std::vector<std::pair<std::int64_t, Ends>>& history = ends_[descriptor];
    if (!history.empty() && history.back().second.writes)
      --channels_[*history.back().second.writes].writers;
    if (ends.writes)
      ++channels_[*ends.writes].writers;
    history.emplace_back(time, ends);
  }

  // What the descriptor stood for at that time.
  [[nodiscard]] Ends ends_before(std::uint32_t descriptor, std::int64_t time) const {
    const auto found = ends_.find(descriptor);
    if (found == ends_.end())
      return {};
    const auto after = std::ranges::upper_bound(found->second, time, {},
                                                [](const auto& change) { return change.first; });
    return after == found->second.begin() ? Ends{} : std::prev(after)->second;
  }

  void take(const Call& call) {
    const Ends ends = ends_before(call.descriptor, call.transfer.begin);
    const std::optional<std::uint32_t> channel = call.reads ? ends.reads : ends.writes;
    if (!channel)
      return;
    Channel& used = channels_[*channel];
    (!call.reads                ? used.writes
     : call.transfer.bytes != 0 ? used.reads
                                : used.ends_of_data)
        .push_back(call.transfer);
  }

  // A read that gets nothing waited until nobody could write any more. Who else has the descriptors, after a fork, is
  // not known.
  void pair_ends_of_data() {
    for (Channel& channel : channels_) {
      std::map<std::uint32_t, const Transfer*> waited_for;
      std::ranges::stable_sort(channel.ends_of_data, {}, &Transfer::end);
      for (Transfer& read : channel.ends_of_data)
        if (!channel.closings.empty())
          wait_for(read, &channel.closings.front(), waited_for);
    }
  }

  void pair(Channel& channel) {
    // Bytes are there when their write may have begun, and gone when their read is over.
    const auto sum_up = [](std::vector<Transfer>& transfers) {
      std::uint64_t moved = 0;
      for (Transfer& transfer : transfers)
        transfer.moved = moved += transfer.bytes;
    };
    std::ranges::stable_sort(channel.writes, {}, &Transfer::begin);
    std::ranges::stable_sort(channel.reads, {}, &Transfer::end);
    sum_up(channel.writes);
    sum_up(channel.reads);
    std::map<std::uint32_t, const Transfer*> waited_for;  // by thread: last
    std::int64_t taken = std::numeric_limits<std::int64_t>::min();
    for (Transfer& read : channel.reads) {
      wait_for(read,
               channel.counts ? after(channel.writes, taken) : find(channel.writes, read.moved),
               waited_for);
      taken = read.end;
    }
    waited_for.clear();
    if (channel.capacity == 0) {
      if (!channel.counts && !channel.is_connection)
        pair_with_room_in_socket(channel, waited_for);
      return;
    }
    for (Transfer& write : channel.writes)
      if (write.moved > channel.capacity)
        if (Transfer* const read = find(channel.reads, write.moved - channel.capacity);
            read != nullptr && read->end > write.begin)
          wait_for(write, read, waited_for);
  }

  // How much a pair of sockets holds depends on the size of each message and on the kernel. But a write that lasted while
  // others read there, when so much lay there that it may have been all that fits, had found no room. The kernel lets such a
  // writer go on when a quarter is left (unix_writable() in its net/unix/af_unix.c).
  void pair_with_room_in_socket(Channel& channel,
                                std::map<std::uint32_t, const Transfer*>& waited_for) {
    constexpr std::uint64_t least_full = 65'536;  // a third of the default, SO_SNDBUF in socket(7)
    constexpr std::uint64_t of_message = 512;     // besides its bytes, at the least
    for (Transfer& write : channel.writes) {
      const auto during = std::ranges::upper_bound(channel.reads, write.begin, {}, &Transfer::end);
      const auto behind = std::ranges::upper_bound(channel.reads, write.end, {}, &Transfer::end);
      if (during == behind)
        continue;
      const std::uint64_t read = during == channel.reads.begin() ? 0 : std::prev(during)->moved;
      if (write.moved <= read)
        continue;
      const auto oldest = std::ranges::upper_bound(channel.writes, read, {}, &Transfer::moved);
      const auto messages = static_cast<std::uint64_t>(&write - &*oldest) + 1;
      const std::uint64_t there = write.moved - read;
      if (there + messages * of_message < least_full)
        continue;
      const auto enough =
          std::ranges::lower_bound(during, behind, read + there - there / 4, {}, &Transfer::moved);
      wait_for(write, &*(enough == behind ? std::prev(behind) : enough), waited_for);
    }
  }

  // The first by which so many bytes have been moved.
  static Transfer* find(std::vector<Transfer>& transfers, std::uint64_t bytes) {
    const auto found = std::ranges::lower_bound(transfers, bytes, {}, &Transfer::moved);
    return found == transfers.end() ? nullptr : &*found;
  }

  static Transfer* after(std::vector<Transfer>& transfers, std::int64_t time) {
    const auto found = std::ranges::upper_bound(transfers, time, {}, &Transfer::begin);
    return found == transfers.end() ? nullptr : &*found;
  }

  void wait_for(Transfer& waits, Transfer* awaited,
                std::map<std::uint32_t, const Transfer*>& waited_for) {
    // Written or read from outside besides: then the sums do not agree.
    if (awaited == nullptr || awaited->thread == waits.thread || awaited->begin > waits.end)
      return;
    const Transfer*& last = waited_for[waits.thread];
    if (last == awaited)
      return;
    last = awaited;
    waits.waits = true;
    ++awaited->gives;
    claim_poll(waits, awaited->begin);
  }

  // A poll waits for what was done during it, and of several for the first: the others are waited for where they are
  // taken.
  void claim_poll(Transfer& waits, std::int64_t done) {
    if (!waits.polled)
      return;
    if (done < waits.polled->begin || done > waits.polled->end) {
      waits.polled.reset();
      return;
    }
    const auto [claim, is_first] =
        claims_.try_emplace({waits.thread, waits.polled->ordinal}, Claim{&waits, done});
    if (is_first)
      return;
    Transfer* loser = &waits;
    if (done < claim->second.done) {
      loser = claim->second.by;
      claim->second = {&waits, done};
    }
    loser->polled.reset();
  }

  void report(std::uint32_t channel, bool reads, const std::vector<Transfer>& transfers) {
    for (const Transfer& transfer : transfers) {
      std::vector<std::optional<ChannelUse>>& uses = found_.uses[transfer.thread];
      const bool polled = transfer.waits && transfer.polled.has_value();
      if (polled)
        uses[transfer.polled->ordinal] =
            ChannelUse{.channel = channel, .reads = reads, .waits = true};
      if ((transfer.waits && !polled) || transfer.gives != 0)
        uses[transfer.ordinal] = ChannelUse{.channel = channel,
                                            .reads = reads,
                                            .waits = transfer.waits && !polled,
                                            .gives = transfer.gives};
    }
  }

  const std::vector<RawThread>& threads_;
  const std::function<std::int64_t(std::uint64_t)>& time_of_;
  ChannelEdges found_;
  std::vector<Change> changes_;
  std::vector<Call> calls_;
  std::vector<Channel> channels_;
  std::map<std::uint32_t, std::vector<std::pair<std::int64_t, Ends>>> ends_;  // by descriptor
  std::map<std::pair<std::uint32_t, std::uint32_t>, Claim> claims_;  // by thread and ordinal
  std::map<std::uint32_t, Connection> told_;                         // by descriptor, the last
  std::map<Connection, Ends> awaited_;                               // other ends
};

}  // namespace

ChannelEdges find_channel_edges(const std::vector<RawThread>& threads,
                                const std::function<std::int64_t(std::uint64_t)>& time_of) {
  return EdgeFinder(threads, time_of).find();
}

}  // namespace longpole::recording
