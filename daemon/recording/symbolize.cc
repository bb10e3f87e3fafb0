#include "recording/symbolize.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "recording/deadlock.h"
#include "recording/exact_functions.h"
#include "recording/lockstep_advice.h"
#include "recording/profiles.h"
#include "recording/recorder_library.h"
#include "recording/thread_bodies.h"
#include "recording/waiting_samples.h"
#include "symbols/names.h"

namespace longpole::recording {
namespace {

using symbols::Addresses;
using symbols::SymbolTable;

// "worker(int, char**) const" → "worker": what is enough to call a thread by.
std::string without_parameters(std::string name) {
  constexpr std::string_view qualifier = " const";
  if (name.ends_with(qualifier))
    name.resize(name.size() - qualifier.size());
  if (!name.ends_with(')'))
    return name;
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (depth == 0) {
      // Not the whole name, and not the name of the operator().
      if (i > 0 && !std::string_view(name).substr(0, i).ends_with("operator"))
        name.resize(i);
      break;
    }
  }
  return name;
}

std::string signal_name(int signal) {
  // Of Linux on every architecture that we record on. sigabbrev_np() would be of glibc 2.32.
  constexpr std::array names = {"HUP",  "INT",    "QUIT", "ILL",   "TRAP", "ABRT", "BUS",  "FPE",
                                "KILL", "USR1",   "SEGV", "USR2",  "PIPE", "ALRM", "TERM", "STKFLT",
                                "CHLD", "CONT",   "STOP", "TSTP",  "TTIN", "TTOU", "URG",  "XCPU",
                                "XFSZ", "VTALRM", "PROF", "WINCH", "IO",   "PWR",  "SYS"};
  const auto index = static_cast<std::size_t>(signal) - 1;
  return index < names.size() ? fmt::format("SIG{}", names[index])
                              : fmt::format("signal {}", signal);
}

class Symbolizer {
 public:
  Symbolizer(MergedRun run, const std::vector<symbols::Mapping>& mappings, std::string program)
      : run_(std::move(run)), mappings_(mappings), program_(std::move(program)) {
    for (const symbols::Mapping& mapping : mappings) {
      table_.add_mapping(mapping);
      if (std::filesystem::path(mapping.path).filename() == recorder_file_name)
        recorder_.push_back({mapping.start, mapping.end});
    }
  }

  Recording symbolize();

 private:
  StackId resolve_site(const CallSite& site);
  bool is_recorder(std::uint64_t address) const;
  bool is_recording(const std::vector<std::uint64_t>& path);
  bool reads_memory(std::uint64_t address);
  bool is_user(StackId stack) const { return stack.known() && table_.user_frame(stack) == stack; }
  std::string place_name(StackId stack) const;
  void finish_exact_threads();
  void name_threads();
  [[nodiscard]] bool is_of_openmp(std::size_t thread) const;
  [[nodiscard]] std::string stand_in_name(const MergedObject& object,
                                          const std::string& place) const;
  void name_objects();
  void notice_missing_debug_information();
  void notice_waiting_loops(const WaitingSamples& waiting, StackId place);

