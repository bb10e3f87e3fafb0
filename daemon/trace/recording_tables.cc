#include "trace/recording_tables.h"

#include <optional>
#include <string>
#include <utility>

#include "trace/host_costs.h"

namespace longpole {
namespace {

void encode(ByteWriter& out, const std::optional<std::int64_t>& value) {
  out.byte(value ? 1 : 0);
  if (value)
    out.signed_number(*value);
}

template <typename Integer>
std::optional<Integer> decode_optional(ByteReader& in) {
  if (!in.flag())
    return std::nullopt;
  const std::int64_t value = in.signed_number();
  if (!std::in_range<Integer>(value))
    in.fail("a number is longer than 32 bits");
  return static_cast<Integer>(value);
}

template <typename Entry, typename DecodeEntry>
void decode_table(ByteReader& in, std::vector<Entry>& table, std::string_view name,
                  std::size_t limit, DecodeEntry decode_entry) {
  const std::size_t count = in.count(name, limit);
  table.reserve(count);
  for (std::size_t i = 0; i < count && in.sound(); ++i)
    table.push_back(decode_entry());
}

void encode_run(ByteWriter& out, const RunInfo& run) {
  out.byte(static_cast<std::uint8_t>(run.source));
  out.byte(run.complete ? 1 : 0);
  out.number(run.command.size());
  for (const std::string& argument : run.command)
    out.text(argument);
  out.text(run.directory);
  out.signed_number(run.started_at_unix_ns);
  out.time(run.elapsed);
  out.time(run.cpu_time);
  out.number(run.cpus);
  out.number(run.machine_cpus);
  encode(out, run.exit_status);
  encode(out, run.exit_signal);
  out.time(run.cost_per_event);
  out.number(run.samples);
}

RunInfo decode_run(ByteReader& in, const Limits& limits) {
  RunInfo run;
  run.source = static_cast<Source>(in.byte());
  run.complete = in.flag();
  decode_table(in, run.command, "arguments", limits.table_entries,
               [&] { return in.text(limits.name_bytes); });
  run.directory = in.text(limits.name_bytes);
  run.started_at_unix_ns = in.signed_number();
  run.elapsed = in.time();
  run.cpu_time = in.time();
  run.cpus = in.number32();
  run.machine_cpus = in.number32();
  run.exit_status = decode_optional<int>(in);
  run.exit_signal = decode_optional<int>(in);
  run.cost_per_event = in.time();
  run.samples = in.number();
  return run;
}

void encode_costs(ByteWriter& out, const HostCosts& costs) {
  std::size_t known = 0;
  for (std::size_t cost = 0; cost < host_cost_count; ++cost)
    known += host_cost(costs, cost) == Nanoseconds{} ? 0U : 1U;
  out.number(known);
  for (std::size_t cost = 0; cost < host_cost_count; ++cost) {
    if (host_cost(costs, cost) == Nanoseconds{})
      continue;
    out.number(number_in_file(cost));
    out.time(host_cost(costs, cost));
  }
}

void decode_costs(ByteReader& in, HostCosts& costs) {
  const std::size_t known = in.count("costs", host_cost_count);
  for (std::size_t i = 0; i < known && in.sound(); ++i) {
    if (const auto cost = host_cost_numbered(in.number()))
      host_cost(costs, *cost) = in.time();
    else
      in.fail("there is no such cost");
  }
}

// Behind everything else, up to the last that is known: files from before there were costs, a rate, or CPU times on
// several CPUs, end earlier.
void encode_additions(ByteWriter& out, const RunInfo& run) {
  if (run.costs == HostCosts{} && run.sample_hz == 0 && run.cpu_time_on.empty())
    return;
  encode_costs(out, run.costs);
  if (run.sample_hz == 0 && run.cpu_time_on.empty())
    return;
  out.number(run.sample_hz);
  if (run.cpu_time_on.empty())
    return;
  out.number(run.cpu_time_on.size());
  for (const CpuTimeOn& one : run.cpu_time_on) {
    out.number(one.cpus);
    out.number(one.thousandths);
  }
}

void decode_additions(ByteReader& in, RunInfo& run) {
  if (in.left() != 0)
    decode_costs(in, run.costs);
  if (in.left() != 0)
    run.sample_hz = in.number32();
  if (in.left() == 0)
    return;
  const std::size_t known = in.count("CPU times on several CPUs", most_cpu_times_on);
  for (std::size_t i = 0; i < known && in.sound(); ++i)
    run.cpu_time_on.push_back({in.number32(), in.number32()});
}

void encode_code(ByteWriter& out, const Recording& r) {
  out.number(r.modules.size());
  for (const Module& module : r.modules) {
    out.text(module.path);
    out.text(module.build_id);
    out.byte(module.has_line_table ? 1 : 0);
  }
  out.number(r.files.size());
  for (const File& file : r.files) {
    out.text(file.path);
    out.text(file.sha256);
    out.byte(file.system ? 1 : 0);
  }
  out.number(r.functions.size());
  for (const Function& function : r.functions) {
    out.text(function.name);
    out.id(function.file);
    out.number(function.line);
    out.number(function.last_line);
    out.id(function.module);
  }
  out.number(r.stacks.size());
  for (const Stack& stack : r.stacks) {
    out.id(stack.caller);
    out.id(stack.function);
    out.id(stack.file);
    out.number(stack.line);
    out.byte(stack.inlined ? 1 : 0);
  }
  out.number(r.profiles.size());
  for (const Profile& profile : r.profiles) {
    out.byte(profile.exact ? 1 : 0);
    out.number(profile.entries.size());
    for (const ProfileEntry& entry : profile.entries) {
      out.id(entry.stack);
      out.number(entry.samples);
    }
  }
}

void decode_code(ByteReader& in, Recording& r, const Limits& limits) {
  const std::size_t most = limits.table_entries;
  const auto text = [&] { return in.text(limits.name_bytes); };
  decode_table(in, r.modules, "modules", most, [&] {
    Module module;
    module.path = text();
    module.build_id = text();
    module.has_line_table = in.flag();
    return module;
  });
  decode_table(in, r.files, "files", most, [&] {
    File file;
    file.path = text();
    file.sha256 = text();
    file.system = in.flag();
    return file;
  });
  decode_table(in, r.functions, "functions", most, [&] {
    Function function;
    function.name = text();
    function.file = in.id<FileId>();
    function.line = in.number32();
    function.last_line = in.number32();
    function.module = in.id<ModuleId>();
    return function;
  });
  decode_table(in, r.stacks, "stacks", most, [&] {
    Stack stack;
    stack.caller = in.id<StackId>();
    stack.function = in.id<FunctionId>();
    stack.file = in.id<FileId>();
    stack.line = in.number32();
    stack.inlined = in.flag();
    return stack;
  });
  decode_table(in, r.profiles, "profiles", most, [&] {
    Profile profile;
    profile.exact = in.flag();
    decode_table(in, profile.entries, "entries of a profile", most, [&] {
      ProfileEntry entry;
      entry.stack = in.id<StackId>();
      entry.samples = in.number32();
      return entry;
    });
    return profile;
  });
}

}  // namespace

void encode_tables(ByteWriter& out, const Recording& r) {
  encode_run(out, r.run);
  out.number(r.notices.size());
  for (const Notice& notice : r.notices) {
    out.text(notice.code);
    out.text(notice.text);
    out.number(notice.count);
  }
  encode_code(out, r);
  out.number(r.objects.size());
  for (const Object& object : r.objects) {
    out.byte(static_cast<std::uint8_t>(object.kind));
    out.text(object.name);
    out.id(object.first_site);
    out.number(object.initial);
  }
  out.number(r.threads.size());
  for (const Thread& thread : r.threads) {
    out.text(thread.name);
    out.id(thread.start_function);
    out.id(thread.creator);
    encode(out, thread.priority);
    encode(out, thread.bound_to);
    out.number(thread.events.size());
  }
  encode_additions(out, r.run);
}

std::vector<std::size_t> decode_tables(ByteReader& in, Recording& r, const Limits& limits) {
  const auto text = [&] { return in.text(limits.name_bytes); };
  r.run = decode_run(in, limits);
  decode_table(in, r.notices, "notices", limits.table_entries, [&] {
    Notice notice;
    notice.code = text();
    notice.text = text();
    notice.count = in.number();
    return notice;
  });
  decode_code(in, r, limits);
  decode_table(in, r.objects, "objects", limits.table_entries, [&] {
    Object object;
    object.kind = static_cast<ObjectKind>(in.byte());
    object.name = text();
    object.first_site = in.id<StackId>();
    object.initial = in.number32();
    return object;
  });
  std::vector<std::size_t> events;
  std::size_t total = 0;
  decode_table(in, r.threads, "threads", limits.threads, [&] {
    Thread thread;
    thread.name = text();
    thread.start_function = in.id<FunctionId>();
    thread.creator = in.id<ThreadId>();
    thread.priority = decode_optional<std::int32_t>(in);
    thread.bound_to = decode_optional<std::uint32_t>(in);
    const std::uint64_t count = in.number();
    if (count > limits.events - total)
      in.fail("it has more than " + std::to_string(limits.events) + " events, the limit",
              ErrorKind::limit);
    else
      total += static_cast<std::size_t>(count);
    events.push_back(static_cast<std::size_t>(count));
    return thread;
  });
  decode_additions(in, r.run);
  if (in.left() != 0)
    in.fail("something follows the tables");
  return events;
}

}  // namespace longpole
