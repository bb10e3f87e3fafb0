#include "simulation/solaris.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "simulation/dispatch_queue.h"

namespace longpole::simulation {
namespace {

constexpr std::uint32_t no_lwp = 0xffffffffU;
constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t first_level = 29;

struct Level {
  std::int64_t slice;          // ts_quantum, in nanoseconds
  std::int64_t when_used_up;   // ts_tqexp
  std::int64_t after_sleep;    // ts_slpret
  std::int64_t after_waiting;  // ts_lwait
};

// ts_maxwait is 0 for all levels but the highest, where there is nowhere to go.
constexpr std::array<Level, 60> dispatch_table() {
  std::array<Level, 60> table{};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto level = static_cast<std::int64_t>(i);
    std::int64_t sleep = 58;
    if (level < 30)
      sleep = 50 + level / 10;
    else if (level < 35)
      sleep = 53;
    else if (level < 40)
      sleep = 54;
    else if (level < 45)
      sleep = 55;
    else if (level < 48)
      sleep = level + 11;
    std::int64_t slice = 20;
    if (level < 40)
      slice = 200 - level / 10 * 40;
    else if (level < 59)
      slice = 40;
    table[i] = {slice * 1'000'000, std::max<std::int64_t>(0, level - 10), sleep,
                level < 49 ? sleep : 59};
  }
  table[59].when_used_up = 49;
  return table;
}
constexpr std::array<Level, 60> levels = dispatch_table();

const Level& level_of(std::int64_t priority) {
  return levels[static_cast<std::size_t>(priority)];
}

class Solaris final : public Scheduler {
 public:
  Solaris(Cpus& cpus, std::uint32_t lwps)
      : cpus_(cpus),
        lwp_of_(cpus.rules().size(), no_lwp),
        turn_(cpus.rules().size(), 0),
        on_(cpus.count(), no_lwp),
        since_(cpus.count(), 0),
        queue_(cpus.count()) {
    std::size_t unbound = 0;
    for (std::uint32_t t = 0; t < lwp_of_.size(); ++t) {
      if (cpus.rules(t).bound_to_lwp)
        lwp_of_[t] = new_lwp(cpus.rules(t).only_cpu);
      else
        ++unbound;
    }
    // More than there are threads for would never be used.
    pool_ = lwps == 0 ? unbound : std::min<std::size_t>(lwps, unbound);
    has_lwp_for_each_ = pool_ == unbound;
    for (std::size_t i = pool_; i > 0; --i)
      idle_lwps_.push_back(new_lwp(no_cpu));
    std::reverse(idle_lwps_.begin(), idle_lwps_.end());
  }

  std::uint32_t place(std::uint32_t thread, OffCpu /*was*/, std::uint32_t waker,
                      std::int64_t /*now*/) override {
    return cpus_.last_or_idle(thread, waker);
  }

  void enqueue(std::uint32_t thread, std::uint32_t /*cpu*/, OffCpu was, std::int64_t now) override {
    if (lwp_of_[thread] == no_lwp) {
      turn_[thread] = ++turns_;
      waiting_threads_.insert(place_of_thread(thread));
      give_lwp(now);
      return;
    }
    const std::uint32_t lwp = lwp_of_[thread];
    if (!cpus_.rules(thread).bound_to_lwp)
      --in_kernel_;
    lwps_[lwp].thread = thread;
    if (was != OffCpu::created)
      set_level(lwp, level_of(lwps_[lwp].level).after_sleep);
    make_ready(lwp, now);
  }

  std::uint32_t choose(std::uint32_t cpu, std::int64_t now) override {
    charge(cpu, now);
    const std::uint32_t current = on_[cpu];
    const DispatchQueue::Place* const first = queue_.first(cpu);
    std::uint32_t lwp = current;
    if (first != nullptr && (current == no_lwp || first->before(place_of(current)))) {
      lwp = first->who;
      take_out(lwp);
      on_[cpu] = lwp;
      if (current != no_lwp)
        put_in_queue(current, now);
      // Whoever had claimed this CPU, and did not get it, is to have another.
      if (const DispatchQueue::Place* const next = queue_.first_of_any(); next != nullptr)
        claim_cpu(next->who);
    }
    since_[cpu] = now;
    if (lwp == no_lwp) {
      cpus_.drop_timer(cpu);
      return no_thread;
    }
    lwps_[lwp].cpu = cpu;
    cpus_.set_timer(cpu, now + lwps_[lwp].left);
    return lwps_[lwp].thread;
  }

