#pragma once

#include <stdexcept>
#include <string>

#include <tl/expected.hpp>

namespace weir {

/// What kind of thing went wrong; decides the exit code (docs/reference/cli.md#exit-codes).
enum class ErrorKind {
  kUsage,        ///< The caller's words are wrong: 64.
  kBadData,      ///< A file or message is not what it claims to be: 65.
  kEnvironment,  ///< The machine lacks something: 69.
  kInternal,     ///< Our bug: 70.
  kNoRoom,       ///< No memory or disk, or a limit that cannot be met: 75.
};

/// Bad input is normal: parsers return this, they do not throw.
/// `message` is one sentence: static text first, values last, then what mends it.
struct Error {
  ErrorKind kind;
  std::string where;  ///< The flag, variable, file or component, e.g. "WEIR_CACHE_LIMIT".
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

/// Shorthand for returning an error from a function with a Result.
[[nodiscard]] tl::unexpected<Error> fail(ErrorKind kind, std::string where, std::string message);

/// "[where] message", as shown to the user.
[[nodiscard]] std::string describe(const Error& error);

/// The process exit code for an error of this kind.
[[nodiscard]] int exit_code(ErrorKind kind) noexcept;

/// The world failing (cannot fork, disk full) travels as this exception; it is caught in `main`, in the
/// request handler and in the trial runner only.
class Failure : public std::runtime_error {
 public:
  explicit Failure(Error error);
  [[nodiscard]] const Error& error() const noexcept { return error_; }

 private:
  Error error_;
};

/// The value, or throws its Error as a Failure.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw Failure(std::move(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace weir