  MergedRun run_;
  const std::vector<symbols::Mapping>& mappings_;
  std::string program_;
  SymbolTable table_;
  struct Range {
    std::uint64_t start;
    std::uint64_t end;
  };
  std::vector<Range> recorder_;                        // where its code lies
  std::vector<StackId> sites_;                         // by index into run_.sites
  std::vector<StackId> paths_;                         // by index into run_.paths
  std::vector<FunctionId> functions_;                  // by index into run_.functions
  std::vector<StackId> starts_;                        // by thread: of its start function, if given
  std::vector<std::optional<std::string>> variables_;  // by object
  std::vector<StackId> user_sites_;  // by object: the user's frame at its first site
  Recording recording_;
};

// The innermost place in the user's own code; calls from the inside of libraries come with
// candidates for the frames further out.
StackId Symbolizer::resolve_site(const CallSite& site) {
  const StackId own = table_.stack(std::span(&site.address, 1), Addresses::returns);
  if (own.known() && table_.user_frame(own).known())
    return own;
  for (const std::uint64_t& candidate : site.candidates) {
    const StackId outer = table_.stack(std::span(&candidate, 1), Addresses::returns);
    if (outer.known() && table_.user_frame(outer).known())
      return table_.user_frame(outer);
  }
  return own;
}

bool Symbolizer::is_recorder(std::uint64_t address) const {
  return std::ranges::any_of(recorder_, [address](const Range& range) {
    return range.start <= address && address < range.end;
  });
}

// Whether a sample is of the recorder's own work, whose cost is taken out. A call of the program passes
// through one frame of the recorder: more of them, or the innermost, are its own. Only those further in count: the recorder
// also calls routines of the program, those of pthread_once(), and may have come to that through several frames. Where it is
// one frame by inlining, it still calls process_vm_readv() for itself alone.
bool Symbolizer::is_recording(const std::vector<std::uint64_t>& path) {
  const auto recorder =
      std::ranges::find_if(path, [this](std::uint64_t address) { return is_recorder(address); });
  if (recorder == path.end())
    return false;
  // A portable sample has but the innermost frame and the one it may have come from.
  const std::ptrdiff_t innermost = run_.run.source == Source::portable ? 1 : 0;
  return recorder - path.begin() <= innermost ||
         (recorder + 1 != path.end() && is_recorder(*(recorder + 1))) ||
         (recorder - path.begin() == 1 && reads_memory(path.front()));
}

bool Symbolizer::reads_memory(std::uint64_t address) {
  const FunctionId function = table_.function(address);
  return function.known() && table_.function(function).name == "process_vm_readv";
}

Recording Symbolizer::symbolize() {
  for (const CallSite& site : run_.sites)
    sites_.push_back(resolve_site(site));
  for (const std::vector<std::uint64_t>& path : run_.paths)
    paths_.push_back(is_recording(path) ? StackId::none() : table_.stack(path, Addresses::exact));

  recording_.run = std::move(run_.run);
  recording_.notices = std::move(run_.notices);
  for (const std::uint64_t address : run_.functions)
    functions_.push_back(table_.function(address));
  const std::vector<FunctionId> bodies = ThreadBodies(table_, sites_, paths_).find(run_.threads);
  ProfilePools pools(sites_, paths_);
  for (MergedThread& merged : run_.threads) {
    Thread thread;
    thread.start_function = bodies[recording_.threads.size()];
    thread.creator = merged.creator;
    thread.priority = merged.priority;
    thread.bound_to = merged.bound_to;
    StackId fallback;
    if (merged.start_function != 0)
      fallback = table_.stack(std::span(&merged.start_function, 1), Addresses::exact);
    starts_.push_back(fallback);
    if (ExactFunctions::describe(merged)) {
      recording_.threads.push_back(std::move(thread));
      continue;
    }
    pools.add_thread(merged, recording_.threads.size(), thread.start_function, fallback);
    for (std::size_t i = 0; i < merged.events.size(); ++i)
      if (merged.sites[i] != no_site)
        merged.events[i].site = sites_[merged.sites[i]];
    thread.events = std::move(merged.events);
    recording_.threads.push_back(std::move(thread));
  }
  recording_.profiles = pools.take_profiles(recording_.threads);

  for (const MergedObject& merged : run_.objects) {
    Object object;
    object.kind = merged.kind;
    object.initial = merged.initial;
    if (merged.first_site != no_site)
      object.first_site = sites_[merged.first_site];
    const StackId user =
        object.first_site.known() ? table_.user_frame(object.first_site) : StackId::none();
    user_sites_.push_back(user.known() ? user : object.first_site);
    variables_.push_back(table_.object_name(merged.address));
    recording_.objects.push_back(std::move(object));
  }
  const auto waiting =
      run_.takes_turns ? waiting_samples(run_, mappings_) : std::optional<WaitingSamples>();
  StackId waiting_place = waiting ? paths_[waiting->most_sampled] : StackId::none();
  if (waiting_place.known() && table_.user_frame(waiting_place).known())
    waiting_place = table_.user_frame(waiting_place);
  table_.move_into(recording_);
  finish_exact_threads();
  name_threads();
  name_objects();
  notice_missing_debug_information();
  if (waiting_place.known())
    notice_waiting_loops(*waiting, waiting_place);
  if (auto deadlock = find_deadlock(recording_))
    recording_.notices.push_back(*std::move(deadlock));
  return std::move(recording_);
}

void Symbolizer::finish_exact_threads() {
  for (FunctionId& function : functions_)
    if (!function.known()) {
      // Of a library that is no longer there.
      function = FunctionId{static_cast<std::uint32_t>(recording_.functions.size())};
      recording_.functions.push_back({.name = "[unknown]"});
    }
  ExactFunctions exact(recording_, functions_, run_.function_depth, sites_, paths_);
  for (std::size_t i = 0; i < run_.threads.size(); ++i)
    if (MergedThread& merged = run_.threads[i]; ExactFunctions::describe(merged)) {
      exact.add_thread(merged, starts_[i]);
      recording_.threads[i].events = std::move(merged.events);
    }
  exact.finish(recording_.threads);
}

bool Symbolizer::is_of_openmp(std::size_t thread) const {
  const StackId start = starts_[thread];
  if (!start.known())
    return false;
  const ModuleId module =
      recording_.functions[recording_.stacks[start.index()].function.index()].module;
  return module.known() && symbols::is_openmp_runtime(recording_.modules[module.index()].path);
}

void Symbolizer::name_threads() {
  std::map<std::string, int> ordinals;
  std::set<std::string> taken;
  std::map<std::string, int> named;  // by the program
  for (const MergedThread& merged : run_.threads)
    ++named[merged.name];
  for (std::size_t i = 0; i < recording_.threads.size(); ++i) {
    Thread& thread = recording_.threads[i];
    if (run_.threads[i].is_main) {
      thread.name = "main";
    } else if (const std::string& name = run_.threads[i].name; !name.empty()) {
      thread.name = named[name] == 1 ? name : fmt::format("{}.{}", name, ++ordinals[name]);
    } else {
      const std::string function =
          thread.start_function.known()
              ? without_parameters(recording_.functions[thread.start_function.index()].name)
              : "thread";
      // One such thread runs the bodies of many regions, and none of their names is the programmer's.
      const std::string base = is_of_openmp(i) ? "OpenMP" : function;
      thread.name = fmt::format("{}.{}", base, ++ordinals[base]);
    }
    while (!taken.insert(thread.name).second)
      thread.name += "'";
  }
}

// "queue.c:17"; without line tables the function.
std::string Symbolizer::place_name(StackId stack) const {
  if (!stack.known())
    return {};
  const Stack& frame = recording_.stacks[stack.index()];
  if (!frame.file.known())
    return recording_.functions[frame.function.index()].name;
  return fmt::format(
      "{}:{}", std::filesystem::path(recording_.files[frame.file.index()].path).filename().string(),
      frame.line);
}

// Of what is no object of the program. `place`: where it was made.
std::string Symbolizer::stand_in_name(const MergedObject& object, const std::string& place) const {
  const auto name = [this](ThreadId thread) -> const std::string& {
    return recording_.threads[thread.index()].name;
  };
  switch (object.stands_for) {
    case StandsFor::wake_ups:
      return fmt::format("wake-ups of {} by {}", name(object.woken), name(object.waker));
    case StandsFor::signals:
      return fmt::format("{} to {}", signal_name(object.signal), name(object.woken));
    case StandsFor::cancellation:
      return fmt::format("cancellation of {}", name(object.woken));
    case StandsFor::polls:
      return fmt::format("what {} polls for", name(object.woken));
    case StandsFor::data:
      return fmt::format("data in {}", place);
    case StandsFor::room:
      return fmt::format("room in {}", place);
    case StandsFor::itself:
      break;
  }
  return place;
}

void Symbolizer::name_objects() {
  using KindAndName = std::pair<ObjectKind, std::string>;
  std::set<KindAndName> taken;
  // The last one of each: of the futures of tasks there may be a million.
  std::map<KindAndName, std::uint32_t> ordinals;
  for (std::size_t i = 0; i < recording_.objects.size(); ++i) {
    Object& object = recording_.objects[i];
    std::string base = variables_[i] ? *variables_[i] : place_name(user_sites_[i]);
    if (const MergedObject& merged = run_.objects[i]; merged.stands_for != StandsFor::itself)
      base = stand_in_name(merged, base);
    if (base.empty())
      base = "unnamed";
    object.name = base;
    if (taken.emplace(object.kind, base).second)
      continue;
    std::uint32_t& ordinal = ordinals.try_emplace({object.kind, base}, 1).first->second;
    do {
      object.name = fmt::format("{}#{}", base, ++ordinal);
    } while (!taken.emplace(object.kind, object.name).second);
  }
}

void Symbolizer::notice_missing_debug_information() {
  for (const Module& module : recording_.modules)
    if (module.path == program_ && !module.has_line_table)
      recording_.notices.push_back(
          {"no-debug-information",
           fmt::format("{} has no debug information, so functions and lines of it are not known; "
                       "compile and link it with -g.",
                       program_),
           0});
}

void Symbolizer::notice_waiting_loops(const WaitingSamples& waiting, StackId place) {
  const FunctionId function = recording_.stacks[place.index()].function;
  const std::string& name = recording_.functions[function.index()].name;
  const std::string line = place_name(place);
  recording_.notices.push_back(waiting_loops_notice(
      waiting.share, line == name ? name : fmt::format("{} ({})", name, line)));
}

}  // namespace

