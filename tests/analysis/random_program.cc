#include "random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace longpole::analysis {
namespace {

class ProgramWriter {
 public:
  ProgramWriter(std::uint64_t seed, Exits exits) : random_(seed), exits_(exits) {
    threads_.resize(2 + pick(5));
    for (std::size_t t = 1; t < threads_.size(); ++t)
      threads_[t].exists = pick(3) != 0;
  }

  std::string write() {
    for (std::size_t blocks = 5 + pick(30); blocks > 0; --blocks)
      add_block();
    std::string out = fmt::format("semaphore S0 = {}\n", pick(3));
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      out += fmt::format("thread T{}", t);
      if (pick(4) == 0)
        out += fmt::format(" priority={}", pick(5));
      if (pick(4) == 0)
        out += fmt::format(" cpu={}", pick(4));
      out += "\n" + threads_[t].text;
      out += fmt::format("  run f{} {}\n", pick(5), duration());
      if (t == 0 && exits_ == Exits::some && pick(6) == 0)
        out += "  exit\n";
      if (pick(2) == 0)
        out += "  end\n";
    }
    return out;
  }

 private:
  struct ThreadState {
    std::string text;
    bool exists = true;  // from the start, or created by now
    bool ended = false;
  };

  std::size_t pick(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  std::string duration() {
    return fmt::format("{}ns", std::uniform_int_distribution<int>(1000, 1 << 28)(random_));
  }
  template <typename... Args>
  void say(std::size_t thread, fmt::format_string<Args...> form, Args&&... args) {
    threads_[thread].text += fmt::format("  run f{} {}\n  ", pick(5), duration());
    threads_[thread].text += fmt::format(form, std::forward<Args>(args)...) + "\n";
  }

  std::vector<std::size_t> live_threads() {
    std::vector<std::size_t> live;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      if (threads_[t].exists && !threads_[t].ended)
        live.push_back(t);
    }
    std::shuffle(live.begin(), live.end(), random_);
    return live;
  }

  void add_block() {
    const std::vector<std::size_t> live = live_threads();
    if (live.empty())
      return;
    if (live.size() == 1 || pick(3) == 0)
      add_alone(live[0]);
    else if (pick(8) == 0)
      add_end(live[0], live[1]);
    else
      add_together(live);
  }

  void add_alone(std::size_t a) {
    switch (pick(12)) {
      case 0:
        say(a, "enter g{}", pick(3));
        say(a, "yield");
        threads_[a].text += fmt::format("  run f{} {}\n", pick(5), duration());
        return leave(a);
      case 1:
        return create(a);
      case 2:
        return say(a, "sleep {}", duration());
      case 3:
        return say(a, "external {}", duration());
      case 4:
        return say(a, "trylock M{} busy", pick(2));
      case 5:
        return say(a, "timedlock M{} {} timeout", pick(2), duration());
      case 6:
        return say(a, "trywait S{} busy", pick(2));
      case 7:
        return say(a, "timedwait S{} {} timeout", pick(2), duration());
      case 8:
        say(a, "lock M0");
        say(a, "ctimedwait C0 M0 {} timeout", duration());
        return say(a, "unlock M0");
      case 9:
        return say(a, "signal C{}", pick(2));
      case 10:
        return say(a, "detach T{}", pick(threads_.size()));
      default:
        return lock_recursively(a);
    }
  }

  void leave(std::size_t a) {
    const std::string& text = threads_[a].text;
    const std::size_t entered = text.rfind("enter ") + 6;
    say(a, "leave {}", text.substr(entered, text.find('\n', entered) - entered));
  }

  void lock_recursively(std::size_t a) {
    say(a, "lock M1");
    say(a, "lock M1");
    say(a, "unlock M1");
    say(a, "unlock M1");
  }

  void create(std::size_t a) {
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      if (threads_[t].exists)
        continue;
      threads_[t].exists = true;
      return say(a, "create T{}", t);
    }
  }

  void add_end(std::size_t a, std::size_t b) {
    threads_[b].ended = true;
    if (pick(2) == 0) {
      const std::size_t where = pick(3);
      if (where == 0)
        say(b, "sleep {}", duration());
      else if (where == 1)
        say(b, "wait never_posted");
      else
        say(b, "receive never_sent");
      say(a, "cancel T{}", b);
    }
    say(a, "join T{}", b);
  }

  void add_together(const std::vector<std::size_t>& live) {
    const std::size_t a = live[0];
    const std::size_t b = live[1];
    const std::size_t object = pick(2);
    switch (pick(9)) {
      case 0:
        say(b, "post S{}", object);
        return say(a, "wait S{}", object);
      case 1:
        say(b, "post S{}", object);
        if (pick(2) == 0)
          return say(a, "trywait S{} ok", object);
        return say(a, "timedwait S{} {} ok", object, duration());
      case 2:
        return lock_both(a, b, object);
      case 3:
        say(a, "rdlock L{}", object);
        say(a, "rwunlock L{}", object);
        say(b, "{} L{}", pick(2) == 0 ? "rdlock" : "wrlock", object);
        return say(b, "rwunlock L{}", object);
      case 4:
        return signal_one(a, b, object);
      case 5:
        return broadcast_to_many(live, object);
      case 6: {
        const std::size_t parties = 2 + pick(live.size() - 1);
        for (std::size_t i = 0; i < parties; ++i)
          say(live[i], "barrier B{} {}", barriers_, parties);
        ++barriers_;
        return;
      }
      case 7:
        say(a, "send X{} to T{}", object, b);
        return say(b, "receive X{}", object);
      default:
        say(a, "io D{} {}", object, duration());
        return say(b, "io D{} {}", object, duration());
    }
  }

  void lock_both(std::size_t a, std::size_t b, std::size_t mutex) {
    say(a, "lock M{}", mutex);
    say(a, "unlock M{}", mutex);
    if (pick(2) == 0)
      say(b, "trylock M{} ok", mutex);
    else
      say(b, "timedlock M{} {} ok", mutex, duration());
    say(b, "unlock M{}", mutex);
  }

  void wait_for_condition(std::size_t a, std::size_t condition) {
    say(a, "lock M{}", condition);
    if (pick(2) == 0)
      say(a, "cwait C{} M{}", condition, condition);
    else
      say(a, "ctimedwait C{} M{} {} ok", condition, condition, duration());
  }

  void signal_one(std::size_t a, std::size_t b, std::size_t condition) {
    wait_for_condition(a, condition);
    say(b, "lock M{}", condition);
    say(b, "signal C{}", condition);
    say(b, "unlock M{}", condition);
    say(a, "unlock M{}", condition);
  }

  void broadcast_to_many(const std::vector<std::size_t>& live, std::size_t condition) {
    const std::size_t waiters = 1 + pick(live.size() - 1);
    for (std::size_t i = 0; i < waiters; ++i)
      wait_for_condition(live[i], condition);
    const std::size_t caller = live[waiters];
    say(caller, "lock M{}", condition);
    say(caller, "broadcast C{}", condition);
    say(caller, "unlock M{}", condition);
    for (std::size_t i = 0; i < waiters; ++i)
      say(live[i], "unlock M{}", condition);
  }

  std::mt19937_64 random_;
  Exits exits_;
  std::vector<ThreadState> threads_;
  std::size_t barriers_ = 0;
};

}  // namespace

std::string random_program(std::uint64_t seed, Exits exits) {
  return ProgramWriter(seed, exits).write();
}

}  // namespace longpole::analysis
