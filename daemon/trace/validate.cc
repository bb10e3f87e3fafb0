#include <fmt/format.h>

#include <array>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "trace/event_forms.h"
#include "trace/host_costs.h"
#include "trace/limits.h"

namespace longpole {
namespace {

constexpr Limits limits;

tl::unexpected<Error> contradiction(std::string why) {
  return bad_input("the recording contradicts itself", std::move(why));
}

tl::unexpected<Error> too_large(std::string why) {
  return over_limit("the recording is too large", std::move(why));
}

template <typename Tag>
bool in_table(Id<Tag> id, std::size_t size) {
  return id.index() < size;
}
template <typename Tag>
bool none_or_in_table(Id<Tag> id, std::size_t size) {
  return !id.known() || in_table(id, size);
}

bool is_time(Nanoseconds t) {
  return t >= Nanoseconds{} && t <= longest_time;
}

bool is_lower_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

class Validator {
 public:
  explicit Validator(const Recording& recording) : r_(recording) {}

  Expected<void> check() {
    return check_sizes()
        .and_then([&] { return check_run(); })
        .and_then([&] { return check_code(); })
        .and_then([&] { return check_objects(); })
        .and_then([&] { return check_threads(); })
        .and_then([&] { return check_events(); });
  }

 private:
  // What is wrong with an event. The fast pass over millions of them only finds which; the words
  // are looked up for the one that is reported.
  enum class Flaw : std::uint8_t {
    none,
    kind,
    outcome,
    time,
    order,
    cpu,
    duration,
    subject,
    object_kind,
    other,
    parties,
    site,
    profile,
    waker,
    created_twice,
    creator,
    after_end,
    after_exit,
    after_unfinished,
    sum,
  };

  static std::string_view flaw_text(Flaw flaw) {
    switch (flaw) {
      case Flaw::none:
        return "is sound";
      case Flaw::kind:
        return "is of no known kind";
      case Flaw::outcome:
        return "has an outcome that such a call cannot have";
      case Flaw::time:
        return "has a time that is negative or beyond 834 days";
      case Flaw::order:
        return "comes earlier than the event before it";
      case Flaw::cpu:
        return "has a CPU time that is negative or beyond 834 days";
      case Flaw::duration:
        return "has a duration that is negative or beyond 834 days";
      case Flaw::subject:
        return "names a thread, object or function that is not in the tables, or should name none";
      case Flaw::object_kind:
        return "is done to an object of another kind";
      case Flaw::other:
        return "has a mutex, receiver or count that it cannot have";
      case Flaw::parties:
        return "waits at its barrier for another number of threads than before";
      case Flaw::site:
        return "has a site that is not in the table of stacks";
      case Flaw::profile:
        return "has a profile that is not in the table of profiles";
      case Flaw::waker:
        return "was woken by itself or by a thread that is not in the table";
      case Flaw::created_twice:
        return "creates a thread that was created before";
      case Flaw::creator:
        return "creates a thread that names another creator";
      case Flaw::after_end:
        return "comes after the end of the thread";
      case Flaw::after_exit:
        return "comes after the end of the program";
      case Flaw::after_unfinished:
        return "comes after a call that did not return";
      case Flaw::sum:
        return "brings the time of all threads together beyond 834 days";
    }
    return "";
  }

  Expected<void> check_sizes() {
    const std::array<std::pair<std::string_view, std::size_t>, 7> tables{{
        {"notices", r_.notices.size()},
        {"modules", r_.modules.size()},
        {"files", r_.files.size()},
        {"functions", r_.functions.size()},
        {"stacks", r_.stacks.size()},
        {"profiles", r_.profiles.size()},
        {"objects", r_.objects.size()},
    }};
    for (const auto& [name, size] : tables)
      if (size > limits.table_entries)
        return too_large(
            fmt::format("it has {} {}; the limit is {}", size, name, limits.table_entries));
    if (r_.threads.empty())
      return contradiction("it has no thread");
    if (r_.threads.size() > limits.threads)
      return too_large(
          fmt::format("it has {} threads; the limit is {}", r_.threads.size(), limits.threads));
    if (const std::size_t events = r_.event_count(); events > limits.events)
      return too_large(fmt::format("it has {} events; the limit is {}", events, limits.events));
    return {};
  }

  Expected<void> check_string(const std::string& text, std::string_view what) {
    text_bytes_ += text.size();
    if (text_bytes_ > limits.text_bytes)
      return too_large(
          fmt::format("its names and texts have more than {} bytes, the limit", limits.text_bytes));
    if (text.size() > limits.name_bytes)
      return too_large(
          fmt::format("{} has {} bytes; the limit is {}", what, text.size(), limits.name_bytes));
    return {};
  }
  Expected<void> check_name(const std::string& text, std::string_view what) {
    if (text.empty())
      return contradiction(fmt::format("{} has no name", what));
    return check_string(text, what);
  }

