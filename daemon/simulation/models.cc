#include "simulation/models.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace longpole::simulation {
namespace {

constexpr std::array<std::string_view, model_count> model_names{"direct", "client-server",
                                                                "strict"};

}  // namespace

std::string_view name_of(Model model) {
  return model_names[static_cast<std::size_t>(model)];
}

std::optional<Model> model_named(std::string_view name) {
  const auto* const at = std::find(model_names.begin(), model_names.end(), name);
  if (at == model_names.end())
    return std::nullopt;
  return static_cast<Model>(at - model_names.begin());
}

bool Models::all_direct() const {
  return general == Model::direct &&
         std::all_of(objects.begin(), objects.end(),
                     [](const OfObject& one) { return one.model == Model::direct; });
}

std::vector<Model> models_of_objects(const Recording& recording, const Models& models) {
  std::vector<Model> out(recording.objects.size(), models.general);
  if (models.objects.empty())
    return out;
  std::vector<std::uint32_t> group(recording.objects.size());
  std::iota(group.begin(), group.end(), 0U);
  const auto root = [&](std::uint32_t object) {
    while (group[object] != object)
      object = group[object] = group[group[object]];
    return object;
  };
  for (const Thread& thread : recording.threads) {
    for (const Event& event : thread.events) {
      if ((event.kind == EventKind::condition_wait ||
           event.kind == EventKind::condition_timedwait) &&
          event.subject < group.size() && event.other < group.size())
        group[root(event.subject)] = root(event.other);
    }
  }
  for (const Models::OfObject& one : models.objects)
    out[root(one.object.value)] = one.model;
  for (std::uint32_t object = 0; object < out.size(); ++object)
    out[object] = out[root(object)];
  return out;
}

}  // namespace longpole::simulation
