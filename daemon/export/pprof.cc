#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/call_tree.h"
#include "export/export.h"
#include "pprof.pb.h"

namespace longpole::exporting {

using analysis::SpanState;

namespace {

// Of one thread: what one profile, or one call, has.
struct Amounts {
  std::int64_t cpu = 0;
  std::int64_t waiting = 0;
  double critical = 0;
};

class Profiles {
 public:
  explicit Profiles(const Run& run)
      : run_(run), recording_(*run.recording), locations_(recording_.stacks.size()) {
    profile_.add_string_table("");
  }

  const pprof::Profile& fill() {
    add_types();
    // A user takes the first mapping for the program.
    for (std::size_t m = 0; m < recording_.modules.size(); ++m)
      add_mapping(m);
    for (std::uint32_t t = 0; t < run_.threads.size(); ++t)
      add_thread(t);
    profile_.set_time_nanos(recording_.run.started_at_unix_ns);
    profile_.set_duration_nanos(run_.total.count());
    profile_.add_comment(string(run_.program + ", " + run_.made_by));
    if (recording_.run.samples > 0) {
      set(*profile_.mutable_period_type(), "cpu");
      profile_.set_period(recording_.run.cpu_time.count() /
                          static_cast<std::int64_t>(recording_.run.samples));
    }
    return profile_;
  }

 private:
  std::int64_t string(const std::string& text) {
    if (text.empty())
      return 0;
    const auto [at, is_new] = strings_.try_emplace(text, profile_.string_table_size());
    if (is_new)
      profile_.add_string_table(text);
    return at->second;
  }
  void set(pprof::ValueType& type, const char* name) {
    type.set_type(string(name));
    type.set_unit(string("nanoseconds"));
  }
  void add_types() {
    for (const char* name : {"waiting", "cpu"})
      set(*profile_.add_sample_type(), name);
    if (run_.simulated)
      set(*profile_.add_sample_type(), "critical");
    profile_.set_default_sample_type(string(run_.simulated ? "critical" : "cpu"));
  }
  void add_mapping(std::size_t module) {
    const Module& of = recording_.modules[module];
    pprof::Mapping& mapping = *profile_.add_mapping();
    mapping.set_id(module + 1);
    mapping.set_filename(string(of.path));
    mapping.set_build_id(string(of.build_id));
    // Or a reader would look the addresses up that are not there.
    mapping.set_has_functions(true);
    mapping.set_has_filenames(true);
    mapping.set_has_line_numbers(true);
    mapping.set_has_inline_frames(true);
  }

  void add_thread(std::uint32_t thread) {
    const std::vector<Event>& events = recording_.threads[thread].events;
    std::map<ProfileId, Amounts> of_profile;
    std::map<StackId, Amounts> of_call;
    for (const Stretch& stretch : run_.threads[thread].stretches) {
      const Event& event = events[stretch.event];
      if (stretch.state == SpanState::running) {
        Amounts& amounts = of_profile[event.profile];
        amounts.cpu += stretch.work.count();
        amounts.critical += stretch.critical_ns;
      } else if (stretch.state != SpanState::runnable) {
        Amounts& amounts = of_call[event.site];
        amounts.waiting += (stretch.end - stretch.start).count();
        amounts.critical += stretch.critical_ns;
      }
    }
    std::map<StackId, Amounts> of_stack = std::move(of_call);
    for (const auto& [profile, amounts] : of_profile)
      share_out(profile, amounts, of_stack);
    for (const auto& [stack, amounts] : of_stack)
      add_sample(thread, stack, amounts);
  }

  // So that the whole nanoseconds of the parts add up to the whole.
  void share_out(ProfileId id, const Amounts& amounts, std::map<StackId, Amounts>& of_stack) {
    if (!id.known()) {
      of_stack[StackId::none()].cpu += amounts.cpu;
      of_stack[StackId::none()].critical += amounts.critical;
      return;
    }
    double so_far = 0;
    std::int64_t given = 0;
    analysis::for_each_share(
        recording_.profiles[id.index()], [&](const ProfileEntry& entry, double share) {
          so_far += share;
          const std::int64_t up_to = std::llround(so_far * static_cast<double>(amounts.cpu));
          of_stack[entry.stack].cpu += up_to - given;
          of_stack[entry.stack].critical += share * amounts.critical;
          given = up_to;
        });
  }