  Expected<void> check_run() {
    const RunInfo& run = r_.run;
    if (static_cast<std::size_t>(run.source) >= source_count)
      return contradiction("its source is of no known kind");
    if (!is_time(run.elapsed) || !is_time(run.cpu_time) || !is_time(run.cost_per_event))
      return contradiction("a time of the run is negative or beyond 834 days");
    for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
      const Nanoseconds time = host_cost(run.costs, cost);
      if (time < Nanoseconds{} || time > dearest_host_cost)
        return contradiction(
            fmt::format("the cost of {} is negative or above a second", host_cost_word(cost)));
    }
    if (run.costs.tick > Nanoseconds{} && run.costs.tick < shortest_tick)
      return contradiction("its tick is shorter than 100 us");
    if (run.cpu_time_on.size() > most_cpu_times_on)
      return too_large(fmt::format("it has CPU times on {} numbers of CPUs; the limit is {}",
                                   run.cpu_time_on.size(), most_cpu_times_on));
    std::uint32_t fewer = 1;
    for (const CpuTimeOn& one : run.cpu_time_on) {
      if (one.cpus <= std::exchange(fewer, one.cpus))
        return contradiction("its CPU times on several CPUs are not in ascending order");
      if (one.thousandths < 1 || one.thousandths > most_cpu_time_thousandths)
        return contradiction(
            fmt::format("its CPU time on {} CPUs is not 1 to {} thousandths of that on one",
                        one.cpus, most_cpu_time_thousandths));
    }
    if (run.cpus < 1 || run.machine_cpus < 1)
      return contradiction("it was made on no CPU at all");
    if (run.command.size() > limits.table_entries)
      return too_large(fmt::format("its command has {} arguments; the limit is {}",
                                   run.command.size(), limits.table_entries));
    for (const std::string& argument : run.command)
      if (auto sound = check_string(argument, "an argument of the command"); !sound)
        return sound;
    if (auto sound = check_string(run.directory, "the directory"); !sound)
      return sound;
    for (const Notice& notice : r_.notices) {
      if (auto sound = check_name(notice.code, "a notice"); !sound)
        return sound;
      if (auto sound = check_string(notice.text, "a notice"); !sound)
        return sound;
    }
    return {};
  }

  Expected<void> check_code() {
    for (const Module& module : r_.modules) {
      if (auto sound = check_name(module.path, "a module"); !sound)
        return sound;
      if (auto sound = check_string(module.build_id, "a build id"); !sound)
        return sound;
      if (!is_lower_hexadecimal(module.build_id))
        return contradiction(fmt::format("the build id of {} is not hexadecimal", module.path));
    }
    for (const File& file : r_.files) {
      if (auto sound = check_name(file.path, "a source file"); !sound)
        return sound;
      if (!is_lower_hexadecimal(file.sha256) || (!file.sha256.empty() && file.sha256.size() != 64))
        return contradiction(fmt::format("the hash of {} is not a SHA-256", file.path));
    }
    for (std::size_t i = 0; i < r_.functions.size(); ++i) {
      const Function& function = r_.functions[i];
      if (auto sound = check_name(function.name, fmt::format("function {}", i)); !sound)
        return sound;
      if (!none_or_in_table(function.file, r_.files.size()) ||
          !none_or_in_table(function.module, r_.modules.size()))
        return contradiction(
            fmt::format("function {} names a file or module that is not in the tables", i));
    }
    std::vector<std::uint32_t> depth(r_.stacks.size());
    for (std::size_t i = 0; i < r_.stacks.size(); ++i) {
      const Stack& stack = r_.stacks[i];
      if (!none_or_in_table(stack.caller, i))
        return contradiction(fmt::format("stack {} does not come after its caller", i));
      if (!in_table(stack.function, r_.functions.size()) ||
          !none_or_in_table(stack.file, r_.files.size()))
        return contradiction(
            fmt::format("stack {} names a function or file that is not in the tables", i));
      depth[i] = stack.caller.known() ? depth[stack.caller.index()] + 1 : 1;
      if (depth[i] > limits.stack_depth)
        return too_large(fmt::format("stack {} is a path of {} frames; the limit is {}", i,
                                     depth[i], limits.stack_depth));
    }
    for (std::size_t i = 0; i < r_.profiles.size(); ++i)
      if (auto sound = check_profile(i); !sound)
        return sound;
    return {};
  }

