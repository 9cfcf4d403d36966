#include "price/arms.h"

#include <algorithm>
#include <string_view>

#include "base/byte_text.h"
#include "limits/size.h"

namespace weir::price {

namespace {

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t comma = text.find(',', at);
    parts.push_back(text.substr(at, comma == std::string_view::npos ? comma : comma - at));
    if (comma == std::string_view::npos) return parts;
    at = comma + 1;
  }
}

Result<std::int64_t> denominator_of(const limits::Percentage& percentage,
                                    const limits::Denominators& denominators, const std::string& where) {
  const auto& ask = percentage.of == "free"    ? denominators.free
                    : percentage.of == "total" ? denominators.total
                                               : denominators.model;
  if (!ask)
    return fail(ErrorKind::kUsage, where,
                "nothing here knows what '" + percentage.of + "' is: write bytes, such as 64MiB");
  return ask();
}

Result<lab::ArmLimit> parse_limit(std::string_view text, const limits::Denominators& denominators,
                                  const std::string& where) {
  const Result<limits::Size> size = limits::parse_size(text, limits::Knob::kCacheLimit, where);
  if (!size) return tl::unexpected(size.error());
  if (size->mode == limits::Mode::kUnset) return lab::ArmLimit::unset();
  if (size->mode == limits::Mode::kUnlimited) return lab::ArmLimit::unlimited();
  if (size->mode == limits::Mode::kAuto) {
    return fail(ErrorKind::kUsage, where,
                "'auto' is what pricing decides and no value to price: name sizes, such as unset,64MiB,0");
  }
  if (size->bytes) return lab::ArmLimit::of(*size->bytes);
  const Result<std::int64_t> whole = denominator_of(*size->percentage, denominators, where);
  if (!whole) return tl::unexpected(whole.error());
  const std::optional<std::int64_t> bytes = limits::bytes_of(*size->percentage, *whole);
  if (!bytes)
    return fail(ErrorKind::kUsage, where, "more bytes than a size can hold: " + limits::shown(text));
  return lab::ArmLimit::of(*bytes);
}

constexpr const char* kExample = "such as weir,mlx-policy:64MiB,mlx:0";

/// ALLOCATOR[:SIZE].
Result<lab::Arm> parse_arm(std::string_view text, const limits::Denominators& denominators,
                           const std::string& where) {
  if (text.empty())
    return fail(ErrorKind::kUsage, where,
                std::string("an arm is empty; write ALLOCATOR[:SIZE], ") + kExample);
  const std::size_t colon = text.find(':');
  const auto allocator = lab::allocator_from_name(text.substr(0, colon));
  if (!allocator)
    return fail(ErrorKind::kUsage, where,
                "no allocator is named " + limits::shown(text.substr(0, colon)) +
                    ": write mlx, mlx-policy or weir, " + kExample);
  if (colon == std::string_view::npos) return lab::make_arm(*allocator, lab::ArmLimit::unset());
  const Result<lab::ArmLimit> limit = parse_limit(text.substr(colon + 1), denominators, where);
  if (!limit) return tl::unexpected(limit.error());
  return lab::make_arm(*allocator, *limit);
}

Result<lab::Arm> parse_baseline(const std::string& text, lab::Allocator family,
                                const limits::Denominators& denominators) {
  if (text.find(':') != std::string::npos || lab::allocator_from_name(text))
    return parse_arm(text, denominators, "--baseline");
  const Result<lab::ArmLimit> limit = parse_limit(text, denominators, "--baseline");
  if (!limit) return tl::unexpected(limit.error());
  return lab::make_arm(family, *limit);
}

Result<std::vector<lab::Arm>> parse_list(const ArmWords& words, const limits::Denominators& denominators) {
  std::vector<lab::Arm> arms;
  const std::string where = words.arms ? "--arms" : "--limits";
  const std::string list = words.arms ? *words.arms : words.limits.value_or("unset,64MiB,0");
  const auto on_mlx = [](const lab::ArmLimit& limit) { return lab::make_arm(limit); };
  for (const std::string_view text : split(list)) {
    Result<lab::Arm> arm = words.arms ? parse_arm(text, denominators, where)
                                      : parse_limit(text, denominators, where).map(on_mlx);
    if (!arm) return tl::unexpected(arm.error());
    for (const lab::Arm& other : arms) {
      if (!lab::same_setting(other, *arm)) continue;
      return fail(ErrorKind::kUsage, where,
                  "two arms of one value, which nothing can tell apart: " + other.name + " and " + arm->name +
                      "; leave one out, " + (words.arms ? kExample : "such as unset,64MiB,0"));
    }
    arms.push_back(std::move(*arm));
  }
  return arms;
}

/// What a size alone, or no word at all, means as a baseline.
lab::Allocator family_of(const ArmWords& words, const std::vector<lab::Arm>& arms) {
  return words.arms && lab::is_pool(arms.front().allocator) ? lab::Allocator::kMlxPolicy
                                                            : lab::Allocator::kMlx;
}

}  // namespace

Result<ChosenArms> chosen_arms(const ArmWords& words, const limits::Denominators& denominators) {
  if (words.limits && words.arms)
    return fail(ErrorKind::kUsage, "--limits", "stands beside --arms: name the arms by one of them");
  Result<std::vector<lab::Arm>> arms = parse_list(words, denominators);
  if (!arms) return tl::unexpected(arms.error());
  const Result<lab::Arm> baseline =
      parse_baseline(words.baseline.value_or("unlimited"), family_of(words, *arms), denominators);
  if (!baseline) return tl::unexpected(baseline.error());
  const auto same = [&](const lab::Arm& arm) { return lab::same_setting(arm, *baseline); };
  const auto found = std::find_if(arms->begin(), arms->end(), same);
  if (words.arms && found != arms->end() && found->name != baseline->name)
    return fail(ErrorKind::kUsage, "--arms",
                "the arm " + found->name + " is the baseline " + baseline->name +
                    " in other words; name another, " + kExample);
  const std::string name = found != arms->end() ? found->name : baseline->name;
  if (found == arms->end()) arms->insert(arms->begin(), *baseline);
  if (arms->size() < 2) {
    return fail(ErrorKind::kUsage, words.arms ? "--arms" : "--limits",
                "nothing to compare with the baseline " + name + ": name another " +
                    (words.arms ? std::string("arm, ") + kExample : "limit, such as 64MiB"));
  }
  return ChosenArms{std::move(*arms), name};
}

}  // namespace weir::price
