#include "report/figures.h"

#include <cmath>

#include <fmt/format.h>

#include "base/byte_text.h"

namespace weir::report {

namespace {

constexpr const char* kMinus = "−";

/// A number with a sign of its own; one that rounds to zero has none.
std::string with_sign(double value, int decimals) {
  std::string digits = fmt::format("{:.{}f}", std::fabs(value), decimals);
  if (digits.find_first_not_of("0.") == std::string::npos) return digits;
  return (value < 0 ? kMinus : "+") + digits;
}

}  // namespace

ByteUnit byte_unit(std::int64_t largest_bytes) {
  if (largest_bytes >= 1'000'000'000) return {"GB", 1e9, 2};
  return {"MB", 1e6, 0};
}

std::string in_unit(std::int64_t bytes, const ByteUnit& unit) {
  return fmt::format("{:.{}f}", static_cast<double>(bytes) / unit.bytes, unit.decimals);
}

std::string signed_in_unit(std::int64_t bytes, const ByteUnit& unit) {
  return with_sign(static_cast<double>(bytes) / unit.bytes, unit.decimals);
}

std::string change(double ratio) {
  const double points = (ratio - 1) * 100;
  return with_sign(points, std::fabs(points) < 9.95 ? 1 : 0) + " %";
}

std::string percent(double share) {
  const double points = share * 100;
  return fmt::format("{:.{}f} %", points, std::fabs(points) < 9.95 ? 1 : 0);
}

std::string change_with_bound(const lab::Ratio& ratio) {
  return change(ratio.ratio) + " (≥ " + (ratio.lower ? change(*ratio.lower) : "?") + ")";
}

std::string saving_with_bound(const lab::Saved& saved, const ByteUnit& unit) {
  return signed_in_unit(-saved.value, unit) + " (≤ " +
         (saved.lower ? signed_in_unit(-*saved.lower, unit) : "?") + ")";
}

std::string speed(double tokens_per_second) {
  const int decimals = tokens_per_second >= 99.95 ? 0 : tokens_per_second >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", tokens_per_second, decimals);
}

std::string minutes(double count) {
  if (count > 120) return fmt::format("{:.0f} h", std::ceil(count / 60));
  if (count >= 1) return fmt::format("{:.0f} min", std::ceil(count));
  return fmt::format("{:.1f} min", std::ceil(count * 10) / 10);
}

std::string thousands(std::int64_t count) {
  const double value = static_cast<double>(count) / 1000;
  return value < 9.95 ? fmt::format("{:.1f}", value) : with_commas(std::llround(value));
}

std::string verdict_text(const lab::ArmResult& arm) {
  if (arm.is_baseline) return "baseline";
  std::string text = lab::verdict_name(arm.verdict);
  if (arm.reason.empty()) return text;
  std::string reason = arm.reason;
  for (char& letter : reason)
    if (letter == '_') letter = ' ';
  return text + ": " + reason;
}

std::string backend_and_library(const lab::Environment& environment) {
  const std::size_t space = environment.library.rfind(' ');
  const std::string name = environment.library.substr(0, space);
  if (space != std::string::npos && environment.backend.rfind(name, 0) == 0)
    return environment.backend + environment.library.substr(space);
  return environment.backend + ", " + environment.library;
}

std::string cores(const lab::Environment& environment) {
  if (environment.cpus.empty())
    return fmt::format("{} thread{}", environment.threads, environment.threads == 1 ? "" : "s");
  return fmt::format("{} core{}", environment.cpus.size(), environment.cpus.size() == 1 ? "" : "s");
}

}  // namespace weir::report
