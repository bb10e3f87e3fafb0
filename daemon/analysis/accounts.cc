#include "analysis/accounts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace longpole::analysis {

using simulation::LargeArray;
using simulation::Schedule;
using simulation::Segment;
using simulation::SegmentIndex;
using simulation::TimesCpus;

namespace {

constexpr double z = 1.959964;  // of the standard normal distribution, 95% lie within

}  // namespace

Accounts::Accounts(const Recording& recording, const Schedule& schedule)
    : recording_(recording),
      charged_(charged_frames(recording)),
      tree_(recording),
      calls_(recording.functions.size()),
      samples_(recording.functions.size(), 0) {
  open_accounts(schedule);
  find_calls(schedule);
  find_lines();
  find_shown_functions();
}

void Accounts::open_accounts(const Schedule& schedule) {
  const std::size_t threads = recording_.threads.size();
  all_.account_of.resize(schedule.segments.size(), waiting);
  lineage_of_.push_back(0);
  profile_of_.emplace_back();
  all_.cpu.push_back(0);
  entries_begin_.assign(2, 0);

  std::vector<std::uint32_t> by_lineage(threads);
  std::iota(by_lineage.begin(), by_lineage.end(), 0);
  std::stable_sort(by_lineage.begin(), by_lineage.end(), [&](std::uint32_t a, std::uint32_t b) {
    return tree_.lineages().of(a) < tree_.lineages().of(b);
  });
  // By profile, and the last for none; an account of an earlier lineage is none of this one's.
  std::vector<std::uint32_t> account_of_profile(recording_.profiles.size() + 1, waiting);
  std::uint32_t first_of_lineage = 1;
  LineageIndex lineage = 0;
  for (const std::uint32_t thread : by_lineage) {
    if (tree_.lineages().of(thread) != lineage) {
      lineage = tree_.lineages().of(thread);
      first_of_lineage = static_cast<std::uint32_t>(all_.cpu.size());
    }
    const auto account_of = [&](ProfileId profile) {
      std::uint32_t& account =
          account_of_profile[profile.known() ? profile.index() : recording_.profiles.size()];
      if (account < first_of_lineage) {
        account = static_cast<std::uint32_t>(all_.cpu.size());
        open_account(lineage, profile);
      }
      return account;
    };
    const std::vector<Event>& events = recording_.threads[thread].events;
    std::size_t reached = 0;
    for (SegmentIndex s = schedule.thread_begin[thread]; s < schedule.thread_begin[thread + 1];
         ++s) {
      const Segment& segment = schedule.segments[s];
      const std::int64_t length = (segment.end - segment.start).count();
      const ProfileId profile = events[segment.event].profile;
      reached += segment.running ? 1 : 0;
      if (segment.running && (length > 0 || profile.known()))
        all_.account_of[s] = account_of(profile);
      all_.cpu[all_.account_of[s]] += length;
    }
    if (reached == events.size()) [[likely]]
      continue;
    std::vector<bool> is_reached(events.size(), false);
    for (SegmentIndex s = schedule.thread_begin[thread]; s < schedule.thread_begin[thread + 1]; ++s)
      is_reached[schedule.segments[s].event] = true;
    for (std::uint32_t event = 0; event < events.size(); ++event) {
      if (!is_reached[event] && events[event].cpu > Nanoseconds{})
        unreached_.push_back({thread, event, account_of(events[event].profile)});
    }
  }
  std::stable_sort(unreached_.begin(), unreached_.end(),
                   [](const Unreached& a, const Unreached& b) { return a.thread < b.thread; });
}

void Accounts::open_account(LineageIndex lineage, ProfileId profile) {
  lineage_of_.push_back(lineage);
  profile_of_.push_back(profile);
  all_.cpu.push_back(0);
  if (!profile.known()) {
    entries_.push_back({no_index, 1});
  } else {
    for_each_share(
        recording_.profiles[profile.index()], [&](const ProfileEntry& entry, double share) {
          entries_.push_back({tree_.node(lineage, charged_[entry.stack.index()]), share});
        });
  }
  entries_begin_.push_back(entries_.size());
}

