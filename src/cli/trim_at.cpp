#include "cli/trim_at.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace weir::cli {
namespace {

constexpr std::uint64_t kDefaultIdleMs = 30'000;
constexpr std::uint64_t kMostSeconds = 1'000'000;
constexpr std::uint64_t kMsPerSecond = 1'000;
constexpr std::string_view kIdle = "idle=";

struct Word {
  std::string_view name;
  std::uint32_t bit;
};
constexpr Word kWords[] = {
    {"request", wire::kTrimAtRequest}, {"phase", wire::kTrimAtPhase}, {"pressure", wire::kTrimAtPressure}};

tl::unexpected<Error> refuse(std::string_view word, const char* why) {
  return fail(ErrorKind::kUsage, "--trim-at",
              fmt::format("\"{}\" {}; for example: --trim-at idle=30,pressure, --trim-at request, "
                          "--trim-at none",
                          word, why));
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// "30", "2.5", "0.001".
std::optional<std::uint64_t> milliseconds(std::string_view seconds) {
  const std::size_t point = seconds.find('.');
  const auto whole = whole_number(seconds.substr(0, point));
  if (!whole || *whole > kMostSeconds) return std::nullopt;
  std::uint64_t thousandths = 0;
  if (point != std::string_view::npos) {
    std::string digits(seconds.substr(point + 1));
    if (digits.empty() || digits.size() > 3) return std::nullopt;
    digits.resize(3, '0');
    const auto part = whole_number(digits);
    if (!part) return std::nullopt;
    thousandths = *part;
  }
  const std::uint64_t all = *whole * kMsPerSecond + thousandths;
  return all == 0 || all > kMostSeconds * kMsPerSecond ? std::nullopt : std::optional(all);
}

Result<void> add_word(std::string_view word, Boundaries& into) {
  if (word.starts_with(kIdle)) {
    if (into.idle_ms != 0) return refuse(word, "stands twice");
    const auto idle = milliseconds(word.substr(kIdle.size()));
    if (!idle) return refuse(word, "wants seconds above 0 and up to 1,000,000");
    into.idle_ms = *idle;
    return {};
  }
  for (const Word& known : kWords) {
    if (word != known.name) continue;
    if ((into.trim_at & known.bit) != 0) return refuse(word, "stands twice");
    into.trim_at |= known.bit;
    return {};
  }
  return refuse(word, "is no boundary");
}

Result<Boundaries> parse(std::string_view list) {
  Boundaries boundaries;
  if (list == "none") return boundaries;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    if (auto added = add_word(list.substr(at, end - at), boundaries); !added)
      return tl::unexpected(std::move(added.error()));
    at = end + 1;
  }
  return boundaries;
}

}  // namespace

Result<Boundaries> boundaries_of(const std::optional<std::string>& list, wire::Allocator allocator) {
  if (!list) {
    if (allocator != wire::Allocator::kWeir) return Boundaries();
    return Boundaries{wire::kTrimAtPressure, kDefaultIdleMs};
  }
  auto boundaries = parse(*list);
  if (boundaries && allocator == wire::Allocator::kMlx && *boundaries != Boundaries())
    return refuse(*list,
                  "cannot be kept with --allocator mlx, where only the program itself may trim: use "
                  "--allocator weir (or mlx-policy), or none");
  return boundaries;
}

std::string boundaries_text(const Boundaries& boundaries) {
  std::string text;
  const auto add = [&](std::string_view word) { text.append(text.empty() ? "" : ",").append(word); };
  for (const Word& word : kWords)
    if (word.bit != wire::kTrimAtPressure && (boundaries.trim_at & word.bit) != 0) add(word.name);
  if (boundaries.idle_ms != 0) {
    const std::uint64_t part = boundaries.idle_ms % kMsPerSecond;
    std::string seconds = std::to_string(boundaries.idle_ms / kMsPerSecond);
    if (part != 0) seconds += fmt::format(".{:03}", part);
    while (part != 0 && seconds.back() == '0')
      seconds.pop_back();
    add("idle=" + seconds);
  }
  if ((boundaries.trim_at & wire::kTrimAtPressure) != 0) add("pressure");
  return text.empty() ? "none" : text;
}

}  // namespace weir::cli
