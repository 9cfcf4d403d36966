#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/allocator.h"

namespace weir::lab {

/// The cache limit of an arm: an explicit number of bytes (0 keeps nothing), MLX's own default, or no limit.
struct ArmLimit {
  enum class Kind { kBytes, kUnset, kUnlimited };
  Kind kind = Kind::kUnset;
  std::int64_t bytes = 0;  ///< Only when kind is kBytes.

  [[nodiscard]] static ArmLimit of(std::int64_t limit_bytes) noexcept { return {Kind::kBytes, limit_bytes}; }
  [[nodiscard]] static ArmLimit unset() noexcept { return {Kind::kUnset, 0}; }
  [[nodiscard]] static ArmLimit unlimited() noexcept { return {Kind::kUnlimited, 0}; }
  friend bool operator==(const ArmLimit&, const ArmLimit&) = default;
};

/// What MLX keeps on this backend when nobody sets a limit.
inline constexpr std::int64_t kLibraryDefaultBytes = 33'554'432;

/// "bytes", "unset", "unlimited": the words of the worker protocol and of sealed plans.
[[nodiscard]] std::string kind_name(ArmLimit::Kind kind);
[[nodiscard]] std::optional<ArmLimit::Kind> kind_from_name(const std::string& name);

/// The bytes that MLX's own rule keeps at most under this setting; nullopt: no limit.
[[nodiscard]] std::optional<std::int64_t> effective_bytes(const ArmLimit& limit);

/// The limit's name in tables: "64 MiB", "0", "unset (32 MiB)", "unlimited"; other sizes in exact bytes.
[[nodiscard]] std::string limit_name(const ArmLimit& limit);

/// One treatment of an experiment.
struct Arm {
  std::string name;
  ArmLimit cache_limit;
  Allocator allocator = Allocator::kMlx;
  friend bool operator==(const Arm&, const Arm&) = default;
};

/// The limit's name, after the allocator's where that is not MLX's own: "64 MiB", "weir 64 MiB", "weir
/// unset", "mlx-policy unset (32 MiB)".
[[nodiscard]] std::string arm_name(Allocator allocator, const ArmLimit& limit);

/// The arm with the name that `arm_name` gives.
[[nodiscard]] Arm make_arm(const ArmLimit& limit);
[[nodiscard]] Arm make_arm(Allocator allocator, const ArmLimit& limit);

/// The cache limit that is then in force; nullopt: none. Under `weir` that is also what `unset` comes to:
/// there retention follows demand, with a limit or without one.
[[nodiscard]] std::optional<std::int64_t> effective_bytes(const Arm& arm);

/// Whether nothing could tell the two apart: one allocator, one limit in force.
[[nodiscard]] bool same_setting(const Arm& a, const Arm& b);

}  // namespace weir::lab