void Accounts::find_lines() {
  std::map<std::tuple<FileId, std::uint32_t, FunctionId>, std::uint32_t> known;
  const auto line_at = [&](LinePlace place) {
    // A line is one row, whatever functions the compiler made of it.
    const FunctionId key = place.file.known() ? FunctionId::none() : place.function;
    const auto next = static_cast<std::uint32_t>(lines_.size());
    const auto [found, added] = known.try_emplace({place.file, place.line, key}, next);
    if (added)
      lines_.push_back(place);
    return found->second;
  };
  const auto place_of = [&](StackId stack) {
    const Stack& frame = recording_.stacks[stack.index()];
    LinePlace place;
    place.function = frame.function;
    if (frame.file.known() && frame.line != 0) {
      place.file = frame.file;
      place.line = frame.line;
    }
    return place;
  };
  line_of_.reserve(tree_.nodes().size() + 1);
  for (const CallNode& node : tree_.nodes())
    line_of_.push_back(line_at(place_of(node.place)));
  line_of_.push_back(line_at({}));

  std::map<std::pair<std::uint32_t, FunctionId>, double> cpu;
  std::vector<double> most(lines_.size(), 0);
  for (std::size_t account = 1; account < lineage_of_.size(); ++account) {
    for (std::size_t e = entries_begin_[account]; e < entries_begin_[account + 1]; ++e) {
      if (entries_[e].node == no_index)
        continue;
      const std::uint32_t line = line_of_[entries_[e].node];
      const FunctionId function = tree_.nodes()[entries_[e].node].function;
      double& sum = cpu[{line, function}];
      sum += static_cast<double>(all_.cpu[account]) * entries_[e].share;
      if (sum > most[line]) {
        most[line] = sum;
        lines_[line].function = function;
      }
    }
  }
  std::vector<bool> used(recording_.profiles.size(), false);
  for (const Thread& thread : recording_.threads) {
    for (const Event& event : thread.events) {
      if (event.profile.known())
        used[event.profile.index()] = true;
    }
  }
  for (std::size_t p = 0; p < used.size(); ++p) {
    if (!used[p] || recording_.profiles[p].exact)
      continue;
    for (const ProfileEntry& entry : recording_.profiles[p].entries) {
      const StackId charged = charged_[entry.stack.index()];
      samples_[recording_.stacks[charged.index()].function.index()] += entry.samples;
      lines_[line_at(place_of(charged))].samples += entry.samples;
    }
  }
}

void Accounts::find_shown_functions() {
  shown_.resize(recording_.functions.size());
  for (std::size_t f = 0; f < shown_.size(); ++f)
    shown_[f] = !is_system_code(recording_, recording_.functions[f]);
  for (const Entry& entry : entries_) {
    if (entry.node != no_index)
      shown_[tree_.nodes()[entry.node].function.index()] = true;
  }
}

std::size_t Accounts::function_index(NodeIndex node) const {
  return node == no_index ? recording_.functions.size() : tree_.nodes()[node].function.index();
}

AccountSelection Accounts::select(const Schedule& schedule,
                                  const std::vector<bool>& is_selected) const {
  const auto left_out = static_cast<std::uint32_t>(lineage_of_.size());
  AccountSelection selection;
  selection.account_of.resize(schedule.segments.size(), left_out);
  selection.cpu.assign(lineage_of_.size(), 0);
  selection.is_selected = is_selected;
  for (std::size_t t = 0; t < is_selected.size(); ++t) {
    if (!is_selected[t])
      continue;
    for (SegmentIndex s = schedule.thread_begin[t]; s < schedule.thread_begin[t + 1]; ++s) {
      const Segment& segment = schedule.segments[s];
      selection.account_of[s] = all_.account_of[s];
      selection.cpu[all_.account_of[s]] += (segment.end - segment.start).count();
    }
  }
  return selection;
}

std::vector<FunctionTimes> Accounts::functions(const AccountSums& sums) const {
  return functions(sums, all_);
}