  void stopped(std::uint32_t thread, std::uint32_t cpu, OffCpu why, std::int64_t now) override {
    charge(cpu, now);
    const std::uint32_t lwp = on_[cpu];
    if (!cpus_.rules(thread).bound_to_lwp) {
      if (why == OffCpu::slept) {
        ++in_kernel_;
        on_[cpu] = no_lwp;
        if (!waiting_threads_.empty())
          give_lwp(now);
        return;
      }
      lwp_of_[thread] = no_lwp;
      if (!waiting_threads_.empty()) {
        take_thread(lwp);
        return;  // the LWP keeps its CPU
      }
      idle_lwps_.push_back(lwp);
    }
    on_[cpu] = no_lwp;
  }

  void cancelled(std::uint32_t thread, std::int64_t now) override {
    const std::uint32_t lwp = std::exchange(lwp_of_[thread], no_lwp);
    if (cpus_.rules(thread).bound_to_lwp || lwp == no_lwp)
      return;
    --in_kernel_;
    idle_lwps_.push_back(lwp);
    if (!waiting_threads_.empty())
      give_lwp(now);
  }

  // thr_yield: to other threads for this LWP; a bound one offers its CPU to its equals.
  void yielded(std::uint32_t cpu, std::int64_t now) override {
    charge(cpu, now);
    const std::uint32_t lwp = on_[cpu];
    const std::uint32_t thread = lwps_[lwp].thread;
    if (cpus_.rules(thread).bound_to_lwp || waiting_threads_.empty() ||
        waiting_threads_.begin()->priority < cpus_.rules(thread).priority) {
      lwps_[lwp].turn = ++turns_;
    } else {
      turn_[thread] = ++turns_;
      lwp_of_[thread] = no_lwp;
      take_thread(lwp);
      waiting_threads_.insert(place_of_thread(thread));
    }
    cpus_.reschedule(cpu);
  }

  void timer(std::uint32_t cpu, std::int64_t now) override {
    if (cpu == cpus_.count()) {
      lift_waiting(now);
      return;
    }
    charge(cpu, now);
    const std::uint32_t lwp = on_[cpu];
    set_level(lwp, level_of(lwps_[lwp].level).when_used_up);
    lwps_[lwp].turn = ++turns_;
    cpus_.reschedule(cpu);
  }

  // Its LWP might be the one that whoever has the lock waits for.
  bool may_spin(std::uint32_t thread) const override {
    return has_lwp_for_each_ || cpus_.rules(thread).bound_to_lwp;
  }

  std::int64_t cost_in_tenths(std::uint32_t thread, const Event& event) const override {
    constexpr std::int64_t as_it_is = 10;
    constexpr std::int64_t bound_create = 67;
    constexpr std::int64_t bound_synchronization = 59;
    if (event.kind == EventKind::thread_create)
      return event.subject < cpus_.rules().size() && cpus_.rules(event.subject).bound_to_lwp
                 ? bound_create
                 : as_it_is;
    const bool synchronizes =
        event.kind >= EventKind::mutex_lock && event.kind <= EventKind::condition_broadcast;
    return synchronizes && cpus_.rules(thread).bound_to_lwp ? bound_synchronization : as_it_is;
  }

 private:
  struct Lwp {
    std::int64_t level = first_level;
    std::int64_t left = level_of(first_level).slice;
    std::int64_t turn = 0;  // its place among those of its level
    std::int64_t waits_since = 0;
    std::uint32_t thread = no_thread;
    std::uint32_t cpu = no_cpu;  // that it used last
    std::uint32_t only_cpu = no_cpu;
    bool queued = false;
  };

  std::uint32_t new_lwp(std::uint32_t only_cpu) {
    Lwp lwp;
    lwp.only_cpu = only_cpu;
    lwps_.push_back(lwp);
    return static_cast<std::uint32_t>(lwps_.size() - 1);
  }

  [[nodiscard]] DispatchQueue::Place place_of_thread(std::uint32_t thread) const {
    return {cpus_.rules(thread).priority, turn_[thread], thread};
  }
  [[nodiscard]] DispatchQueue::Place place_of(std::uint32_t lwp) const {
    return {lwps_[lwp].level, lwps_[lwp].turn, lwp};
  }

  void set_level(std::uint32_t lwp, std::int64_t level) {
    lwps_[lwp].level = level;
    lwps_[lwp].left = level_of(level).slice;
  }

  // The first of the threads that wait for an LWP.
  void take_thread(std::uint32_t lwp) {
    lwps_[lwp].thread = waiting_threads_.begin()->who;
    lwp_of_[lwps_[lwp].thread] = lwp;
    waiting_threads_.erase(waiting_threads_.begin());
  }