  Expected<void> check_profile(std::size_t i) {
    const Profile& profile = r_.profiles[i];
    if (profile.entries.empty() || (profile.exact && profile.entries.size() != 1))
      return contradiction(fmt::format("profile {} has {} entries", i, profile.entries.size()));
    profile_entries_ += profile.entries.size();
    if (profile_entries_ > limits.table_entries)
      return too_large(
          fmt::format("its profiles have more than {} entries, the limit", limits.table_entries));
    StackId before = StackId::none();
    for (const ProfileEntry& entry : profile.entries) {
      if (!in_table(entry.stack, r_.stacks.size()))
        return contradiction(fmt::format("profile {} names a stack that is not in the table", i));
      if (before.known() && entry.stack <= before)
        return contradiction(fmt::format("profile {} is not in the order of its stacks", i));
      before = entry.stack;
    }
    return {};
  }

  Expected<void> check_objects() {
    std::array<std::unordered_set<std::string_view>, object_kind_count> names;
    for (std::size_t i = 0; i < r_.objects.size(); ++i) {
      const Object& object = r_.objects[i];
      const auto kind = static_cast<std::size_t>(object.kind);
      if (kind >= object_kind_count)
        return contradiction(fmt::format("object {} is of no known kind", i));
      if (auto sound = check_name(object.name, fmt::format("object {}", i)); !sound)
        return sound;
      if (!names[kind].insert(object.name).second)
        return contradiction(fmt::format("two of the kind {} are called \"{}\"",
                                         object_kind_word(object.kind), object.name));
      if (!none_or_in_table(object.first_site, r_.stacks.size()))
        return contradiction(
            fmt::format("the site of \"{}\" is not in the table of stacks", object.name));
      if (object.initial != 0 && object.kind != ObjectKind::semaphore)
        return contradiction(
            fmt::format("\"{}\" has an initial value and is no semaphore", object.name));
    }
    return {};
  }

  Expected<void> check_threads() {
    std::unordered_set<std::string_view> names;
    for (std::size_t i = 0; i < r_.threads.size(); ++i) {
      const Thread& thread = r_.threads[i];
      if (auto sound = check_name(thread.name, fmt::format("thread {}", i)); !sound)
        return sound;
      if (!names.insert(thread.name).second)
        return contradiction(fmt::format("two threads are called \"{}\"", thread.name));
      if (!none_or_in_table(thread.start_function, r_.functions.size()))
        return contradiction(
            fmt::format("the start function of thread \"{}\" is not in the table", thread.name));
      if (!none_or_in_table(thread.creator, r_.threads.size()) || thread.creator.value == i)
        return contradiction(
            fmt::format("the creator of thread \"{}\" is itself or not in the table", thread.name));
    }
    return {};
  }

  Expected<void> check_events() {
    created_.assign(r_.threads.size(), false);
    parties_.assign(r_.objects.size(), 0);
    for (std::size_t i = 0; i < r_.threads.size(); ++i) {
      const Thread& thread = r_.threads[i];
      const ThreadId self{static_cast<std::uint32_t>(i)};
      const Event* before = nullptr;
      for (const Event& event : thread.events) {
        if (const Flaw flaw = first_flaw(event, before, self); flaw != Flaw::none)
          return contradiction(fmt::format("event {} of thread \"{}\"{} {}",
                                           &event - thread.events.data(), thread.name,
                                           word_of(event), flaw_text(flaw)));
        before = &event;
      }
      if (r_.run.complete && (before == nullptr || before->kind != EventKind::thread_end))
        return contradiction(
            fmt::format("thread \"{}\" does not end, yet the run is complete", thread.name));
    }
    for (std::size_t i = 0; i < r_.threads.size(); ++i)
      if (r_.threads[i].creator.known() && !created_[i])
        return contradiction(
            fmt::format("thread \"{}\" has a creator that does not create it", r_.threads[i].name));
    return check_starts();
  }

  // Of threads that create each other none would ever run, and the program would end at once.
  Expected<void> check_starts() {
    constexpr std::size_t not_seen = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> seen_from(r_.threads.size(), not_seen);
    for (std::size_t i = 0; i < r_.threads.size(); ++i) {
      ThreadId at{static_cast<std::uint32_t>(i)};
      for (; at.known() && seen_from[at.index()] == not_seen; at = r_.threads[at.index()].creator)
        seen_from[at.index()] = i;
      if (at.known() && seen_from[at.index()] == i)
        return contradiction(
            fmt::format("thread \"{}\" is created by a thread that it created, or that one did",
                        r_.threads[at.index()].name));
    }
    return {};
  }

  static std::string word_of(const Event& event) {
    if (static_cast<std::size_t>(event.kind) >= event_kind_count)
      return {};
    return fmt::format(" ({})", event_form(event.kind).word);
  }

