#include "machine_table.h"

#include <fmt/format.h>

#include <vector>

#include "schedule_table.h"
#include "simulation/simulate.h"
#include "trace/event_forms.h"
#include "trace/program_text.h"

namespace longpole::simulation {
namespace {

std::string_view word_of(const Thread& thread, std::uint32_t event) {
  return event_form(thread.events[event].kind).word;
}

class TableWriter {
 public:
  TableWriter(const Recording& recording, const SimulatedRun& run)
      : recording_(recording), run_(run) {}

  std::string write() {
    std::string table;
    for (std::uint32_t t = 0; t < recording_.threads.size(); ++t)
      table += line(t);
    if (run_.end.deadlock) {
      table += fmt::format("deadlock at {}:", in_milliseconds(run_.end.deadlock->at));
      for (const Blocked& blocked : run_.end.deadlock->threads) {
        const Thread& thread = recording_.threads[blocked.thread.index()];
        table += fmt::format(" {} {} since {}", thread.name, word_of(thread, blocked.event),
                             in_milliseconds(blocked.since));
      }
      table += "\n";
    }
    return table;
  }

 private:
  [[nodiscard]] const std::string& name_of(StretchIndex stretch) const {
    return recording_.threads[run_.stretches[stretch].thread].name;
  }

  std::string line(std::uint32_t t) const {
    const Thread& thread = recording_.threads[t];
    std::string line = thread.name + ":";
    Nanoseconds end{};
    for (const Stretch& stretch : run_.stretches) {
      if (stretch.thread != t)
        continue;
      if (stretch.ready > end)
        line += fmt::format(" blocked {}-{} by {},", in_milliseconds(end),
                            in_milliseconds(stretch.ready),
                            stretch.released_by == no_stretch ? "?" : name_of(stretch.released_by));
      if (stretch.start > stretch.ready) {
        line += fmt::format(" runnable {}-{}", in_milliseconds(stretch.ready),
                            in_milliseconds(stretch.start));
        line += stretch.given_by == no_stretch ? "," : " after " + name_of(stretch.given_by) + ",";
      }
      std::string_view word = stretch.cut != 0 ? "cut" : word_of(thread, stretch.event);
      if (stretch.spins != 0)
        word = "spins";
      if (!stretch.running())
        line += fmt::format(" {} {}~{},", word, in_milliseconds(stretch.start),
                            in_milliseconds(stretch.end));
      else if (stretch.start == stretch.end)
        line += fmt::format(" {}@{},", word, in_milliseconds(stretch.end));
      else
        line += fmt::format(" cpu{} {}-{} {},", static_cast<unsigned>(stretch.cpu),
                            in_milliseconds(stretch.start), in_milliseconds(stretch.end), word);
      end = stretch.end;
    }
    if (line.back() == ',')
      line.pop_back();
    return line + "\n";
  }

  const Recording& recording_;
  const SimulatedRun& run_;
};

}  // namespace

std::string machine_table(const Recording& recording, const SimulatedRun& run) {
  return TableWriter(recording, run).write();
}

std::string machine_table(const std::string& program, const Machine& machine) {
  auto recording = read_program(program, "test");
  if (!recording)
    return recording.error().text();
  const Recording known = with_known_condition_counts(*std::move(recording));
  const auto run = simulate(known, machine);
  return run ? machine_table(known, *run) : run.error().text();
}

}  // namespace longpole::simulation
