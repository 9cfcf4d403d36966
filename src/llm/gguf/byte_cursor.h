#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace weir::llm {

static_assert(std::endian::native == std::endian::little, "GGUF numbers are read as they lie in the file");

/// Reads a file forward in small pieces, never past its end or past a bound. A fault sticks: from then on
/// every number is zero and every string empty, and error() says what went wrong first. So a parser reads a
/// group of fields and asks once. Not thread-safe; the file must outlive it.
class ByteCursor {
 public:
  /// Reads up to `bound_bytes` of the file (or all of it, when shorter).
  ByteCursor(const ReadOnlyFile& file, std::uint64_t bound_bytes);

  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::uint64_t bytes_left() const noexcept { return end_ - offset_; }
  [[nodiscard]] bool failed() const noexcept { return error_.has_value(); }
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

  template <class T>
  [[nodiscard]] T number(const char* what) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    T value{};
    bytes(&value, sizeof value, what);
    return value;
  }
  /// A length (u64), then as many bytes; refused above `limit_bytes` before anything is allocated.
  [[nodiscard]] std::string string(const char* what, std::uint64_t limit_bytes);
  /// A count (u64) of things that take at least `least_bytes` each; refused when the rest cannot hold them.
  [[nodiscard]] std::uint64_t count(const char* what, std::uint64_t least_bytes);
  /// Fills `out`; leaves it alone on a fault.
  void bytes(void* out, std::size_t size, const char* what);

  /// Notes a fault found by the caller at `offset`, unless one is noted already.
  void refuse(std::uint64_t offset, const std::string& message);

 private:
  [[nodiscard]] bool refill();

  const ReadOnlyFile& file_;
  std::uint64_t end_;
  std::uint64_t offset_ = 0;       // of the next byte to hand out
  std::vector<std::byte> buffer_;  // bytes [buffer_start_, buffer_start_ + buffer_.size()) of the file
  std::uint64_t buffer_start_ = 0;
  std::optional<Error> error_;
};

/// A name from a file as it may appear in a message: quoted, cut to 80 bytes, control bytes shown as \xNN.
[[nodiscard]] std::string shown_name(std::string_view name);

}  // namespace weir::llm
