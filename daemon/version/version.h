// Which Longpole this is: shown by `longpole --version`, in the daemon's READY line and handshake.
#pragma once

#include <string_view>

namespace longpole {

// Of project() in CMakeLists.txt: "0.1.0".
[[nodiscard]] std::string_view version();

// The git commit that was built, with "-dirty" behind it when files differed from it; empty when it
// was not built from a git checkout.
[[nodiscard]] std::string_view commit();

}  // namespace longpole
