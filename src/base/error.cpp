#include "base/error.h"

#include <utility>

namespace weir {

tl::unexpected<Error> fail(ErrorKind kind, std::string where, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(where), std::move(message)});
}

std::string describe(const Error& error) {
  return error.where.empty() ? error.message : "[" + error.where + "] " + error.message;
}

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kUsage:
      return 64;
    case ErrorKind::kBadData:
      return 65;
    case ErrorKind::kEnvironment:
      return 69;
    case ErrorKind::kInternal:
      return 70;
    case ErrorKind::kNoRoom:
      return 75;
  }
  return 70;
}

Failure::Failure(Error error) : std::runtime_error(describe(error)), error_(std::move(error)) {}

}  // namespace weir
