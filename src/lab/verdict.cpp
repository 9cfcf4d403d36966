#include "lab/verdict.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "stats/holm.h"
#include "stats/one_sided.h"
#include "stats/sizing.h"
#include "stats/student_t.h"
#include "stats/summary.h"

namespace weir::lab {

namespace {

enum Reason { kDecodeCost, kPrefillCost, kNoSaving, kReasons };

Ratio ratio_of(const std::vector<double>& d, double log_margin, double smallest_level) {
  Ratio out;
  const auto summary = stats::summarize(d);
  out.n = static_cast<int>(summary.n);
  out.ratio = std::exp(summary.mean);
  if (out.n < 2) return out;
  out.p_not_worse = stats::p_above(d, log_margin);
  out.p_worse = stats::p_below(d, log_margin);
  if (const auto effect = stats::minimum_detectable_effect(summary.sd, out.n, smallest_level))
    out.mde = 1 - std::exp(-*effect);
  return out;
}

Saved saved_of(const ArmSamples& s, double saving) {
  Saved out;
  out.n = static_cast<int>(s.saved_mid.size());
  out.value = std::llround(stats::summarize(s.saved_mid).mean);
  if (out.n < 2) return out;
  out.p_saved = stats::t_p_above(s.saved_low, saving);
  out.p_not_saved = stats::t_p_below(s.saved_high, saving);
  return out;
}

void set_bounds(const std::vector<double>& d, double ship_level, double close_level, Ratio& out) {
  if (const auto lower = stats::lower_bound(d, ship_level)) out.lower = std::exp(lower->value);
  if (const auto upper = stats::upper_bound(d, close_level)) out.upper = std::exp(upper->value);
}

void set_bounds(const ArmSamples& s, double ship_level, double close_level, Saved& out) {
  if (const auto lower = stats::t_lower_bound(s.saved_low, ship_level)) out.lower = std::llround(*lower);
  if (const auto upper = stats::t_upper_bound(s.saved_high, close_level)) out.upper = std::llround(*upper);
}

double largest_part(const Decision& d) {
  return std::max(
      {d.decode.p_not_worse.value_or(1), d.prefill.p_not_worse.value_or(1), d.saved.p_saved.value_or(1)});
}

}  // namespace

std::vector<Decision> decide(const Rule& rule, double level, double smallest_level,
                             const std::vector<ArmSamples>& samples, const std::vector<bool>& is_void,
                             int baseline) {
  WEIR_CHECK(rule.saving_bytes.has_value());
  const double log_margin = std::log1p(-rule.margin);
  const double saving = static_cast<double>(*rule.saving_bytes);
  std::vector<Decision> out(samples.size());
  std::vector<double> ship, close;
  std::vector<std::size_t> order;
  for (std::size_t arm = 0; arm < samples.size(); ++arm) {
    if (static_cast<int>(arm) == baseline) continue;
    auto& d = out[arm];
    d.decode = ratio_of(samples[arm].decode, log_margin, smallest_level);
    d.prefill = ratio_of(samples[arm].prefill, log_margin, smallest_level);
    d.saved = saved_of(samples[arm], saving);
    order.push_back(arm);
    ship.push_back(is_void[arm] ? 1 : largest_part(d));
    for (const double p :
         {d.decode.p_worse.value_or(1), d.prefill.p_worse.value_or(1), d.saved.p_not_saved.value_or(1)})
      close.push_back(is_void[arm] ? 1 : p);
  }
  const auto ship_steps = stats::holm(ship, level);
  const auto close_steps = stats::holm(close, level);
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto& d = out[order[i]];
    const auto* reasons = &close_steps[i * kReasons];
    set_bounds(samples[order[i]].decode, ship_steps[i].level, reasons[kDecodeCost].level, d.decode);
    set_bounds(samples[order[i]].prefill, ship_steps[i].level, reasons[kPrefillCost].level, d.prefill);
    set_bounds(samples[order[i]], ship_steps[i].level, reasons[kNoSaving].level, d.saved);
    d.reason = "undecided";
    if (ship_steps[i].rejected) {
      d.verdict = Verdict::kShip;
      d.reason = "";
    } else if (reasons[kDecodeCost].rejected || reasons[kPrefillCost].rejected) {
      d.verdict = Verdict::kClose;
      d.reason = "cost";
    } else if (reasons[kNoSaving].rejected) {
      d.verdict = Verdict::kClose;
      d.reason = "no_saving";
    }
  }
  return out;
}

}  // namespace weir::lab
