// Runs to export, and their protobufs as a reader of the published formats meets them: by the numbers
// of their fields, without our own descriptions of them.
#pragma once

#include <google/protobuf/unknown_field_set.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/execution.h"
#include "export/export.h"

namespace longpole::exporting {

[[nodiscard]] std::shared_ptr<const Recording> golden(const std::string& name);
[[nodiscard]] std::shared_ptr<const Recording> random_recording(std::uint64_t seed);
// Of a text recording.
[[nodiscard]] std::shared_ptr<const Recording> recording_of(std::string_view text);
[[nodiscard]] std::shared_ptr<const analysis::Execution> execution_of(
    const std::shared_ptr<const Recording>& recording, std::string_view scheduler,
    std::uint32_t cpus);

// A message of which nothing but the numbers is known.
class Message {
 public:
  explicit Message(const std::string& bytes);

  [[nodiscard]] bool has(int field) const;
  // The last value of the field; 0 where there is none.
  [[nodiscard]] std::int64_t number(int field) const;
  [[nodiscard]] std::string text(int field) const;
  // All values of a repeated field that is not packed, and of one that is: formats have them one way.
  [[nodiscard]] std::vector<std::int64_t> numbers(int field) const;
  [[nodiscard]] std::vector<std::int64_t> packed_numbers(int field) const;
  [[nodiscard]] std::vector<std::string> texts(int field) const;
  [[nodiscard]] std::vector<Message> messages(int field) const;
  [[nodiscard]] Message message(int field) const { return Message(text(field)); }

 private:
  std::shared_ptr<const google::protobuf::UnknownFieldSet> fields_;
};

}  // namespace longpole::exporting