std::vector<FunctionTimes> Accounts::functions(const AccountSums& sums,
                                               const AccountSelection& selection) const {
  struct Times {
    double cpu = 0;
    double critical = 0;
    double normalized = 0;
    void add(const Times& other, double share) {
      cpu += other.cpu * share;
      critical += other.critical * share;
      normalized += other.normalized * share;
    }
  };
  const std::vector<Lineage>& lineages = tree_.lineages().all();
  std::vector<Times> at_node(tree_.nodes().size() + 1);
  std::vector<double> of_lineage(lineages.size(), 0);
  for (std::size_t account = 1; account < lineage_of_.size(); ++account) {
    const Times times{static_cast<double>(selection.cpu[account]),
                      static_cast<double>(sums.critical[account]) / sums.cpus,
                      sums.normalized.empty() ? 0 : sums.normalized[account]};
    of_lineage[lineage_of_[account]] += times.normalized;
    for (std::size_t e = entries_begin_[account]; e < entries_begin_[account + 1]; ++e)
      at_node[std::min<std::size_t>(entries_[e].node, tree_.nodes().size())].add(times,
                                                                                 entries_[e].share);
  }

  std::vector<FunctionTimes> functions(recording_.functions.size() + 1);
  const Times& unknown = at_node.back();
  functions.back() = {unknown.cpu,      unknown.cpu,        unknown.critical,
                      unknown.critical, unknown.normalized, unknown.normalized};
  // Callees before their callers, so that each node holds its descendants when its turn comes.
  for (std::size_t n = tree_.nodes().size(); n-- > 0;) {
    const CallNode& node = tree_.nodes()[n];
    FunctionTimes& function = functions[node.function.index()];
    if (node.outermost) {
      function.total += at_node[n].cpu;
      function.critical_total += at_node[n].critical;
    }
    if (node.outermost_with_lineage)
      function.normalized_total += at_node[n].normalized;
    if (node.caller != no_index)
      at_node[node.caller].add(at_node[n], 1);
  }
  for (std::size_t l = lineages.size(); l-- > 1;) {
    functions[lineages[l].function.index()].normalized_total += of_lineage[l];
    of_lineage[lineages[l].parent] += of_lineage[l];
  }
  for (std::size_t account = 1; account < lineage_of_.size(); ++account) {
    const double critical = static_cast<double>(sums.critical[account]) / sums.cpus;
    for (std::size_t e = entries_begin_[account]; e < entries_begin_[account + 1]; ++e) {
      if (entries_[e].node == no_index)
        continue;
      FunctionTimes& function = functions[function_index(entries_[e].node)];
      function.self += static_cast<double>(selection.cpu[account]) * entries_[e].share;
      function.critical_self += critical * entries_[e].share;
      if (!sums.normalized.empty())
        function.normalized_self += sums.normalized[account] * entries_[e].share;
    }
  }
  return functions;
}

std::vector<LineTimes> Accounts::lines(const AccountSums& sums,
                                       const AccountSelection& selection) const {
  std::vector<LineTimes> lines(lines_.size());
  for (std::size_t account = 1; account < lineage_of_.size(); ++account) {
    const double critical = static_cast<double>(sums.critical[account]) / sums.cpus;
    for (std::size_t e = entries_begin_[account]; e < entries_begin_[account + 1]; ++e) {
      LineTimes& line =
          lines[line_of_[std::min<std::size_t>(entries_[e].node, tree_.nodes().size())]];
      line.self += static_cast<double>(selection.cpu[account]) * entries_[e].share;
      line.critical += critical * entries_[e].share;
    }
  }
  return lines;
}

