#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/counters_page.h"

namespace weir::wire {

/// The variable by which `weir run` tells a governed process what to do, and the folder for its page.
inline constexpr const char* kAgentVariable = "WEIR_AGENT";
inline constexpr const char* kPagesVariable = "WEIR_AGENT_PAGES";

enum class HostClear : std::uint32_t { kAge = 0, kHonour = 1 };

/// Boundaries at which weir trims by itself, beside idleness.
inline constexpr std::uint32_t kTrimAtRequest = 1;
inline constexpr std::uint32_t kTrimAtPhase = 2;
inline constexpr std::uint32_t kTrimAtPressure = 4;

/// Everything resolved: integers only. Text form, one line, fields in this order, all present:
///   v2 allocator=weir cache=67108864 memory=none host_clear=age enforce=0 children=1 huge_pages=1
///     trim_at=4 idle=30000 run=81923                                      (all of it in the one line)
/// cache: bytes, `none` (unlimited) or `unset`; memory: bytes above 0, or `none`. Numbers have no leading
/// zeros; trim_at is one digit.
struct AgentSettings {
  Allocator allocator = Allocator::kWeir;
  bool cache_unset = true;               ///< The allocator's own default.
  std::uint64_t cache_limit = kNoLimit;  ///< When not unset; kNoLimit then too.
  std::uint64_t memory_limit = kNoLimit;
  HostClear host_clear = HostClear::kAge;
  bool enforce = false;
  bool children = true;
  bool huge_pages = true;
  std::uint32_t trim_at = 0;  ///< kTrimAtRequest | kTrimAtPhase | kTrimAtPressure.
  std::uint64_t idle_ms = 0;  ///< Trim after this long without an event; 0: never.
  std::uint64_t run = 0;

  bool operator==(const AgentSettings&) const = default;
};

inline constexpr std::size_t kSettingsTextBytes = 256;

/// False for anything but the exact form above; then `into` is untouched. No heap, no exception, any bytes.
[[nodiscard]] bool parse_settings(const char* text, AgentSettings& into) noexcept;

/// Writes the text form with its terminating zero; returns its length without it.
std::size_t print_settings(const AgentSettings& settings, char (&text)[kSettingsTextBytes]) noexcept;

/// "mlx", "mlx-policy", "weir".
[[nodiscard]] const char* allocator_name(Allocator allocator) noexcept;
/// False when `name` names none.
[[nodiscard]] bool allocator_of_name(const char* name, std::size_t length, Allocator& into) noexcept;

}  // namespace weir::wire
