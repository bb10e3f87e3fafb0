#include "trace/event_columns.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <tuple>
#include <unordered_map>

namespace longpole {
namespace {

// An event without its times: what makes one call different from another.
struct CallHash {
  std::size_t operator()(const Event& e) const {
    std::uint64_t hash = 0xcbf29ce484222325U;
    const auto mix = [&](std::uint64_t value) {
      hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 32U;
    };
    mix((std::uint64_t{e.subject} << 32U) | e.other);
    mix((std::uint64_t{e.site.value} << 32U) | e.profile.value);
    mix((std::uint64_t{e.waker.value} << 32U) | (static_cast<std::uint64_t>(e.kind) << 8U) |
        static_cast<std::uint64_t>(e.outcome));
    return hash;
  }
};

Event call_of(Event event) {
  event.time = event.cpu = event.duration = {};
  return event;
}

// By kind, and there by line: neighbours are alike then, and so are their times.
bool is_before(const Event& a, const Event& b) {
  const auto key = [](const Event& e) {
    return std::tuple(e.kind, e.site.value, e.profile.value, e.subject, e.waker.value, e.outcome,
                      e.other);
  };
  return key(a) < key(b);
}

// Where the first event of each call stands when they stand by calls.
template <typename Number>
std::vector<std::uint32_t> places_of(std::size_t calls, std::span<const Number> call_of_event) {
  std::vector<std::uint32_t> places(calls, 0);
  for (const Number call : call_of_event)
    ++places[static_cast<std::size_t>(call)];
  std::exclusive_scan(places.begin(), places.end(), places.begin(), std::uint32_t{0});
  return places;
}

// none, the largest number, is the most common: as 0 it takes no byte.
constexpr std::uint64_t plus_one(std::uint32_t value) {
  return value + 1U;
}

void write_column(ByteWriter& out, std::span<const std::uint64_t> values) {
  std::uint64_t all = 0;
  for (const std::uint64_t value : values)
    all |= value;
  const auto width = static_cast<unsigned>((std::bit_width(all) + 7) / 8);
  out.byte(static_cast<std::uint8_t>(width));
  for (unsigned shift = 0; shift < 8 * width; shift += 8)
    for (const std::uint64_t value : values)
      out.byte(static_cast<std::uint8_t>(value >> shift));
}

template <unsigned Width, typename Number>
void combine(const std::uint8_t* rows, std::size_t size, Number* out) {
  for (std::size_t i = 0; i < size; ++i) {
    Number value = 0;
    for (unsigned row = 0; row < Width; ++row)
      value |= static_cast<Number>(static_cast<Number>(rows[row * size + i]) << (8 * row));
    out[i] = value;
  }
}

template <typename Number>
void read_column(ByteReader& in, std::size_t size, std::vector<Number>& out) {
  const unsigned width = in.byte();
  if (width > sizeof(Number)) {
    in.fail("a column has numbers of " + std::to_string(width) + " bytes");
    return;
  }
  const std::uint8_t* const rows = in.raw(width * size).data();
  if (!in.sound())
    return;
  out.resize(size);
  switch (width) {
    case 0:
      std::ranges::fill(out, Number{0});
      return;
    case 1:
      return combine<1>(rows, size, out.data());
    case 2:
      return combine<2>(rows, size, out.data());
    case 3:
      return combine<3>(rows, size, out.data());
    case 4:
      return combine<4>(rows, size, out.data());
    default:
      break;
  }
  if constexpr (sizeof(Number) == 8) {
    switch (width) {
      case 5:
        return combine<5>(rows, size, out.data());
      case 6:
        return combine<6>(rows, size, out.data());
      case 7:
        return combine<7>(rows, size, out.data());
      default:
        return combine<8>(rows, size, out.data());
    }
  }
}

constexpr std::uint64_t nanoseconds(Nanoseconds time) {
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace

void EventBlockEncoder::number_calls(std::span<const Stretch> stretches) {
  std::unordered_map<Event, std::uint32_t, CallHash> numbers;
  calls_.clear();
  call_.clear();
  for (const Stretch& stretch : stretches)
    for (const Event& event : stretch.events) {
      const Event call = call_of(event);
      const auto [number, added] =
          numbers.try_emplace(call, static_cast<std::uint32_t>(calls_.size()));
      if (added)
        calls_.push_back(call);
      call_.push_back(number->second);
    }
  std::vector<std::uint32_t> order(calls_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return is_before(calls_[a], calls_[b]); });
  std::vector<Event> sorted;
  std::vector<std::uint64_t> renumbered(calls_.size());
  for (const std::uint32_t call : order) {
    renumbered[call] = sorted.size();
    sorted.push_back(calls_[call]);
  }
  calls_ = std::move(sorted);
  for (std::uint64_t& call : call_)
    call = renumbered[call];
}

void EventBlockEncoder::write_by_calls(ByteWriter& out, std::span<const std::uint64_t> values) {
  std::vector<std::uint32_t> places = places_;
  column_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    column_[places[call_[i]]++] = values[i];
  write_column(out, column_);
}

void EventBlockEncoder::encode(ByteWriter& out, std::span<const Stretch> stretches) {
  number_calls(stretches);
  cpu_.clear();
  duration_.clear();
  gap_.clear();

  out.number(stretches.size());
  for (const Stretch& stretch : stretches) {
    std::uint64_t returned = nanoseconds(stretch.events.front().time - stretch.events.front().cpu);
    out.number(stretch.thread.value);
    out.number(stretch.events.size());
    out.signed_number(static_cast<std::int64_t>(returned));
    for (const Event& event : stretch.events) {
      cpu_.push_back(nanoseconds(event.cpu));
      duration_.push_back(nanoseconds(event.duration));
      gap_.push_back(zigzag(
          static_cast<std::int64_t>(nanoseconds(event.time) - returned - nanoseconds(event.cpu))));
      returned = nanoseconds(event.time) + nanoseconds(event.duration);
    }
  }

  out.number(calls_.size());
  const auto write_calls = [&](auto field) {
    column_.clear();
    for (const Event& call : calls_)
      column_.push_back(field(call));
    write_column(out, column_);
  };
  write_calls([](const Event& e) { return static_cast<std::uint64_t>(e.kind); });
  write_calls([](const Event& e) { return static_cast<std::uint64_t>(e.outcome); });
  write_calls([](const Event& e) { return plus_one(e.subject); });
  write_calls([](const Event& e) { return plus_one(e.other); });
  write_calls([](const Event& e) { return plus_one(e.site.value); });
  write_calls([](const Event& e) { return plus_one(e.profile.value); });
  write_calls([](const Event& e) { return plus_one(e.waker.value); });
  write_column(out, call_);
  places_ = places_of(calls_.size(), std::span<const std::uint64_t>(call_));
  write_by_calls(out, cpu_);
  write_by_calls(out, duration_);
  write_by_calls(out, gap_);
}

void EventBlockDecoder::decode(ByteReader& in) {
  decode_stretches(in);
  decode_calls(in);
  if (!in.sound())
    return;
  read_column(in, size_, call_);
  read_column(in, size_, cpu_);
  read_column(in, size_, duration_);
  read_column(in, size_, gap_);
  if (in.left() != 0)
    in.fail("something follows the last column");
  if (!in.sound())
    return;
  if (std::ranges::max(call_) >= calls_.size())
    return in.fail("an event names a call that is not in its block");
  if (by_calls_)
    places_ = places_of(calls_.size(), std::span<const std::uint32_t>(call_));
  std::size_t first = 0;
  for (const Stretch& stretch : stretches_) {
    fill(stretch, first);
    first += stretch.events.size();
  }
}

void EventBlockDecoder::decode_stretches(ByteReader& in) {
  const std::size_t count = in.count("stretches of events", events_per_block);
  stretches_.clear();
  size_ = 0;
  for (std::size_t i = 0; i < count && in.sound(); ++i) {
    const std::uint64_t thread = in.number();
    const std::uint64_t events = in.number();
    const std::int64_t start = in.signed_number();
    if (!in.sound())
      return;
    if (complete() || thread != thread_)
      return in.fail("it has events of thread " + std::to_string(thread) + " out of turn");
    std::vector<Event>& all = threads_[thread_].events;
    if (events == 0 || events > all.size() - event_ || events > events_per_block - size_)
      return in.fail("it has " + std::to_string(events) + " events of thread " +
                     std::to_string(thread) + ", which cannot be");
    stretches_.push_back({std::span(all).subspan(event_, static_cast<std::size_t>(events)),
                          static_cast<std::uint64_t>(start)});
    event_ += static_cast<std::size_t>(events);
    size_ += static_cast<std::size_t>(events);
  }
  if (size_ == 0)
    in.fail("it has no events");
}

void EventBlockDecoder::decode_calls(ByteReader& in) {
  const std::uint64_t count = in.number();
  if (count > size_)
    return in.fail("it has more calls than events");
  calls_.assign(static_cast<std::size_t>(count), Event{});
  std::vector<std::uint32_t> column;
  const auto read_calls = [&](auto set) {
    read_column(in, calls_.size(), column);
    for (std::size_t i = 0; i < calls_.size() && in.sound(); ++i)
      set(calls_[i], column[i]);
  };
  // Numbers out of their range are for validate() to find: here only what does not fit is lost.
  const auto to_byte = [&](std::uint32_t value) {
    if (value > 0xffU)
      in.fail("a call is of no known kind");
    return static_cast<std::uint8_t>(value);
  };
  read_calls([&](Event& e, std::uint32_t v) { e.kind = static_cast<EventKind>(to_byte(v)); });
  read_calls([&](Event& e, std::uint32_t v) { e.outcome = static_cast<Outcome>(to_byte(v)); });
  read_calls([](Event& e, std::uint32_t v) { e.subject = v - 1U; });
  read_calls([](Event& e, std::uint32_t v) { e.other = v - 1U; });
  read_calls([](Event& e, std::uint32_t v) { e.site.value = v - 1U; });
  read_calls([](Event& e, std::uint32_t v) { e.profile.value = v - 1U; });
  read_calls([](Event& e, std::uint32_t v) { e.waker.value = v - 1U; });
}

void EventBlockDecoder::fill(const Stretch& stretch, std::size_t first) {
  std::uint64_t returned = stretch.start;
  const auto to_time = [](std::uint64_t value) {
    return Nanoseconds{static_cast<std::int64_t>(value)};
  };
  for (std::size_t i = 0; i < stretch.events.size(); ++i) {
    Event& event = stretch.events[i];
    const std::uint32_t call = call_[first + i];
    event = calls_[call];
    const std::size_t place = by_calls_ ? places_[call]++ : first + i;
    const std::uint64_t cpu = cpu_[place];
    const std::uint64_t duration = duration_[place];
    const std::uint64_t time = returned + cpu + static_cast<std::uint64_t>(unzigzag(gap_[place]));
    event.time = to_time(time);
    event.cpu = to_time(cpu);
    event.duration = to_time(duration);
    returned = time + duration;
  }
}

bool EventBlockDecoder::complete() {
  while (thread_ < threads_.size() && event_ == threads_[thread_].events.size()) {
    ++thread_;
    event_ = 0;
  }
  return thread_ == threads_.size();
}

}  // namespace longpole