Recording symbolize(MergedRun run, const std::vector<symbols::Mapping>& mappings,
                    const std::string& program) {
  return Symbolizer(std::move(run), mappings, program).symbolize();
}

std::vector<symbols::Mapping> read_maps(std::string_view snapshots) {
  std::vector<symbols::Mapping> mappings;
  std::set<std::string_view> seen;
  while (!snapshots.empty()) {
    const std::size_t end = std::min(snapshots.find('\n'), snapshots.size());
    const std::string_view line = snapshots.substr(0, end);
    snapshots.remove_prefix(std::min(end + 1, snapshots.size()));
    // start-end permissions offset device inode path
    std::vector<std::string_view> fields;
    std::string_view rest = line;
    while (fields.size() < 5 && !rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      fields.push_back(rest.substr(0, space));
      rest.remove_prefix(space);
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    }
    if (fields.size() < 5 || (!rest.starts_with('/') && rest != "[vdso]") ||
        !seen.insert(line).second)
      continue;
    symbols::Mapping mapping;
    const std::string_view range = fields[0];
    const std::size_t dash = std::min(range.find('-'), range.size());
    const auto parse = [](std::string_view text, std::uint64_t& value) {
      const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
      return error == std::errc{} && last == text.data() + text.size();
    };
    if (dash == range.size() || !parse(range.substr(0, dash), mapping.start) ||
        !parse(range.substr(dash + 1), mapping.end) || !parse(fields[2], mapping.file_offset) ||
        mapping.end <= mapping.start)
      continue;
    mapping.path = rest;
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

}  // namespace longpole::recording