  void give_lwp(std::int64_t now) {
    if (idle_lwps_.empty() && in_kernel_ == pool_) {
      ++pool_;
      idle_lwps_.push_back(new_lwp(no_cpu));
    }
    if (idle_lwps_.empty())
      return;
    const std::uint32_t lwp = idle_lwps_.back();
    idle_lwps_.pop_back();
    take_thread(lwp);
    make_ready(lwp, now);
  }

  void make_ready(std::uint32_t lwp, std::int64_t now) {
    lwps_[lwp].turn = ++turns_;
    put_in_queue(lwp, now);
  }

  void put_in_queue(std::uint32_t lwp, std::int64_t now) {
    lwps_[lwp].waits_since = now;
    queue_.insert(place_of(lwp), lwps_[lwp].only_cpu);
    lwps_[lwp].queued = true;
    ++queued_;
    claim_cpu(lwp);
    if (!is_watched_) {
      is_watched_ = true;
      cpus_.set_timer(cpus_.count(), (now / second + 1) * second);
    }
  }

  void take_out(std::uint32_t lwp) {
    queue_.erase(place_of(lwp), lwps_[lwp].only_cpu);
    lwps_[lwp].queued = false;
    --queued_;
  }

  void claim_cpu(std::uint32_t lwp) {
    std::uint32_t cpu = lwps_[lwp].only_cpu;
    if (cpu == no_cpu && lwps_[lwp].cpu != no_cpu && cpus_.idle(lwps_[lwp].cpu))
      cpu = lwps_[lwp].cpu;
    if (cpu == no_cpu)
      cpu = cpus_.idle_from(0);
    if (cpu == no_cpu)
      cpu = lowest();
    if (cpu == no_cpu)
      return;
    if (on_[cpu] == no_lwp || lwps_[on_[cpu]].level < lwps_[lwp].level)
      cpus_.reschedule(cpu);
  }

  // The CPU that runs the lowest level, of those that nobody has claimed yet; no_cpu: all are claimed.
  [[nodiscard]] std::uint32_t lowest() const {
    std::uint32_t lowest = no_cpu;
    for (std::uint32_t cpu = 0; cpu < cpus_.count(); ++cpu) {
      if (!cpus_.is_asked(cpu) && on_[cpu] != no_lwp &&
          (lowest == no_cpu || lwps_[on_[cpu]].level < lwps_[on_[lowest]].level))
        lowest = cpu;
    }
    return lowest;
  }

  // Once a second.
  void lift_waiting(std::int64_t now) {
    is_watched_ = false;
    for (std::uint32_t lwp = 0; lwp < lwps_.size(); ++lwp) {
      Lwp& state = lwps_[lwp];
      if (!state.queued || now - state.waits_since < second)
        continue;
      take_out(lwp);
      set_level(lwp, level_of(state.level).after_waiting);
      make_ready(lwp, now);
    }
    if (queued_ > 0 && !is_watched_) {
      is_watched_ = true;
      cpus_.set_timer(cpus_.count(), now + second);
    }
  }

  void charge(std::uint32_t cpu, std::int64_t now) {
    if (on_[cpu] != no_lwp)
      lwps_[on_[cpu]].left = std::max<std::int64_t>(0, lwps_[on_[cpu]].left - (now - since_[cpu]));
    since_[cpu] = now;
  }

  Cpus& cpus_;
  std::vector<Lwp> lwps_;
  std::vector<std::uint32_t> lwp_of_;  // per thread; no_lwp: it waits for one, or needs none
  std::vector<std::int64_t> turn_;     // per thread
  std::vector<std::uint32_t> on_;      // per CPU: the LWP that it runs
  std::vector<std::int64_t> since_;    // per CPU: up to here its LWP was charged
  std::set<DispatchQueue::Place> waiting_threads_;
  std::vector<std::uint32_t> idle_lwps_;
  std::size_t pool_ = 0;       // LWPs for the threads that are not bound
  std::size_t in_kernel_ = 0;  // of these
  bool has_lwp_for_each_ = false;
  DispatchQueue queue_;  // of LWPs
  std::size_t queued_ = 0;
  std::int64_t turns_ = 0;
  bool is_watched_ = false;  // the timer of the next second is set
};

}  // namespace

std::unique_ptr<Scheduler> make_solaris(Cpus& cpus, std::uint32_t lwps) {
  return std::make_unique<Solaris>(cpus, lwps);
}

}  // namespace longpole::simulation