template <typename PlaceOf>
std::vector<double> Accounts::margins(const AccountSums& sums, std::size_t places,
                                      const PlaceOf& place_of) const {
  // Accounts of one profile share its samples.
  std::vector<double> critical(recording_.profiles.size(), 0);
  std::vector<std::size_t> an_account(recording_.profiles.size(), 0);
  for (std::size_t account = 1; account < lineage_of_.size(); ++account) {
    if (!profile_of_[account].known())
      continue;
    const std::size_t profile = profile_of_[account].index();
    critical[profile] += static_cast<double>(sums.critical[account]) / sums.cpus;
    an_account[profile] = account;
  }
  std::vector<double> variance(places, 0);
  std::map<std::size_t, double> shares;
  for (std::size_t p = 0; p < critical.size(); ++p) {
    const Profile& profile = recording_.profiles[p];
    if (an_account[p] == 0 || profile.exact)
      continue;
    shares.clear();
    for (std::size_t e = entries_begin_[an_account[p]]; e < entries_begin_[an_account[p] + 1]; ++e)
      shares[place_of(entries_[e].node)] += entries_[e].share;
    const auto samples = static_cast<double>(samples_in(profile));
    for (const auto& [place, share] : shares) {
      if (samples == 0) {  // nothing but a guess
        variance[place] += critical[p] * share * critical[p] * share / (z * z);
        continue;
      }
      const double adjusted = (share * samples + z * z / 2) / (samples + z * z);
      variance[place] += critical[p] * critical[p] * adjusted * (1 - adjusted) / (samples + z * z);
    }
  }
  std::vector<double> margins;
  margins.reserve(variance.size());
  for (const double of_place : variance)
    margins.push_back(z * std::sqrt(of_place));
  return margins;
}

std::vector<double> Accounts::line_margins(const AccountSums& sums) const {
  return margins(sums, lines_.size(), [&](NodeIndex node) { return line_of_[node]; });
}

std::vector<double> Accounts::function_margins(const AccountSums& sums) const {
  return margins(sums, recording_.functions.size() + 1,
                 [&](NodeIndex node) { return function_index(node); });
}

std::vector<double> Accounts::critical_self(const AccountSums& sums, FunctionId reduced,
                                            double reduction) const {
  std::vector<double> functions(recording_.functions.size() + 1, 0);
  for (std::size_t account = 1; account < lineage_of_.size(); ++account) {
    // What was shortened has a smaller part of what is left.
    const auto left = [&](const Entry& entry) {
      return entry.node != no_index && tree_.nodes()[entry.node].function == reduced
                 ? entry.share * (1 - reduction)
                 : entry.share;
    };
    double all = 0;
    for (std::size_t e = entries_begin_[account]; e < entries_begin_[account + 1]; ++e)
      all += left(entries_[e]);
    if (all <= 0)
      continue;
    const double critical = static_cast<double>(sums.critical[account]) / sums.cpus;
    for (std::size_t e = entries_begin_[account]; e < entries_begin_[account + 1]; ++e)
      functions[function_index(entries_[e].node)] += critical * left(entries_[e]) / all;
  }
  return functions;
}

std::vector<double> Accounts::shares_of(FunctionId function) const {
  std::vector<double> shares(recording_.profiles.size(), 0);
  for (std::size_t p = 0; p < shares.size(); ++p) {
    for_each_share(recording_.profiles[p], [&](const ProfileEntry& entry, double share) {
      const StackId charged = charged_[entry.stack.index()];
      if (recording_.stacks[charged.index()].function == function)
        shares[p] += share;
    });
  }
  return shares;
}

std::vector<FunctionId> Accounts::leading_functions() const {
  std::vector<FunctionId> leading(recording_.profiles.size());
  std::vector<double> shares(recording_.functions.size(), 0);
  for (std::size_t p = 0; p < leading.size(); ++p) {
    for_each_share(recording_.profiles[p], [&](const ProfileEntry& entry, double share) {
      const StackId charged = charged_[entry.stack.index()];
      const FunctionId function = recording_.stacks[charged.index()].function;
      shares[function.index()] += share;
      if (!leading[p].known() || shares[function.index()] > shares[leading[p].index()])
        leading[p] = function;
    });
    for_each_share(recording_.profiles[p], [&](const ProfileEntry& entry, double) {
      const StackId charged = charged_[entry.stack.index()];
      shares[recording_.stacks[charged.index()].function.index()] = 0;
    });
  }
  return leading;
}

}  // namespace longpole::analysis
