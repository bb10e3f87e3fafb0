// https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources. A thread is a "sampled" profile:
// stacks with the time that each stands, one after the other, from the start of the run on.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "export/export.h"
#include "export/pieces.h"

namespace longpole::exporting {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class Frames {
 public:
  explicit Frames(const Recording& recording)
      : recording_(recording), of_function_(recording.functions.size(), none) {}

  // The outermost first.
  void of_stack(StackId stack, std::vector<std::size_t>& frames) {
    const std::size_t begin = frames.size();
    for (; stack.known(); stack = recording_.stacks[stack.index()].caller)
      frames.push_back(of_function(recording_.stacks[stack.index()].function));
    std::reverse(frames.begin() + static_cast<std::ptrdiff_t>(begin), frames.end());
  }
  std::size_t of_state(const std::string& text) {
    const auto [at, is_new] = of_text_.try_emplace(text, frames_.size());
    if (is_new)
      frames_.push_back({{"name", text}});
    return at->second;
  }
  [[nodiscard]] const Json& json() const { return frames_; }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t of_function(FunctionId id) {
    std::size_t& frame = of_function_[id.index()];
    if (frame != none)
      return frame;
    const Function& function = recording_.functions[id.index()];
    Json json = {{"name", function.name}};
    if (function.file.known())
      json["file"] = recording_.files[function.file.index()].path;
    if (function.file.known() && function.line > 0)
      json["line"] = function.line;
    frame = frames_.size();
    frames_.push_back(std::move(json));
    return frame;
  }

  const Recording& recording_;
  Json frames_ = Json::array();
  std::vector<std::size_t> of_function_;
  std::unordered_map<std::string, std::size_t> of_text_;
};

// Appends the profile, without making a tree of millions of numbers first.
void append_thread(const Run& run, std::uint32_t thread, Frames& frames, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 R"({{"type":"sampled","name":{},"unit":"nanoseconds","startValue":0,)",
                 text_of(run.recording->threads[thread].name));
  fmt::format_to(std::back_inserter(out), R"("endValue":{},"samples":[)", run.total.count());
  std::vector<std::int64_t> weights;
  std::vector<std::size_t> last;
  std::vector<std::size_t> stack;
  const auto add = [&](Nanoseconds length) {
    if (!weights.empty() && stack == last) {
      weights.back() += length.count();
      return;
    }
    fmt::format_to(std::back_inserter(out), "{}[{}]", weights.empty() ? "" : ",",
                   fmt::join(stack, ","));
    weights.push_back(length.count());
    last = stack;
  };
  Nanoseconds at{};
  for (const Piece& piece : pieces_of(run, thread)) {
    stack.clear();
    if (piece.start > at)
      add(piece.start - at);
    frames.of_stack(piece.stack, stack);
    if (const std::string state = state_text(run, thread, piece); !state.empty())
      stack.push_back(frames.of_state(state));
    add(piece.end - piece.start);
    at = piece.end;
  }
  stack.clear();
  if (run.total > at)
    add(run.total - at);
  fmt::format_to(std::back_inserter(out), R"(],"weights":[{}]}})", fmt::join(weights, ","));
}

}  // namespace

std::string speedscope_file(const Run& run) {
  Frames frames(*run.recording);
  std::string profiles;
  for (std::uint32_t t = 0; t < run.threads.size(); ++t) {
    if (!profiles.empty())
      profiles += ",\n";
    append_thread(run, t, frames, profiles);
  }
  return fmt::format(
      "{{\"$schema\":\"https://www.speedscope.app/"
      "file-format-schema.json\",\"exporter\":\"longpole\","
      "\"name\":{},\"activeProfileIndex\":0,\n\"shared\":{{\"frames\":{}}},\n\"profiles\":[{}]}}\n",
      text_of(run.program + ", " + run.made_by), text_of(frames.json()), profiles);
}

}  // namespace longpole::exporting
