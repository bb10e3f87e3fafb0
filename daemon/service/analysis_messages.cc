#include "service/analysis_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "service/limits.h"
#include "service/marshalling.h"
#include "trace/event_forms.h"

namespace longpole::service {
namespace {

constexpr int curve_step = 10;

double to_double(Nanoseconds time) {
  return static_cast<double>(time.count());
}

void write_object(const analysis::ObjectRow& row, const Recording& recording,
                  v1::ObjectRow& message) {
  const Object& object = recording.objects[row.object.index()];
  message.set_kind(std::string(object_kind_word(object.kind)));
  message.set_name(to_utf8(object.name));
  message.set_acquisitions(row.acquisitions);
  message.set_contended(row.contended);
  message.set_wait_ns(to_double(row.wait));
  message.set_longest_wait_ns(to_double(row.longest_wait));
  if (row.hold)
    message.set_hold_ns(to_double(*row.hold));
  message.set_longest_hold_ns(to_double(row.longest_hold));
  for (const Nanoseconds time : row.queue)
    message.add_queue_ns(to_double(time));
  if (row.critical_ns)
    message.set_critical_ns(*row.critical_ns);
  if (row.freed_ns)
    message.set_freed_total_ns(*row.freed_ns);
  for (std::size_t i = 0; i < std::min(row.lines.size(), max_rows_of_object); ++i) {
    const analysis::ObjectLine& line = row.lines[i];
    v1::ObjectUse& use = *message.add_uses();
    if (line.file.known() || line.function.known()) {
      use.mutable_place()->set_file(file_path(recording, line.file));
      use.mutable_place()->set_line(line.line);
      use.mutable_place()->set_function(function_name(recording, line.function));
    }
    use.set_acquisitions(line.acquisitions);
    use.set_wait_ns(to_double(line.wait));
  }
  for (std::size_t i = 0; i < std::min(row.collisions.size(), max_rows_of_object); ++i) {
    const analysis::Collision& collision = row.collisions[i];
    v1::Collision& out = *message.add_collisions();
    out.set_waker(to_utf8(recording.threads[collision.waker.index()].name));
    out.set_waiter(to_utf8(recording.threads[collision.waiter.index()].name));
    out.set_times(collision.times);
    out.set_wait_ns(to_double(collision.wait));
  }
}

}  // namespace

void write_objects(const analysis::ObjectTable& table, std::size_t rows,
                   const OpenRecording& opened, v1::GetObjectsResponse& message) {
  message.set_total_ns(table.total_ns);
  const std::size_t sent = std::min(rows, table.rows.size());
  for (std::size_t i = 0; i < sent; ++i)
    write_object(table.rows[i], opened.recording(), *message.add_objects());
  message.set_rows_left(table.rows.size() - sent);
}

void write_threads(const analysis::ThreadTable& table, std::size_t rows, const Recording& recording,
                   v1::GetThreadsResponse& message) {
  message.set_total_ns(table.total_ns);
  const std::size_t sent = std::min(rows, table.rows.size());
  for (std::size_t i = 0; i < sent; ++i) {
    const analysis::ThreadRow& row = table.rows[i];
    const Thread& thread = recording.threads[row.thread.index()];
    v1::ThreadRow& out = *message.add_threads();
    out.set_thread(row.thread.value);
    out.set_name(to_utf8(thread.name));
    out.set_function(function_name(recording, thread.start_function));
    out.set_start_ns(to_double(row.start));
    out.set_end_ns(to_double(row.end));
    out.set_running_ns(to_double(row.running));
    out.set_waiting_ns(to_double(row.waiting));
    out.set_blocked_ns(to_double(row.blocked));
    out.set_critical_ns(row.critical_ns);
    out.set_critical_waiting_ns(row.critical_waiting_ns);
  }
  message.set_rows_left(table.rows.size() - sent);
}

Expected<std::uint32_t> read_lead_cpus(std::uint32_t cpus) {
  if (cpus < 1 || cpus > max_lead_cpus)
    return bad_input(
        "cannot say who leads on up to so many CPUs",
        fmt::format("{} is not between 1 and {} (max_lead_cpus)", cpus, max_lead_cpus));
  return cpus;
}

void write_leads(const std::vector<analysis::Lead>& leads, const Recording& recording,
                 v1::GetLeadsResponse& message) {
  for (const analysis::Lead& lead : leads) {
    v1::Lead& out = *message.add_leads();
    out.set_from_cpus(lead.from_cpus);
    out.set_to_cpus(lead.to_cpus);
    out.set_function(function_name(recording, lead.function));
  }
}

void write_headroom(const analysis::Table<analysis::FunctionRow>& table, const Recording& recording,
                    v1::Headroom& message) {
  message.set_cpus(table.cpus);
  const auto leader =
      std::find_if(table.rows.begin(), table.rows.end(),
                   [](const analysis::FunctionRow& row) { return row.function.known(); });
  if (leader == table.rows.end() || leader->critical_self_ns <= 0)
    return;
  message.set_function(function_name(recording, leader->function));
  if (leader->headroom)
    message.set_reduction(*leader->headroom);
  message.set_next(function_name(recording, leader->next_leader));
}

Expected<ChangeRequest> read_changes(const v1::WhatIfRequest& request, const Recording& recording) {
  const std::string what = "cannot change the program";
  const auto changes = static_cast<std::size_t>(request.speeds_size()) +
                       static_cast<std::size_t>(request.splits_size()) +
                       static_cast<std::size_t>(request.freed_size());
  if (changes == 0)
    return bad_input(what, "nothing is to be changed");
  if (changes > max_changes)
    return over_limit(what, fmt::format("there are {} changes, and a request has at most {} "
                                        "(max_changes)",
                                        changes, max_changes));
  ChangeRequest read;
  for (const v1::Speed& speed : request.speeds()) {
    auto part = analysis::find_part(recording, speed.part(), speed.with_callees());
    if (!part)
      return tl::unexpected(part.error());
    // False of what is no number, too.
    const bool is_percentage = speed.percent() >= 0 && speed.percent() <= 100;
    if (!is_percentage)
      return bad_input("cannot make " + to_utf8(speed.part()) + " faster",
                       fmt::format("{} is not a percentage from 0 to 100", speed.percent()));
    if (speed.curve())
      read.on_curve.push_back(read.changes.speeds.size());
    const double less = speed.curve() ? 0 : speed.percent() / 100;
    read.changes.speeds.push_back(
        {*std::move(part), std::llround(less * static_cast<double>(analysis::whole))});
  }
  for (const v1::Split& split : request.splits()) {
    const auto lock = analysis::find_lock(recording, split.lock());
    if (!lock)
      return tl::unexpected(lock.error());
    if (split.into() < 1 || split.into() > analysis::most_parts_of_a_lock)
      return bad_input("cannot split " + to_utf8(split.lock()),
                       fmt::format("{} is not between 1 and {} (most_parts_of_a_lock)",
                                   split.into(), analysis::most_parts_of_a_lock));
    read.changes.splits.push_back({*lock, split.into()});
  }
  for (const std::string& name : request.freed()) {
    const auto object = analysis::find_object(recording, name);
    if (!object)
      return tl::unexpected(object.error());
    read.changes.freed.push_back(*object);
  }
  if (request.keep() && !read.on_curve.empty())
    return bad_input("cannot keep the changed program", "a curve is of many programs, not of one",
                     "give each part its percentage");
  return read;
}

Expected<void> answer_what_if(const analysis::Study& study, ChangeRequest request,
                              const std::vector<std::uint32_t>& cpus, analysis::Scheduler scheduler,
                              v1::WhatIfResponse& message) {
  const int last = request.on_curve.empty() ? 0 : 100;
  for (int percent = 0; percent <= last; percent += curve_step) {
    for (const std::size_t speed : request.on_curve)
      request.changes.speeds[speed].less = analysis::whole / 100 * percent;
    const auto changed = analysis::WhatIf::of(study.recording(), request.changes);
    if (!changed)
      return tl::unexpected(changed.error());
    for (const std::uint32_t count : cpus) {
      const analysis::Prediction after = changed->predict(count, scheduler);
      v1::WhatIfRun& run = *message.add_runs();
      run.set_cpus(count);
      if (!request.on_curve.empty())
        run.set_percent(percent);
      run.set_before_ns(study.predict(count, scheduler).total_ns);
      run.set_total_ns(after.total_ns);
      run.set_speedup(after.speedup);
      if (after.deadlock)
        write_deadlock(*after.deadlock, study.recording(), *run.mutable_deadlock());
    }
  }
  return {};
}

}  // namespace longpole::service
