#include "cli/report_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/what_if.h"
#include "cli/file_names.h"
#include "cli/human.h"
#include "trace/event_forms.h"

namespace longpole::cli {
namespace {

using analysis::FunctionRow;
using analysis::Lead;
using analysis::ObjectRow;
using analysis::Scheduler;

// Below these there is nothing to act on.
constexpr double least_share = 0.05;
constexpr double least_loss = 0.005;
constexpr std::size_t most_leads_named = 4;
// Of a tenth of a function: less than this beside its weight is rounding.
constexpr double telling_difference = 0.001;

class Words {
 public:
  Words(const analysis::Study& study, const analysis::Table<FunctionRow>& functions,
        Scheduler scheduler)
      : study_(study),
        recording_(study.recording()),
        functions_(functions),
        scheduler_(scheduler),
        files_(recording_) {}

  // The most useful first.
  std::string text() {
    say_leader();
    say_object();
    say_leads();
    say_enough_cpus();
    say_waiting();
    say_negative();
    std::string text;
    for (std::size_t i = 0; i < std::min(sentences_.size(), most_sentences); ++i)
      text += printable(sentences_[i]) + "\n";
    return text;
  }

 private:
  [[nodiscard]] double share(double time) const {
    return functions_.total_ns > 0 ? time / functions_.total_ns : 0;
  }
  [[nodiscard]] std::string on_cpus() const { return "on " + count_text(functions_.cpus, "CPU"); }
  [[nodiscard]] const std::string& name(FunctionId function) const {
    return recording_.functions[function.index()].name;
  }
  // "merge (sorter.c:113)".
  [[nodiscard]] std::string name_and_place(FunctionId id) const {
    const Function& function = recording_.functions[id.index()];
    return function.file.known() && function.line != 0
               ? fmt::format("{} ({})", function.name, files_.place(function.file, function.line))
               : function.name;
  }

  // A weight holds for small changes, until another path is the longer one; so it is simulated.
  [[nodiscard]] std::optional<double> saved_by_tenth(FunctionId function) const {
    analysis::Changes changes;
    changes.speeds.push_back({{.functions = {function}}, analysis::whole / 10});
    const auto changed = analysis::WhatIf::of(recording_, changes);
    if (!changed)
      return std::nullopt;
    const analysis::Prediction prediction = changed->predict(functions_.cpus, scheduler_);
    if (prediction.deadlock)
      return std::nullopt;
    return share(functions_.total_ns - prediction.total_ns);
  }

  void say_leader() {
    const auto leader = std::find_if(functions_.rows.begin(), functions_.rows.end(),
                                     [](const FunctionRow& row) { return row.function.known(); });
    if (leader == functions_.rows.end() || leader->critical_self_ns <= 0)
      return;
    std::string sentence =
        fmt::format("{} of the critical path {} is {}", percent_text(leader->critical_share),
                    on_cpus(), name_and_place(leader->function));
    if (const auto saved = saved_by_tenth(leader->function)) {
      const double by_weight = leader->critical_share / 10;
      sentence +=
          fmt::format(": 10% less of it makes the program about {} faster", percent_text(*saved));
      if (std::abs(*saved - by_weight) > std::max(telling_difference, by_weight / 10))
        sentence += fmt::format(", not {}, as the critical path is another one by then",
                                percent_text(by_weight));
    }
    if (leader->headroom && leader->next_leader.known())
      sentence += fmt::format("; once it takes {} less, {} is worth more",
                              percent_text(*leader->headroom), name(leader->next_leader));
    sentences_.push_back(sentence + ".");
  }

  void say_object() {
    const analysis::ObjectTable objects = study_.objects(functions_.cpus, scheduler_);
    if (objects.rows.empty() || !objects.rows[0].freed_ns || *objects.rows[0].freed_ns <= 0)
      return;
    const ObjectRow& row = objects.rows[0];
    if (share(functions_.total_ns - *row.freed_ns) < least_share)
      return;
    const Object& object = recording_.objects[row.object.index()];
    const std::string place =
        row.lines.empty() || !row.lines[0].file.known()
            ? ""
            : fmt::format(" ({})", files_.place(row.lines[0].file, row.lines[0].line));
    const std::string held = row.critical_ns && *row.critical_ns > 0
                                 ? fmt::format(", which is held for {} of the critical path",
                                               percent_text(share(*row.critical_ns)))
                                 : "";
    sentences_.push_back(
        fmt::format("Threads wait {} for {} {}{}{}; if nobody had to, the program would be {:.2f} "
                    "times as fast.",
                    duration_text(row.wait), object_kind_word(object.kind), object.name, place,
                    held, functions_.total_ns / *row.freed_ns));
  }

