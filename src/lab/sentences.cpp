#include "lab/sentences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "lab/noise.h"
#include "lab/samples.h"
#include "stats/holm.h"
#include "stats/sizing.h"
#include "stats/summary.h"

namespace weir::lab {

namespace {

constexpr std::array<std::pair<const char*, const char*>, 2> kMetrics{
    {{kDecode, "decode"}, {kPrefill, "prefill"}}};

const Ratio* find(const ArmResult& arm, const char* metric) {
  const auto it = arm.change.find(metric);
  return it == arm.change.end() ? nullptr : &it->second;
}

/// "at most 0.9 %" or "nothing".
std::string loss_bound(const Ratio& ratio) {
  if (!ratio.lower) return "an unknown amount";
  return *ratio.lower >= 1 ? "nothing" : "at most " + percent(1 - *ratio.lower);
}

std::string ship_sentence(const ArmResult& arm) {
  const Ratio* decode = find(arm, kDecode);
  const Ratio* prefill = find(arm, kPrefill);
  const bool slower = decode->ratio < 1 || prefill->ratio < 1;
  const bool decode_worse = decode->ratio <= prefill->ratio;
  const Ratio* worse = decode_worse ? decode : prefill;
  const std::string how = slower ? fmt::format("is slower by {} ({})", percent(1 - worse->ratio),
                                               decode_worse ? "decode" : "prefill")
                                 : "is no slower";
  return fmt::format("{} keeps {} less and {}: decode loses {}, prefill {}.", arm.name,
                     short_bytes(arm.saved_bytes->value), how, loss_bound(*decode), loss_bound(*prefill));
}

std::string cost_sentence(const Rule& rule, const ArmResult& arm) {
  std::string out;
  for (const auto& [metric, name] : kMetrics) {
    const Ratio* ratio = find(arm, metric);
    if (ratio == nullptr || !ratio->upper || *ratio->upper >= 1 - rule.margin) continue;
    out += fmt::format("{}{} of {} (at least {})", out.empty() ? "" : " and ", percent(1 - ratio->ratio),
                       name, percent(1 - *ratio->upper));
  }
  return fmt::format("{} costs {}: more than the {} that the rule allows.", arm.name, out,
                     percent(rule.margin));
}

std::string no_saving_sentence(const Rule& rule, const ArmResult& arm) {
  return fmt::format("{} saves {}, at most {}: less than the {} that the rule asks for.", arm.name,
                     short_bytes(arm.saved_bytes->value), short_bytes(arm.saved_bytes->upper.value_or(0)),
                     short_bytes(*rule.saving_bytes));
}

/// Starts beyond those run that would decide a metric if its mean and spread stay; nullopt: no practical
/// number.
std::optional<int> more_starts(const Plan& plan, const std::vector<double>& d) {
  const auto summary = stats::summarize(d);
  const double distance = summary.mean - std::log1p(-plan.question.rule.margin);
  const double closing = look_level(plan) / stats::hypotheses(treatments(plan.question)).close;
  const auto needed =
      starts_for_effect(summary.sd, std::abs(distance), distance > 0 ? smallest_ship_level(plan) : closing);
  if (!needed) return std::nullopt;
  return std::max(1, *needed - static_cast<int>(summary.n));
}

/// How long a plan must run here that sees the margin, whatever this one has seen; "" where nothing is known.
std::string margin_effort(const Plan& plan, const Records& records) {
  std::optional<double> minutes;
  for (const auto& floor : noise_floors(plan, records)) {
    if (!floor.minutes_for_margin) return "";
    minutes = std::max(minutes.value_or(0), std::ceil(*floor.minutes_for_margin));
  }
  if (!minutes) return "";
  return fmt::format("fresh processes differ so much that {} takes about {:.0f} min here",
                     percent(plan.question.rule.margin), *minutes);
}

std::string effort(const Plan& plan, const Records& records, std::optional<int> starts) {
  const bool between = design_of(plan.question) == Design::kBetween;
  if (!starts) {
    const std::string margin = between ? margin_effort(plan, records) : "";
    return margin.empty() ? "no practical number of starts would tell" : margin;
  }
  const double minutes = *starts * seconds_per_start(plan, records) / 60;
  const std::string what =
      between ? fmt::format("block{} of {} starts", *starts == 1 ? "" : "s", records_per_start(plan))
              : fmt::format("start{}", *starts == 1 ? "" : "s");
  return fmt::format("about {} more {} ({:.0f} min)", *starts, what, std::max(1.0, minutes));
}

std::string undecided_sentence(const Plan& plan, const Records& records, const Rule& rule,
                               const ArmResult& arm) {
  std::string parts;
  std::optional<int> needed = 0;
  const auto& arms = plan.question.arms;
  const auto index = std::find_if(arms.begin(), arms.end(), [&](const Arm& a) { return a.name == arm.name; });
  const auto samples =
      collect(plan, records, plan.sizes.starts).arms[static_cast<std::size_t>(index - arms.begin())];
  for (const auto& [metric, name] : kMetrics) {
    const Ratio* ratio = find(arm, metric);
    if (ratio == nullptr || (ratio->lower && *ratio->lower > 1 - rule.margin)) continue;
    parts += parts.empty() ? "" : ", ";
    if (ratio->lower && ratio->upper)
      parts += fmt::format("{} could be between {} and {}", name, change_percent(*ratio->lower),
                           change_percent(*ratio->upper));
    else
      parts += fmt::format("{} has too few starts for a bound ({} seen)", name, change_percent(ratio->ratio));
    const auto more = more_starts(plan, metric == kMetrics[0].first ? samples.decode : samples.prefill);
    needed = needed && more ? std::optional(std::max(*needed, *more)) : std::nullopt;
  }
  const auto& saved = arm.saved_bytes;
  if (saved && !(saved->lower && *saved->lower > *rule.saving_bytes)) {
    parts += parts.empty() ? "" : ", ";
    parts +=
        saved->lower && saved->upper
            ? fmt::format("the saving could be between {} and {} ({} asked for)", short_bytes(*saved->lower),
                          short_bytes(*saved->upper), short_bytes(*rule.saving_bytes))
            : "the saving has too few starts for a bound";
  }
  if (parts.empty()) parts = "too little was measured";
  const std::string more = needed == 0 ? "" : "; " + effort(plan, records, needed);
  return fmt::format("{}: cannot tell: {}{}.", arm.name, parts, more);
}

std::string screen_sentence(const ArmResult& arm) {
  std::string out = arm.name + ": a screen, never a verdict";
  const Ratio* decode = find(arm, kDecode);
  const Ratio* prefill = find(arm, kPrefill);
  if (decode != nullptr && prefill != nullptr)
    out += fmt::format(" (n = {}): decode {}, prefill {}", decode->n, change_percent(decode->ratio),
                       change_percent(prefill->ratio));
  if (arm.saved_bytes) out += ", keeps " + short_bytes(arm.saved_bytes->value) + " less";
  return out + ".";
}

std::string void_sentence(const std::vector<CheckFinding>& findings, const ArmResult& arm) {
  for (const auto& finding : findings) {
    if (finding.arm != arm.name || finding.id != arm.reason || !finding.is_void) continue;
    const std::string what = finding.what + ".";
    if (arm.reason == "not_reached") return arm.name + " is void: " + what;
    if (arm.reason == "knob") return arm.name + " is void, the limit did not take hold: " + what;
    if (arm.reason == "work") return arm.name + " is void, its work differed: " + what;
    if (arm.reason == "indistinguishable")
      return arm.name + " is void, nothing tells it from the baseline: " + what;
    return arm.name + " is void: " + what;
  }
  return arm.name + " is void.";
}

}  // namespace

std::string percent(double share) {
  const std::string text = fmt::format("{:.1f}", std::abs(share) * 100);
  return (text.size() > 2 && text.substr(text.size() - 2) == ".0" ? text.substr(0, text.size() - 2) : text) +
         " %";
}

std::string change_percent(double ratio) {
  return fmt::format("{}{:.1f} %", ratio < 1 ? "−" : "+", std::abs(ratio - 1) * 100);
}

std::string rule_text(const Rule& rule) {
  if (rule.saving_bytes)
    return fmt::format("lose ≤ {}, save > {}", percent(rule.margin), short_bytes(*rule.saving_bytes));
  return fmt::format("lose ≤ {}, save > {} and > {} of the baseline", percent(rule.margin),
                     short_bytes(rule.saving_floor_bytes), percent(rule.saving_share));
}

std::string arm_sentence(const Plan& plan, const Records& records, const Rule& rule,
                         const std::vector<CheckFinding>& findings, const ArmResult& arm) {
  if (arm.verdict == Verdict::kVoid) return void_sentence(findings, arm);
  if (arm.verdict == Verdict::kShip) return ship_sentence(arm);
  if (arm.verdict == Verdict::kClose)
    return arm.reason == "cost" ? cost_sentence(rule, arm) : no_saving_sentence(rule, arm);
  if (arm.reason == "screen") return screen_sentence(arm);
  if (arm.reason == "interrupted")
    return arm.name + ": stopped before the plan was done, so no verdict; the same command goes on.";
  return undecided_sentence(plan, records, rule, arm);
}

}  // namespace weir::lab
