// The three simulation models (thesis, Paper VIII): how a wait finds the release that ends it.
//
//   direct          any release will do, whoever comes first; the calls of a thread stay in order
//   strict          each wait is for the very release that ended it in the recording, in order
//   client_server   likewise, but a thread that comes to a wait may go on behind any other of its
//                   waits whose release has been: a server takes its requests as they come
//
// The direct model predicts best and may stand still where the program did not; strict never does,
// and is the most pessimistic. A wait is one that some release enabled: of a lock, a semaphore, a
// condition, a channel, and for client_server a join. An acquisition that nobody enabled, or the
// thread itself, waits for nobody. A thread that holds a lock keeps to the order of its calls: its
// critical sections are not torn apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/recording.h"

namespace longpole::simulation {

enum class Model : std::uint8_t { direct, client_server, strict };
inline constexpr std::size_t model_count = 3;
[[nodiscard]] std::string_view name_of(Model model);  // "direct", "client-server", "strict"
[[nodiscard]] std::optional<Model> model_named(std::string_view name);

struct Models {
  Model general = Model::direct;  // of the joins, and of every object not named below
  struct OfObject {
    ObjectId object;
    Model model = Model::direct;
  };
  // Of single objects; the last word on an object counts. A condition and the mutexes that it is
  // waited for with always go together.
  std::vector<OfObject> objects{};

  [[nodiscard]] bool all_direct() const;
};

// The model of each object of the recording.
[[nodiscard]] std::vector<Model> models_of_objects(const Recording& recording,
                                                   const Models& models);

}  // namespace longpole::simulation
