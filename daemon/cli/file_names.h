// What places in the source, and objects, are called in tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/recording.h"

namespace longpole::cli {

inline constexpr const char* nothing = "–";  // in a table, where there is no value

// A file is called by its name, or by its path where another has the same name.
class FileNames {
 public:
  explicit FileNames(const Recording& recording);

  // "sorter.c:113"; `nothing` where the file is not known.
  [[nodiscard]] std::string place(FileId file, std::uint32_t line) const;

 private:
  std::vector<std::string> names_;
};

// "mutex M".
[[nodiscard]] std::string object_text(const Recording& recording, ObjectId id);

}  // namespace longpole::cli