  // "bubble_sort leads up to 5 CPUs, merge from 6 on."
  void say_leads() {
    std::vector<Lead> leads = study_.leads(std::max(leads_up_to_cpus, functions_.cpus));
    leads.erase(std::remove_if(leads.begin(), leads.end(),
                               [](const Lead& lead) { return !lead.function.known(); }),
                leads.end());
    if (leads.size() < 2)
      return;
    std::string sentence;
    const std::size_t named = std::min(leads.size(), most_leads_named);
    for (std::size_t i = 0; i < named; ++i) {
      const Lead& lead = leads[i];
      const std::string who = name_and_place(lead.function);
      if (i == 0)
        sentence = fmt::format("{} leads {} {}", who, lead.to_cpus == 1 ? "on" : "up to",
                               count_text(lead.to_cpus, "CPU"));
      else if (i + 1 == leads.size())
        sentence += fmt::format(", {} from {} on", who, lead.from_cpus);
      else if (lead.from_cpus == lead.to_cpus)
        sentence += fmt::format(", {} on {}", who, lead.from_cpus);
      else
        sentence += fmt::format(", {} from {} to {}", who, lead.from_cpus, lead.to_cpus);
    }
    if (leads.size() > named)
      sentence += fmt::format(", and it changes {} more times", leads.size() - named);
    sentences_.push_back(sentence + ".");
  }

  // How many CPUs are enough.
  void say_enough_cpus() {
    if (scheduler_ == Scheduler::ideal)
      return;
    const double best = study_.predict(leads_up_to_cpus, scheduler_).total_ns;
    std::uint32_t enough = 1;
    while (enough < leads_up_to_cpus && study_.predict(enough, scheduler_).total_ns > 1.01 * best)
      ++enough;
    const double speedup = study_.predict(enough, scheduler_).speedup;
    if (enough < leads_up_to_cpus)
      sentences_.push_back(enough == 1 || speedup < 1 + least_share
                               ? std::string("More than one CPU makes it hardly faster.")
                               : fmt::format("It gets {:.2f} times as fast as on one CPU, "
                                             "on {} CPUs; more bring less than 1%.",
                                             speedup, enough));
  }

  void say_waiting() {
    if (share(functions_.waiting_ns) < least_share)
      return;
    const double unexplained = study_.unexplained_waiting_ns(functions_.cpus, scheduler_);
    const double known = functions_.waiting_ns - unexplained;
    if (share(known) >= least_loss)
      sentences_.push_back(
          fmt::format("{} of the critical path is sleep and I/O, which no faster code shortens "
                      "(--by path shows where).",
                      percent_text(share(known))));
    if (share(unexplained) >= least_loss)
      sentences_.push_back(
          fmt::format("{} of the critical path is waits whose reason was not recorded: for "
                      "something outside the program, or for its own threads, as in the barriers "
                      "of an OpenMP runtime (--by path shows where).",
                      percent_text(share(unexplained))));
  }

  // A negative weight is no mistake (Paper VI, Figure 8).
  void say_negative() {
    const auto least = std::min_element(functions_.rows.begin(), functions_.rows.end(),
                                        [](const FunctionRow& a, const FunctionRow& b) {
                                          return a.critical_self_ns < b.critical_self_ns;
                                        });
    if (least == functions_.rows.end() || !least->function.known() ||
        share(least->critical_self_ns) > -least_loss)
      return;
    sentences_.push_back(fmt::format(
        "{} weighs {}: faster, it would only let other threads compete for the CPUs earlier.",
        name_and_place(least->function), percent_text(least->critical_share)));
  }

  const analysis::Study& study_;
  const Recording& recording_;
  const analysis::Table<FunctionRow>& functions_;
  Scheduler scheduler_;
  FileNames files_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::string words_of(const analysis::Study& study, const analysis::Table<FunctionRow>& functions,
                     Scheduler scheduler) {
  return Words(study, functions, scheduler).text();
}

}  // namespace longpole::cli