  void add_sample(std::uint32_t thread, StackId stack, const Amounts& amounts) {
    const std::int64_t critical = std::llround(amounts.critical);
    if (amounts.cpu == 0 && amounts.waiting == 0 && critical == 0)
      return;
    pprof::Sample& sample = *profile_.add_sample();
    if (!stack.known())
      sample.add_location_id(unknown_location());
    while (stack.known()) {
      sample.add_location_id(location(stack));
      while (recording_.stacks[stack.index()].inlined &&
             recording_.stacks[stack.index()].caller.known())
        stack = recording_.stacks[stack.index()].caller;
      stack = recording_.stacks[stack.index()].caller;
    }
    sample.add_value(amounts.waiting);
    sample.add_value(amounts.cpu);
    if (run_.simulated)
      sample.add_value(critical);
    pprof::Label& label = *sample.add_label();
    label.set_key(string("thread"));
    label.set_str(string(recording_.threads[thread].name));
  }

  // With all that is inlined there.
  std::uint64_t location(StackId stack) {
    std::uint64_t& id = locations_[stack.index()];
    if (id != 0)
      return id;
    pprof::Location& location = *profile_.add_location();
    id = static_cast<std::uint64_t>(profile_.location_size());
    location.set_id(id);
    for (;;) {
      const Stack& frame = recording_.stacks[stack.index()];
      const Function& of = recording_.functions[frame.function.index()];
      pprof::Line& line = *location.add_line();
      line.set_function_id(function(frame.function, frame.file.known() ? frame.file : of.file));
      line.set_line(frame.line);
      if (of.module.known())
        location.set_mapping_id(of.module.index() + 1);
      if (!frame.inlined || !frame.caller.known())
        return id;
      stack = frame.caller;
    }
  }
  // A format where a function has one file: one that is in several is several functions.
  std::uint64_t function(FunctionId id, FileId file) {
    const auto [at, is_new] = functions_.try_emplace({id, file}, functions_.size() + 1);
    if (is_new) {
      const Function& of = recording_.functions[id.index()];
      pprof::Function& function = *profile_.add_function();
      function.set_id(at->second);
      function.set_name(string(of.name));
      function.set_system_name(string(of.name));
      if (file.known())
        function.set_filename(string(recording_.files[file.index()].path));
      function.set_start_line(of.line);
    }
    return at->second;
  }
  std::uint64_t unknown_location() {
    if (unknown_location_ != 0)
      return unknown_location_;
    const auto at =
        functions_.try_emplace({FunctionId::none(), FileId::none()}, functions_.size() + 1);
    pprof::Function& function = *profile_.add_function();
    function.set_id(at.first->second);
    function.set_name(string("(not known)"));
    pprof::Location& location = *profile_.add_location();
    unknown_location_ = static_cast<std::uint64_t>(profile_.location_size());
    location.set_id(unknown_location_);
    location.add_line()->set_function_id(at.first->second);
    return unknown_location_;
  }

  const Run& run_;
  const Recording& recording_;
  pprof::Profile profile_;
  std::unordered_map<std::string, std::int64_t> strings_;
  std::vector<std::uint64_t> locations_;  // by stack; 0: not yet
  std::map<std::pair<FunctionId, FileId>, std::uint64_t> functions_;
  std::uint64_t unknown_location_ = 0;
};

}  // namespace

std::string pprof_profile(const Run& run) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream out(&bytes);
    google::protobuf::io::GzipOutputStream gzip(&out);
    Profiles profiles(run);
    profiles.fill().SerializeToZeroCopyStream(&gzip);
  }
  return bytes;
}

}  // namespace longpole::exporting
