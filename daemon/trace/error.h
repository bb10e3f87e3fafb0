// How anything in the daemon says that it could not do what it was asked.
//
// A function that can fail for a reason outside the program returns Expected<T>; the Error holds
// the three parts that every message to a person has. Nothing in the core throws; exceptions of the
// standard library (no memory) pass through to main() or the RPC boundary.
//
//   if (auto recording = read_recording(path); !recording) return
//   tl::unexpected(recording.error());
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace longpole {

enum class ErrorKind : std::uint8_t {
  bad_input,  // what the user gave cannot be used: exit status 2, INVALID_ARGUMENT
  not_found,  // what the user named is not there: exit status 2, NOT_FOUND
  limit,      // a limit, named in `why`: exit status 2, RESOURCE_EXHAUSTED
  failure,    // the machine or the system said no: exit status 1, FAILED_PRECONDITION
};

struct Error {
  ErrorKind kind = ErrorKind::failure;
  std::string
      what;         // what could not be done, with the name it was given: "cannot read run.lptrace"
  std::string why;  // the reason, with offset or line and column where there is one
  std::string remedy;  // what the user can do about it; empty where nothing is known

  // "what: why; remedy", the form that follows "longpole: " on standard error.
  [[nodiscard]] std::string text() const {
    std::string out = what;
    if (!why.empty())
      out += ": " + why;
    if (!remedy.empty())
      out += "; " + remedy;
    return out;
  }
};

template <typename T>
using Expected = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> bad_input(std::string what, std::string why,
                                                     std::string remedy = {}) {
  return tl::unexpected(
      Error{ErrorKind::bad_input, std::move(what), std::move(why), std::move(remedy)});
}
[[nodiscard]] inline tl::unexpected<Error> not_found(std::string what, std::string why,
                                                     std::string remedy = {}) {
  return tl::unexpected(
      Error{ErrorKind::not_found, std::move(what), std::move(why), std::move(remedy)});
}
[[nodiscard]] inline tl::unexpected<Error> over_limit(std::string what, std::string why,
                                                      std::string remedy = {}) {
  return tl::unexpected(
      Error{ErrorKind::limit, std::move(what), std::move(why), std::move(remedy)});
}
[[nodiscard]] inline tl::unexpected<Error> failure(std::string what, std::string why,
                                                   std::string remedy = {}) {
  return tl::unexpected(
      Error{ErrorKind::failure, std::move(what), std::move(why), std::move(remedy)});
}

}  // namespace longpole
