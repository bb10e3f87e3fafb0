#include "random_recording.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "trace/event_forms.h"
#include "trace/host_costs.h"

namespace longpole::tests {
namespace {

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  Recording make() {
    by_hand_ = chance(4);
    make_run();
    make_code();
    make_objects();
    make_threads();
    for (std::uint32_t i = 0; i < r_.threads.size(); ++i)
      make_events(i);
    finish_creations();
    return std::move(r_);
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  std::uint32_t index(std::size_t size) { return static_cast<std::uint32_t>(below(size)); }

  // Mostly short, now and then long, so that every width of number comes up.
  std::int64_t magnitude(unsigned most_bits) {
    const auto bits = below(most_bits + 1);
    return static_cast<std::int64_t>(below(std::uint64_t{1} << bits));
  }
  Nanoseconds duration() { return Nanoseconds{chance(3) ? 0 : magnitude(chance(20) ? 42 : 24)}; }

  std::string name(const char* stem, std::size_t number) {
    constexpr std::array<const char*, 12> odd{"",
                                              " blank",
                                              "\"quoted\"",
                                              "back\\slash",
                                              "#hash",
                                              "tab\t\n\r",
                                              "\xc3\xa4\xe2\x82\xac",
                                              "\xff\xc0\x80",
                                              "=",
                                              "cpu=1",
                                              "std::vector<int, int>::at(int) const",
                                              "failed"};
    std::string out = chance(3) ? odd[index(odd.size())] : "";
    if (chance(40))
      out += std::string(1, '\0');
    if (chance(30))
      out = "@" + out;
    return out + stem + std::to_string(number);
  }

  void make_run() {
    RunInfo& run = r_.run;
    run.source = by_hand_ ? static_cast<Source>(below(2)) : static_cast<Source>(below(4));
    if (by_hand_)
      return;
    for (auto n = below(4); n > 0; --n)
      run.command.push_back(chance(5) ? "" : name("argument", n));
    if (chance(2))
      run.directory = name("/a/directory", 0);
    run.started_at_unix_ns = chance(2) ? magnitude(60) : -magnitude(60);
    run.elapsed = duration();
    run.cpu_time = duration();
    run.cpus = 1 + index(300);
    run.machine_cpus = 1 + index(300);
    if (chance(2))
      run.exit_status = static_cast<int>(below(300)) - 10;
    if (chance(3))
      run.exit_signal = static_cast<int>(below(65));
    run.cost_per_event = Nanoseconds{magnitude(10)};
    for (auto n = below(3); n > 0; --n)
      host_cost(run.costs, index(host_cost_count)) = Nanoseconds{magnitude(20)};
    if (run.costs.tick > Nanoseconds{})
      run.costs.tick += shortest_tick;
    run.samples = below(1'000'000);
    if (chance(2))
      run.sample_hz = 1 + index(10'000);
    std::uint32_t cpus = 1;
    for (auto n = below(3); n > 0; --n) {
      cpus += 1 + index(100);
      run.cpu_time_on.push_back({cpus, 1 + index(most_cpu_time_thousandths)});
    }
    run.complete = !chance(3);
    for (auto n = below(3); n > 0; --n)
      r_.notices.push_back({name("code", n), chance(4) ? "" : name("A sentence", n), below(1000)});
  }

  template <typename Tag>
  Id<Tag> maybe(std::size_t size, std::uint64_t one_in = 2) {
    return size == 0 || chance(one_in) ? Id<Tag>::none() : Id<Tag>{index(size)};
  }

  void make_code() {
    if (by_hand_)
      return;
    for (auto n = below(4); n > 0; --n)
      r_.modules.push_back({name("/lib/module", n), chance(2) ? "" : "0123abcdef", chance(2)});
    for (auto n = below(4); n > 0; --n)
      r_.files.push_back({name("/src/file", n), chance(2) ? "" : std::string(64, 'a'), chance(2)});
    // Few names, so that several functions have the same.
    for (auto n = 1 + below(6); n > 0; --n)
      r_.functions.push_back({.name = name("f", below(3)),
                              .file = maybe<FileTag>(r_.files.size()),
                              .line = index(1000),
                              .last_line = index(1000),
                              .module = maybe<ModuleTag>(r_.modules.size())});
    for (auto n = below(20); n > 0; --n)
      r_.stacks.push_back({.caller = maybe<StackTag>(r_.stacks.size()),
                           .function = {index(r_.functions.size())},
                           .file = maybe<FileTag>(r_.files.size()),
                           .line = chance(2) ? 0 : index(1000),
                           .inlined = chance(3)});
    for (auto n = r_.stacks.empty() ? 0 : below(8); n > 0; --n)
      r_.profiles.push_back(profile());
  }

  Profile profile() {
    Profile out{.exact = chance(2)};
    for (std::uint32_t i = index(r_.stacks.size()); i < r_.stacks.size();
         i += 1 + static_cast<std::uint32_t>(below(3))) {
      out.entries.push_back({{i}, chance(2) ? 0 : index(100'000)});
      if (out.exact)
        break;
    }
    return out;
  }

  void make_objects() {
    for (std::size_t kind = 0; kind < object_kind_count; ++kind)
      for (auto n = below(4); n > 0; --n) {
        const auto object_kind = static_cast<ObjectKind>(kind);
        r_.objects.push_back({.kind = object_kind,
                              .name = name("o", n),
                              .first_site = maybe<StackTag>(r_.stacks.size()),
                              .initial = object_kind == ObjectKind::semaphore ? index(3) : 0});
      }
    std::ranges::shuffle(r_.objects, random_);
  }

  void make_threads() {
    const auto count = 1 + below(chance(10) ? 40 : 5);
    for (std::size_t i = 0; i < count; ++i) {
      Thread thread{.name = name("t", i),
                    .start_function = maybe<FunctionTag>(r_.functions.size())};
      if (chance(3))
        thread.priority = static_cast<std::int32_t>(below(200)) - 100;
      if (chance(3))
        thread.bound_to = index(64);
      r_.threads.push_back(std::move(thread));
    }
  }

  std::optional<std::uint32_t> object(ObjectKind kind) {
    std::vector<std::uint32_t> fitting;
    for (std::uint32_t i = 0; i < r_.objects.size(); ++i)
      if (r_.objects[i].kind == kind)
        fitting.push_back(i);
    if (fitting.empty())
      return std::nullopt;
    return fitting[index(fitting.size())];
  }

  void make_events(std::uint32_t self) {
    Nanoseconds now = duration();
    std::vector<Event>& events = r_.threads[self].events;
    for (auto n = below(chance(10) ? 400 : 30); n > 0; --n) {
      auto event = random_event(self);
      if (!event)
        continue;
      event->time = now;
      now += chance(2) ? event->cpu + event->duration : duration();
      events.push_back(*event);
      if (event->outcome == Outcome::unfinished)
        break;
    }
    const bool stopped = !events.empty() && events.back().outcome == Outcome::unfinished;
    if (!stopped && chance(8))
      events.push_back({.time = now, .cpu = duration(), .kind = EventKind::program_exit});
    if (r_.run.complete || chance(2))
      events.push_back({.time = now, .cpu = duration(), .kind = EventKind::thread_end});
  }

  std::optional<Event> random_event(std::uint32_t self) {
    Event event{.kind = static_cast<EventKind>(below(event_kind_count))};
    if (event.kind == EventKind::thread_end || event.kind == EventKind::program_exit ||
        event.kind == EventKind::thread_create)
      return std::nullopt;  // made where they belong
    const EventForm& form = event_form(event.kind);
    do {
      event.outcome = chance(2) ? Outcome::ok : static_cast<Outcome>(below(outcome_count));
    } while (!form.allows(event.outcome) || (event.outcome == Outcome::unfinished && !chance(20)));
    event.cpu = duration();
    event.duration = chance(2) ? Nanoseconds{} : duration();
    event.site = maybe<StackTag>(r_.stacks.size());
    event.profile = maybe<ProfileTag>(r_.profiles.size());
    event.waker = maybe<ThreadTag>(r_.threads.size(), 3);
    if (event.waker.value == self)
      event.waker = {};
    const bool may_be_unknown =
        event.outcome == Outcome::failed || event.outcome == Outcome::unfinished;
    if (!choose_subject(event, form) || !choose_other(event, form))
      return std::nullopt;
    if (may_be_unknown && chance(2))
      event.subject = unknown_count;
    if (may_be_unknown && chance(2))
      event.other = unknown_count;
    return event;
  }

  bool choose_subject(Event& event, const EventForm& form) {
    switch (form.subject) {
      case SubjectForm::none:
        return true;
      case SubjectForm::function:
        if (!r_.functions.empty())
          event.subject = index(r_.functions.size());
        return !r_.functions.empty();
      case SubjectForm::thread:
        event.subject = index(r_.threads.size());
        return true;
      case SubjectForm::descriptor:
        if (chance(2))
          event.subject = index(1000);
        return true;
      case SubjectForm::object:
        event.subject = object(form.object_kind).value_or(unknown_count);
        return event.subject != unknown_count;
    }
    return false;
  }

  bool choose_other(Event& event, const EventForm& form) {
    switch (form.other) {
      case OtherForm::none:
        return true;
      case OtherForm::mutex:
        event.other = object(ObjectKind::mutex).value_or(unknown_count);
        return event.other != unknown_count;
      case OtherForm::receiver:
        event.other = index(r_.threads.size());
        return true;
      case OtherForm::spins:
        if (chance(3))
          event.other = Event::burns_cpu;
        return true;
      case OtherForm::woken:
        if (!chance(3))
          event.other = index(r_.threads.size() + 1);
        return true;
      case OtherForm::bytes:
        if (chance(2))
          event.other = index(100'000);
        return true;
      case OtherForm::parties:
        event.other = 2 + event.subject;
        return true;
    }
    return false;
  }

  // Each thread is created by at most one that comes before it, so that there is no cycle.
  void finish_creations() {
    for (std::uint32_t i = 1; i < r_.threads.size(); ++i) {
      if (chance(3))
        continue;
      const std::uint32_t creator = index(i);
      std::vector<Event>& events = r_.threads[creator].events;
      std::size_t last_place = events.size();
      while (last_place > 0 && (events[last_place - 1].kind == EventKind::thread_end ||
                                events[last_place - 1].kind == EventKind::program_exit ||
                                events[last_place - 1].outcome == Outcome::unfinished))
        --last_place;
      std::size_t place = below(last_place + 1);
      if (place > 0 && events[place - 1].outcome == Outcome::unfinished)
        --place;
      const Nanoseconds time = place < events.size() ? events[place].time
                               : events.empty()      ? Nanoseconds{}
                                                     : events.back().time;
      events.insert(events.begin() + static_cast<std::ptrdiff_t>(place),
                    {.time = time,
                     .cpu = duration(),
                     .subject = i,
                     .site = maybe<StackTag>(r_.stacks.size()),
                     .kind = EventKind::thread_create});
      r_.threads[i].creator = {creator};
    }
  }

  std::mt19937 random_;
  Recording r_;
  bool by_hand_ = false;
};

}  // namespace

Recording random_recording(std::uint32_t seed) {
  return Generator(seed).make();
}

}  // namespace longpole::tests