  Flaw first_flaw(const Event& e, const Event* before, ThreadId self) {
    if (static_cast<std::size_t>(e.kind) >= event_kind_count)
      return Flaw::kind;
    const EventForm& form = event_form(e.kind);
    if (!form.allows(e.outcome))
      return Flaw::outcome;
    if (!is_time(e.time))
      return Flaw::time;
    if (!is_time(e.cpu))
      return Flaw::cpu;
    if (!is_time(e.duration))
      return Flaw::duration;
    if (!none_or_in_table(e.site, r_.stacks.size()))
      return Flaw::site;
    if (!none_or_in_table(e.profile, r_.profiles.size()))
      return Flaw::profile;
    if (!none_or_in_table(e.waker, r_.threads.size()) || e.waker == self)
      return Flaw::waker;
    total_ += e.cpu + (waits_for_fixed_time(e) ? e.duration : Nanoseconds{});
    if (total_ > longest_time)
      return Flaw::sum;
    if (before != nullptr) {
      if (e.time < before->time)
        return Flaw::order;
      if (before->kind == EventKind::thread_end)
        return Flaw::after_end;
      if (before->kind == EventKind::program_exit && e.kind != EventKind::thread_end)
        return Flaw::after_exit;
      if (before->outcome == Outcome::unfinished && e.kind != EventKind::thread_end)
        return Flaw::after_unfinished;
    }
    if (const Flaw flaw = subject_flaw(e, form, self); flaw != Flaw::none)
      return flaw;
    return other_flaw(e, form);
  }

  // A call that failed or did not return need not name what it was done to.
  static bool may_be_unknown(const Event& e) {
    return e.outcome == Outcome::failed || e.outcome == Outcome::unfinished;
  }

  Flaw subject_flaw(const Event& e, const EventForm& form, ThreadId self) {
    if (e.subject == unknown_count)
      return form.subject == SubjectForm::none || form.subject == SubjectForm::descriptor ||
                     may_be_unknown(e)
                 ? Flaw::none
                 : Flaw::subject;
    switch (form.subject) {
      case SubjectForm::none:
        return Flaw::subject;
      case SubjectForm::descriptor:
        return Flaw::none;
      case SubjectForm::function:
        return in_table(e.callee(), r_.functions.size()) ? Flaw::none : Flaw::subject;
      case SubjectForm::thread:
        if (!in_table(e.thread(), r_.threads.size()))
          return Flaw::subject;
        return e.kind == EventKind::thread_create && e.outcome != Outcome::failed
                   ? creation_flaw(e, self)
                   : Flaw::none;
      case SubjectForm::object:
        if (!in_table(e.object(), r_.objects.size()))
          return Flaw::subject;
        return r_.objects[e.subject].kind == form.object_kind ? Flaw::none : Flaw::object_kind;
    }
    return Flaw::subject;
  }

  Flaw creation_flaw(const Event& e, ThreadId self) {
    if (created_[e.subject])
      return Flaw::created_twice;
    created_[e.subject] = true;
    return r_.threads[e.subject].creator == self ? Flaw::none : Flaw::creator;
  }

  Flaw other_flaw(const Event& e, const EventForm& form) {
    if (e.other == unknown_count)
      return form.other == OtherForm::none || form.other == OtherForm::spins ||
                     form.other == OtherForm::woken || form.other == OtherForm::bytes ||
                     may_be_unknown(e)
                 ? Flaw::none
                 : Flaw::other;
    switch (form.other) {
      case OtherForm::none:
        return Flaw::other;
      case OtherForm::mutex:
        return in_table(e.mutex(), r_.objects.size()) &&
                       r_.objects[e.other].kind == ObjectKind::mutex
                   ? Flaw::none
                   : Flaw::other;
      case OtherForm::receiver:
        return in_table(e.receiver(), r_.threads.size()) ? Flaw::none : Flaw::other;
      case OtherForm::spins:
        return e.spins() ? Flaw::none : Flaw::other;
      case OtherForm::woken:
        return e.other <= r_.threads.size() ? Flaw::none : Flaw::other;
      case OtherForm::bytes:
        return Flaw::none;
      case OtherForm::parties:
        return parties_flaw(e);
    }
    return Flaw::other;
  }

  Flaw parties_flaw(const Event& e) {
    if (e.other < 1)
      return Flaw::other;
    if (e.subject == unknown_count)
      return Flaw::none;
    std::uint32_t& parties = parties_[e.subject];
    if (parties != 0 && parties != e.other)
      return Flaw::parties;
    parties = e.other;
    return Flaw::none;
  }

  const Recording& r_;
  std::vector<bool> created_;           // by thread
  std::vector<std::uint32_t> parties_;  // by object: of a barrier, 0 until it is used
  std::size_t text_bytes_ = 0;
  std::size_t profile_entries_ = 0;
  Nanoseconds total_{};
};

}  // namespace

Expected<void> validate(const Recording& recording) {
  return Validator(recording).check();
}

}  // namespace longpole
