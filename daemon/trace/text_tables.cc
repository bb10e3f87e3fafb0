#include "trace/text_tables.h"

namespace longpole {
namespace {

template <typename Map, typename Key>
auto find_in(const Map& map, const Key& key) -> std::optional<typename Map::mapped_type> {
  const auto found = map.find(key);
  if (found == map.end())
    return std::nullopt;
  return found->second;
}

template <typename Tag, typename Entry>
Id<Tag> append(std::vector<Entry>& table, Entry entry) {
  table.push_back(std::move(entry));
  return {static_cast<std::uint32_t>(table.size() - 1)};
}

template <typename Tag, typename Entry, typename Note>
void for_each_entry(const std::vector<Entry>& table, Note note) {
  for (std::size_t i = 0; i < table.size(); ++i)
    note(table[i], Id<Tag>{static_cast<std::uint32_t>(i)});
}

}  // namespace

TextIndex::TextIndex(const Recording& recording) {
  for_each_entry<ThreadTag>(recording.threads,
                            [&](const Thread& thread, ThreadId id) { note_thread(thread, id); });
  for_each_entry<ObjectTag>(recording.objects,
                            [&](const Object& object, ObjectId id) { note_object(object, id); });
  for_each_entry<FunctionTag>(recording.functions, [&](const Function& function, FunctionId id) {
    note_function(function, id);
  });
  for_each_entry<StackTag>(recording.stacks,
                           [&](const Stack& stack, StackId id) { note_stack(stack, id); });
  for_each_entry<ProfileTag>(
      recording.profiles, [&](const Profile& profile, ProfileId id) { note_profile(profile, id); });
}

void TextIndex::note_object(const Object& object, ObjectId id) {
  objects_[static_cast<std::size_t>(object.kind)].try_emplace(object.name, id);
}

void TextIndex::note_stack(const Stack& stack, StackId id) {
  if (!stack.file.known() && stack.line == 0 && !stack.inlined)
    stacks_.try_emplace({stack.caller, stack.function}, id);
}

void TextIndex::note_profile(const Profile& profile, ProfileId id) {
  if (profile.exact && profile.entries.size() == 1 && profile.entries.front().samples == 0)
    exact_profiles_.try_emplace(profile.entries.front().stack, id);
}

std::optional<ThreadId> TextIndex::thread(std::string_view name) const {
  return find_in(threads_, name);
}

std::optional<ObjectId> TextIndex::object(ObjectKind kind, std::string_view name) const {
  return find_in(objects_[static_cast<std::size_t>(kind)], name);
}

std::optional<FunctionId> TextIndex::function(std::string_view name) const {
  return find_in(functions_, name);
}

std::optional<StackId> TextIndex::stack(StackId caller, FunctionId function) const {
  return find_in(stacks_, std::pair(caller, function));
}

std::optional<ProfileId> TextIndex::exact_profile(StackId stack) const {
  return find_in(exact_profiles_, stack);
}

ThreadId TextTables::add(Thread thread) {
  const auto id = append<ThreadTag>(recording_.threads, std::move(thread));
  index_.note_thread(recording_.threads.back(), id);
  return id;
}

ObjectId TextTables::add(Object object) {
  const auto id = append<ObjectTag>(recording_.objects, std::move(object));
  index_.note_object(recording_.objects.back(), id);
  return id;
}

FunctionId TextTables::add(Function function) {
  const auto id = append<FunctionTag>(recording_.functions, std::move(function));
  index_.note_function(recording_.functions.back(), id);
  return id;
}

StackId TextTables::add(Stack stack) {
  const auto id = append<StackTag>(recording_.stacks, stack);
  index_.note_stack(stack, id);
  return id;
}

ProfileId TextTables::add(Profile profile) {
  const auto id = append<ProfileTag>(recording_.profiles, std::move(profile));
  index_.note_profile(recording_.profiles.back(), id);
  return id;
}

ObjectId TextTables::object(ObjectKind kind, std::string_view name) {
  if (const auto id = index_.object(kind, name))
    return *id;
  return add(Object{.kind = kind, .name = std::string(name)});
}

FunctionId TextTables::function(std::string_view name) {
  if (const auto id = index_.function(name))
    return *id;
  return add(Function{.name = std::string(name)});
}

StackId TextTables::stack(StackId caller, FunctionId function) {
  if (const auto id = index_.stack(caller, function))
    return *id;
  return add(Stack{.caller = caller, .function = function});
}

ProfileId TextTables::exact_profile(StackId stack) {
  if (const auto id = index_.exact_profile(stack))
    return *id;
  return add(Profile{.exact = true, .entries = {{.stack = stack}}});
}

void OpenFunctions::follow(const Event& event) {
  if (event.kind == EventKind::enter) {
    open_.push_back(event.callee());
  } else if (event.kind == EventKind::leave && !open_.empty()) {
    open_.pop_back();
    if (stacks_.size() > open_.size())
      stacks_.pop_back();
  }
}

ProfileId OpenFunctions::run_profile(TextTables& tables, FunctionId function) {
  while (stacks_.size() < open_.size())
    stacks_.push_back(
        tables.stack(stacks_.empty() ? StackId::none() : stacks_.back(), open_[stacks_.size()]));
  return tables.exact_profile(
      tables.stack(stacks_.empty() ? StackId::none() : stacks_.back(), function));
}

std::optional<ProfileId> OpenFunctions::find_run_profile(const TextIndex& index,
                                                         FunctionId function) {
  while (stacks_.size() < open_.size()) {
    const auto stack =
        index.stack(stacks_.empty() ? StackId::none() : stacks_.back(), open_[stacks_.size()]);
    if (!stack)
      return std::nullopt;
    stacks_.push_back(*stack);
  }
  const auto stack = index.stack(stacks_.empty() ? StackId::none() : stacks_.back(), function);
  return stack ? index.exact_profile(*stack) : std::nullopt;
}

}  // namespace longpole
