// The tables of a Recording as a text form sees them: by name. Text without tables of its own gets
// an entry for each name in the order in which the names come up; text with tables finds what is
// there.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/event_forms.h"
#include "trace/recording.h"

namespace longpole {

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>{}(name);
  }
};
template <typename Value>
using ByName = std::unordered_map<std::string, Value, NameHash, std::equal_to<>>;

// Finds entries. Where several are alike, the first.
class TextIndex {
 public:
  TextIndex() = default;
  explicit TextIndex(const Recording& recording);

  void note_thread(const Thread& thread, ThreadId id) { threads_.try_emplace(thread.name, id); }
  void note_object(const Object& object, ObjectId id);
  void note_function(const Function& function, FunctionId id) {
    functions_.try_emplace(function.name, id);
  }
  void note_stack(const Stack& stack, StackId id);
  void note_profile(const Profile& profile, ProfileId id);

  [[nodiscard]] std::optional<ThreadId> thread(std::string_view name) const;
  [[nodiscard]] std::optional<ObjectId> object(ObjectKind kind, std::string_view name) const;
  [[nodiscard]] std::optional<FunctionId> function(std::string_view name) const;
  // The frame of a function without a place in it, as text knows it.
  [[nodiscard]] std::optional<StackId> stack(StackId caller, FunctionId function) const;
  // The profile of a stretch spent in one place.
  [[nodiscard]] std::optional<ProfileId> exact_profile(StackId stack) const;

 private:
  ByName<ThreadId> threads_;
  std::array<ByName<ObjectId>, object_kind_count> objects_;
  ByName<FunctionId> functions_;
  std::map<std::pair<StackId, FunctionId>, StackId> stacks_;
  std::map<StackId, ProfileId> exact_profiles_;
};

// Adds entries as names come up.
class TextTables {
 public:
  explicit TextTables(Recording& recording) : recording_(recording) {}

  ThreadId add(Thread thread);
  ObjectId add(Object object);
  FunctionId add(Function function);
  StackId add(Stack stack);
  ProfileId add(Profile profile);

  [[nodiscard]] const TextIndex& index() const { return index_; }
  [[nodiscard]] std::size_t function_count() const { return recording_.functions.size(); }
  ObjectId object(ObjectKind kind, std::string_view name);
  FunctionId function(std::string_view name);
  StackId stack(StackId caller, FunctionId function);
  ProfileId exact_profile(StackId stack);

 private:
  Recording& recording_;
  TextIndex index_;
};

// The functions that a thread has entered and not left: what `run` inside counts for.
class OpenFunctions {
 public:
  [[nodiscard]] bool empty() const { return open_.empty(); }
  [[nodiscard]] std::size_t depth() const { return open_.size(); }
  [[nodiscard]] FunctionId innermost() const { return open_.back(); }
  void follow(const Event& event);

  // The profile of `run FUNCTION` here: made, or found where it is.
  [[nodiscard]] ProfileId run_profile(TextTables& tables, FunctionId function);
  [[nodiscard]] std::optional<ProfileId> find_run_profile(const TextIndex& index,
                                                          FunctionId function);

 private:
  std::vector<FunctionId> open_;  // the outermost first
  std::vector<StackId> stacks_;   // of as many of them as have been looked up
};

}  // namespace longpole
