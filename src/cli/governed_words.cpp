#include "cli/governed_words.h"

#include <fmt/format.h>

#include "base/byte_text.h"

namespace weir::cli {

const char* backend_word(wire::Backend backend) noexcept {
  switch (backend) {
    case wire::Backend::kCpu:
      return "cpu";
    case wire::Backend::kCuda:
      return "cuda";
    case wire::Backend::kMetal:
      return "metal";
    case wire::Backend::kNone:
      break;
  }
  return "none";
}

const char* phase_word(wire::Phase phase) noexcept {
  switch (phase) {
    case wire::Phase::kUnmarked:
      break;
    case wire::Phase::kLoad:
      return "load";
    case wire::Phase::kVision:
      return "vision";
    case wire::Phase::kPrefill:
      return "prefill";
    case wire::Phase::kDecode:
      return "decode";
    case wire::Phase::kIdle:
      return "idle";
    case wire::Phase::kUnload:
      return "unload";
  }
  return "";
}

const char* state_word(wire::PageState state) noexcept {
  switch (state) {
    case wire::PageState::kStarting:
      return "starting";
    case wire::PageState::kGoverned:
      return "governed";
    case wire::PageState::kOff:
      return "off";
    case wire::PageState::kExited:
      break;
  }
  return "exited";
}

const char* act_word(wire::ActKind kind) noexcept {
  switch (kind) {
    case wire::ActKind::kSetCacheLimit:
      return "set-cache-limit";
    case wire::ActKind::kSetMemoryLimit:
      return "set-memory-limit";
    case wire::ActKind::kTrim:
      return "trim";
    case wire::ActKind::kTrimAged:
      return "trim-aged";
    case wire::ActKind::kReturn:
      return "return";
    case wire::ActKind::kResetPeak:
      return "reset-peak";
    case wire::ActKind::kAdaptMemoryLimit:
      break;
  }
  return "adapt-memory-limit";
}

const char* cause_word(wire::ActCause cause) noexcept {
  switch (cause) {
    case wire::ActCause::kControl:
      return "control";
    case wire::ActCause::kRequestEnd:
      return "request";
    case wire::ActCause::kPhase:
      return "phase";
    case wire::ActCause::kIdle:
      return "idle";
    case wire::ActCause::kPressure:
      return "pressure";
    case wire::ActCause::kNeighbour:
      return "neighbour";
    case wire::ActCause::kWindow:
      break;
  }
  return "window";
}

bool is_counted(const ledger::PageReading& page) noexcept {
  return page.state != wire::PageState::kOff;
}

std::string bytes_word(const ledger::Bytes& bytes) {
  if (!bytes) return "?";
  std::string text = short_bytes(*bytes);
  if (text.front() == '-') text.replace(0, 1, "−");
  return text;
}

std::string limit_word(std::uint64_t bytes) {
  return bytes == wire::kNoLimit ? "none" : short_bytes(static_cast<std::int64_t>(bytes));
}

std::optional<double> reused_share(std::uint64_t hits, std::uint64_t misses) noexcept {
  const std::uint64_t all = hits + misses;
  if (all == 0) return std::nullopt;
  return static_cast<double>(hits) / static_cast<double>(all);
}

std::string share_word(double share) {
  return fmt::format("{:.1f} %", 100.0 * share);
}

std::string hit_word(const ledger::PageReading& page) {
  const auto share = reused_share(page.hits, page.misses);
  return share && is_counted(page) ? share_word(*share) : "?";
}

std::string duration_word(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 60 * 99.5) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds < 3'600 * 47.95) return fmt::format("{:.1f} h", seconds / 3'600);
  return fmt::format("{:.1f} d", seconds / 86'400);
}

std::string sum_sentence(const ledger::Layers& layers) {
  const std::string untouched =
      layers.untouched.value_or(0) != 0 ? " − untouched " + bytes_word(layers.untouched) : "";
  return fmt::format("footprint {} = live {} + retained {}{} + heap idle {} + identified {} + unexplained {}",
                     bytes_word(layers.footprint), bytes_word(layers.live), bytes_word(layers.retained),
                     untouched, bytes_word(layers.heap_idle), bytes_word(layers.identified),
                     bytes_word(layers.unexplained));
}

std::string machine_sentence(const ledger::MachineMemory& machine) {
  std::string text = fmt::format("machine {}, {} available", short_bytes(machine.total_bytes),
                                 short_bytes(machine.available_bytes));
  if (!machine.cgroup_limit_bytes) return text + " · no cgroup limit";
  text += fmt::format(" · cgroup {}, {} used", bytes_word(machine.cgroup_limit_bytes),
                      bytes_word(machine.cgroup_usage_bytes));
  if (machine.cgroup_headroom_bytes)
    text += fmt::format(", {} room", bytes_word(machine.cgroup_headroom_bytes));
  return text;
}

}  // namespace weir::cli
