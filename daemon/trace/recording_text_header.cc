#include "trace/recording_text_header.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "trace/event_forms.h"
#include "trace/host_costs.h"

namespace longpole {
namespace {

constexpr std::uint64_t largest_number = std::numeric_limits<std::uint32_t>::max();

// Stores what a reading gave, or passes its error on.
template <typename To, typename From>
Expected<void> store(To& to, Expected<From>&& from) {
  if (!from)
    return tl::unexpected(std::move(from.error()));
  to = static_cast<To>(*from);
  return {};
}

// Settings such as `file=3`: each gives the number of an entry or a plain number.
struct NumberSetting {
  std::string_view key;
  std::uint32_t* to;
};
struct FlagSetting {
  std::string_view word;
  bool* to;
};
struct TextSetting {
  std::string_view key;
  std::string* to;
};

struct Settings {
  std::vector<NumberSetting> numbers{};
  std::vector<FlagSetting> flags{};
  std::vector<TextSetting> texts{};

  [[nodiscard]] Expected<void> read(TextLine& line) const {
    while (!line.at_end()) {
      const auto word = line.word("a setting");
      if (!word)
        return tl::unexpected(word.error());
      if (auto done = read_one(line, *word); !done)
        return done;
    }
    return {};
  }

 private:
  [[nodiscard]] Expected<void> read_one(const TextLine& line, const Word& word) const {
    std::string expected;
    for (const auto& [key, to] : numbers) {
      if (const auto value = word.setting(key))
        return store(*to,
                     line.count_of(word, *value, fmt::format("{}NUMBER", key), 0, largest_number));
      expected += fmt::format("{}{}NUMBER", expected.empty() ? "" : ", ", key);
    }
    for (const auto& [flag, to] : flags) {
      if (word.is(flag)) {
        *to = true;
        return {};
      }
      expected += fmt::format("{}{}", expected.empty() ? "" : ", ", flag);
    }
    for (const auto& [key, to] : texts) {
      if (const auto value = word.setting(key)) {
        *to = *value;
        return {};
      }
      expected += fmt::format("{}{}TEXT", expected.empty() ? "" : ", ", key);
    }
    return line.unexpected_word(word, expected);
  }
};

template <typename Integer>
Expected<std::int64_t> read_integer(TextLine& line, std::string_view expected) {
  return line.word(expected).and_then([&](const Word& word) {
    return line.integer_of(word, word.text, expected, std::numeric_limits<Integer>::min(),
                           std::numeric_limits<Integer>::max());
  });
}

}  // namespace

Expected<ThreadId> MentionedThreads::mention(const TextLine& line, const Word& word) {
  if (const auto known = tables_.index().thread(word.text))
    return *known;
  if (recording_.threads.size() == limits_.threads)
    return line.limit_at(word, fmt::format("more than {} threads", limits_.threads));
  there_.push_back(false);
  if_not_there_.push_back(
      line.error_at(word,
                    fmt::format("thread \"{}\" does nothing, and nobody creates it", word.text))
          .value());
  return tables_.add(Thread{.name = std::string(word.text)});
}

Expected<void> MentionedThreads::all_there() const {
  for (std::size_t i = 0; i < there_.size(); ++i)
    if (!there_[i])
      return tl::unexpected(if_not_there_[i]);
  return {};
}

const std::vector<RecordingHeaderReader::Form>& RecordingHeaderReader::forms() {
  using R = RecordingHeaderReader;
  static const std::vector<Form> all{
      {"source", &R::read_source, true},
      {"command", &R::read_command, false},
      {"directory", &R::read_directory, true},
      {"started", &R::read_started, true},
      {"elapsed", &R::read_elapsed, true},
      {"cpu-time", &R::read_cpu_time, true},
      {"cpus", &R::read_cpus, true},
      {"machine-cpus", &R::read_machine_cpus, true},
      {"exit-status", &R::read_exit_status, true},
      {"exit-signal", &R::read_exit_signal, true},
      {"cost-per-event", &R::read_cost_per_event, true},
      {"cost", &R::read_cost, false},
      {"cpu-time-on", &R::read_cpu_time_on, false},
      {"samples", &R::read_samples, true},
      {"sample-rate", &R::read_sample_rate, true},
      {"incomplete", &R::read_incomplete, true},
      {"notice", &R::read_notice, false},
      {"module", &R::read_module, false},
      {"file", &R::read_file, false},
      {"function", &R::read_function, false},
      {"stack", &R::read_stack, false},
      {"profile", &R::read_profile, false},
      {"thread", &R::read_thread, false},
      {"priority", &R::read_priority, false},
  };
  return all;
}

Expected<void> RecordingHeaderReader::read(TextLine& line) {
  const auto word = line.word("a line of the header");
  if (!word)
    return tl::unexpected(word.error());
  seen_.resize(forms().size());
  for (std::size_t i = 0; i < forms().size(); ++i) {
    const Form& form = forms()[i];
    if (!word->is(form.word))
      continue;
    if (form.once && seen_[i])
      return line.error_at(*word, fmt::format("a second \"{}\" line", form.word));
    seen_[i] = true;
    return (this->*form.handler)(line);
  }
  if (const auto kind = word->quoted ? std::nullopt : object_kind_of(word->text))
    return read_object(line, *kind);
  return line.unexpected_word(*word, "a time in milliseconds, or a line of the header");
}

Expected<void> RecordingHeaderReader::read_source(TextLine& line) {
  std::string expected;
  for (std::size_t i = 0; i < source_count; ++i) {
    const auto source = static_cast<Source>(i);
    if (line.take_if(source_word(source))) {
      recording_.run.source = source;
      return {};
    }
    expected += i == 0 ? "" : i + 1 < source_count ? ", " : " or ";
    expected += source_word(source);
  }
  const auto word = line.word(expected);
  return word ? line.unexpected_word(*word, expected) : tl::unexpected(word.error());
}

Expected<void> RecordingHeaderReader::read_command(TextLine& line) {
  while (!line.at_end()) {
    const auto argument = line.word("an argument");
    if (!argument)
      return tl::unexpected(argument.error());
    recording_.run.command.emplace_back(argument->text);
  }
  return {};
}

Expected<void> RecordingHeaderReader::read_directory(TextLine& line) {
  return store(recording_.run.directory, line.word("a directory").map([](const Word& word) {
    return std::string(word.text);
  }));
}

Expected<void> RecordingHeaderReader::read_started(TextLine& line) {
  return store(recording_.run.started_at_unix_ns,
               read_integer<std::int64_t>(line, "nanoseconds since 1970"));
}

Expected<void> RecordingHeaderReader::read_elapsed(TextLine& line) {
  return store(times_.elapsed, line.duration("a duration"));
}

Expected<void> RecordingHeaderReader::read_cpu_time(TextLine& line) {
  return store(times_.cpu_time, line.duration("a duration"));
}

Expected<void> RecordingHeaderReader::read_cpus(TextLine& line) {
  return store(recording_.run.cpus, line.count("a number of CPUs", 1, largest_number));
}

Expected<void> RecordingHeaderReader::read_machine_cpus(TextLine& line) {
  return store(recording_.run.machine_cpus, line.count("a number of CPUs", 1, largest_number));
}

Expected<void> RecordingHeaderReader::read_exit_status(TextLine& line) {
  return store(recording_.run.exit_status, read_integer<int>(line, "an exit status"));
}

Expected<void> RecordingHeaderReader::read_exit_signal(TextLine& line) {
  return store(recording_.run.exit_signal, read_integer<int>(line, "the number of a signal"));
}

Expected<void> RecordingHeaderReader::read_cost_per_event(TextLine& line) {
  return store(recording_.run.cost_per_event, line.duration("a duration"));
}

Expected<void> RecordingHeaderReader::read_cost(TextLine& line) {
  constexpr std::string_view expected =
      "context-switch, migration, wake-up, interrupt, block, release, release-afar, lock-afar, "
      "tick, idle-look, packed-use, interruption, deep-sleep, deep-wake-up, deep-release or the "
      "word of a "
      "call";
  const auto word = line.word(expected);
  if (!word)
    return tl::unexpected(word.error());
  const auto cost = word->quoted ? std::nullopt : host_cost_of(word->text);
  if (!cost)
    return line.unexpected_word(*word, expected);
  return store(host_cost(recording_.run.costs, *cost), line.duration("a duration"));
}

Expected<void> RecordingHeaderReader::read_cpu_time_on(TextLine& line) {
  CpuTimeOn one;
  if (auto read = store(one.cpus, line.count("a number of CPUs", 2, largest_number)); !read)
    return read;
  if (auto read = store(one.thousandths, line.count("thousandths of the CPU time on one", 1,
                                                    most_cpu_time_thousandths));
      !read)
    return read;
  recording_.run.cpu_time_on.push_back(one);
  return {};
}

Expected<void> RecordingHeaderReader::read_samples(TextLine& line) {
  return store(recording_.run.samples,
               line.count("a number of samples", 0, std::numeric_limits<std::uint64_t>::max()));
}

Expected<void> RecordingHeaderReader::read_sample_rate(TextLine& line) {
  return store(recording_.run.sample_hz, line.count("samples a second", 1, largest_number));
}

Expected<void> RecordingHeaderReader::read_incomplete(TextLine& /*line*/) {
  recording_.run.complete = false;
  return {};
}

Expected<void> RecordingHeaderReader::read_notice(TextLine& line) {
  const auto code = line.name("the code of a notice");
  if (!code)
    return tl::unexpected(code.error());
  const auto count =
      line.count("how often it was seen", 0, std::numeric_limits<std::uint64_t>::max());
  if (!count)
    return tl::unexpected(count.error());
  const auto text = line.word("a sentence in quotes");
  if (!text)
    return tl::unexpected(text.error());
  recording_.notices.push_back({std::string(code->text), std::string(text->text), *count});
  return {};
}

Expected<void> RecordingHeaderReader::read_number(TextLine& line, std::size_t next) const {
  const auto word = line.word("the number of the entry");
  if (!word)
    return tl::unexpected(word.error());
  const auto number =
      line.count_of(*word, word->text, "the number of the entry", 0, largest_number);
  if (!number)
    return tl::unexpected(number.error());
  if (*number != next)
    return line.error_at(*word,
                         fmt::format("expected {}, since entries are numbered from 0 in order, "
                                     "found {}",
                                     next, *number));
  if (next >= limits_.table_entries)
    return line.limit_at(*word, fmt::format("more than {} entries", limits_.table_entries));
  return {};
}

Expected<void> RecordingHeaderReader::read_module(TextLine& line) {
  if (auto number = read_number(line, recording_.modules.size()); !number)
    return number;
  const auto path = line.name("the path of a module");
  if (!path)
    return tl::unexpected(path.error());
  Module module{.path = std::string(path->text)};
  const Settings settings{.flags = {{"lines", &module.has_line_table}},
                          .texts = {{"build=", &module.build_id}}};
  auto read = settings.read(line);
  recording_.modules.push_back(std::move(module));
  return read;
}

Expected<void> RecordingHeaderReader::read_file(TextLine& line) {
  if (auto number = read_number(line, recording_.files.size()); !number)
    return number;
  const auto path = line.name("the path of a source file");
  if (!path)
    return tl::unexpected(path.error());
  File file{.path = std::string(path->text)};
  const Settings settings{.flags = {{"system", &file.system}},
                          .texts = {{"sha256=", &file.sha256}}};
  auto read = settings.read(line);
  recording_.files.push_back(std::move(file));
  return read;
}

Expected<void> RecordingHeaderReader::read_function(TextLine& line) {
  if (auto number = read_number(line, recording_.functions.size()); !number)
    return number;
  const auto name = line.name("the name of a function");
  if (!name)
    return tl::unexpected(name.error());
  Function function{.name = std::string(name->text)};
  const Settings settings{.numbers = {{"file=", &function.file.value},
                                      {"line=", &function.line},
                                      {"last=", &function.last_line},
                                      {"module=", &function.module.value}}};
  auto read = settings.read(line);
  tables_.add(std::move(function));
  return read;
}

Expected<void> RecordingHeaderReader::read_stack(TextLine& line) {
  if (auto number = read_number(line, recording_.stacks.size()); !number)
    return number;
  Stack stack;
  const Settings settings{.numbers = {{"function=", &stack.function.value},
                                      {"file=", &stack.file.value},
                                      {"line=", &stack.line},
                                      {"caller=", &stack.caller.value}},
                          .flags = {{"inlined", &stack.inlined}}};
  auto read = settings.read(line);
  tables_.add(stack);
  return read;
}

Expected<void> RecordingHeaderReader::read_profile(TextLine& line) {
  // A profile with many entries goes on in further lines of the same number.
  const std::string more = fmt::format("{}+", recording_.profiles.size() - 1);
  const bool goes_on = !recording_.profiles.empty() && line.take_if(more);
  Profile profile;
  if (!goes_on) {
    if (auto number = read_number(line, recording_.profiles.size()); !number)
      return number;
    profile.exact = line.take_if("exact");
  }
  constexpr std::string_view expected = "STACK or STACK:SAMPLES";
  while (!line.at_end()) {
    const auto word = line.word(expected);
    if (!word)
      return tl::unexpected(word.error());
    ProfileEntry entry;
    const std::size_t colon = word->text.find(':');
    if (auto stack = store(entry.stack.value, line.count_of(*word, word->text.substr(0, colon),
                                                            expected, 0, largest_number));
        !stack)
      return stack;
    if (colon != std::string_view::npos)
      if (auto samples =
              store(entry.samples, line.count_of(*word, word->text.substr(colon + 1), expected, 0,
                                                 std::numeric_limits<std::uint32_t>::max()));
          !samples)
        return samples;
    (goes_on ? recording_.profiles.back() : profile).entries.push_back(entry);
  }
  if (!goes_on)
    tables_.add(std::move(profile));
  return {};
}

Expected<void> RecordingHeaderReader::read_thread(TextLine& line) {
  const auto name = line.name("the name of a thread");
  if (!name)
    return tl::unexpected(name.error());
  const auto id = threads_.mention(line, *name);
  if (!id)
    return tl::unexpected(id.error());
  if (threads_.is_there(*id))
    return line.error_at(*name, fmt::format("a second line for thread \"{}\"", name->text));
  threads_.note_there(*id);
  Thread& thread = recording_.threads[id->index()];
  constexpr std::string_view expected = "start=NUMBER, priority=NUMBER or cpu=NUMBER";
  while (!line.at_end()) {
    const auto word = line.word(expected);
    if (!word)
      return tl::unexpected(word.error());
    Expected<void> read{};
    if (const auto function = word->setting("start="))
      read = store(thread.start_function.value,
                   line.count_of(*word, *function, "start=NUMBER", 0, largest_number));
    else if (const auto priority = word->setting("priority="))
      read = store(thread.priority, line.integer_of(*word, *priority, "priority=NUMBER",
                                                    std::numeric_limits<std::int32_t>::min(),
                                                    std::numeric_limits<std::int32_t>::max()));
    else if (const auto cpu = word->setting("cpu="))
      read = store(thread.bound_to, line.count_of(*word, *cpu, "cpu=NUMBER", 0,
                                                  std::numeric_limits<std::uint32_t>::max()));
    else
      read = line.unexpected_word(*word, expected);
    if (!read)
      return read;
  }
  return {};
}

Expected<void> RecordingHeaderReader::read_priority(TextLine& line) {
  const auto name = line.name("the name of a thread");
  if (!name)
    return tl::unexpected(name.error());
  const auto id = threads_.mention(line, *name);
  if (!id)
    return tl::unexpected(id.error());
  return store(recording_.threads[id->index()].priority,
               read_integer<std::int32_t>(line, "a priority"));
}

Expected<void> RecordingHeaderReader::read_object(TextLine& line, ObjectKind kind) {
  const auto name = line.name(fmt::format("the name of a {}", object_kind_word(kind)));
  if (!name)
    return tl::unexpected(name.error());
  if (tables_.index().object(kind, name->text))
    return line.error_at(
        *name, fmt::format("a second line for {} \"{}\"", object_kind_word(kind), name->text));
  if (recording_.objects.size() == limits_.table_entries)
    return line.limit_at(*name, fmt::format("more than {} objects", limits_.table_entries));
  Object object{.kind = kind, .name = std::string(name->text)};
  if (kind == ObjectKind::semaphore && line.take_if("="))
    if (auto value = store(object.initial, line.count("a value", 0, largest_number)); !value)
      return value;
  const Settings settings{.numbers = {{"site=", &object.first_site.value}}};
  auto read = settings.read(line);
  tables_.add(std::move(object));
  return read;
}

}  // namespace longpole
