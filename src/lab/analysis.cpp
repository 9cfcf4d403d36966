#include "lab/analysis.h"

#include <algorithm>
#include <cmath>

#include "lab/checks.h"
#include "lab/noise.h"
#include "lab/probe.h"
#include "lab/samples.h"
#include "lab/sentences.h"
#include "lab/sizing.h"
#include "lab/verdict.h"
#include "stats/sizing.h"
#include "stats/summary.h"

namespace weir::lab {

namespace {

int failures_of(const Records& records, bool footprint, int index) {
  for (const auto& failure : records.failures)
    if (failure.footprint == footprint && failure.index == index)
      return static_cast<int>(failure.messages.size());
  return 0;
}

bool footprints_done(const Plan& plan, const Records& records) {
  const int all = static_cast<int>(plan.question.arms.size()) * plan.sizes.footprint_starts_per_arm;
  for (int index = 0; index < all; ++index) {
    const bool present = std::any_of(records.footprints.begin(), records.footprints.end(),
                                     [&](const auto& record) { return record.index == index; });
    if (!present && failures_of(records, true, index) < kAttempts) return false;
  }
  return true;
}

int settled_starts(const Plan& plan, const Records& records) {
  int start = 0;
  for (; start < plan.sizes.starts; ++start) {
    const auto blocks = std::count_if(records.blocks.begin(), records.blocks.end(),
                                      [&](const auto& block) { return block.start == start; });
    if (blocks < records_per_start(plan) && failures_of(records, false, start) < kAttempts) break;
  }
  return start;
}

std::vector<int> look_sizes(const Plan& plan) {
  if (plan.sizes.looks != 3) return {plan.sizes.starts};
  const auto looks = stats::pocock_looks(plan.sizes.starts);
  return {looks.begin(), looks.end()};
}

std::vector<bool> void_arms(const Plan& plan, const std::vector<CheckFinding>& findings) {
  std::vector<bool> out(plan.question.arms.size(), false);
  for (const auto& finding : findings)
    for (std::size_t arm = 0; arm < out.size(); ++arm)
      if (finding.is_void && finding.arm == plan.question.arms[arm].name) out[arm] = true;
  return out;
}

Rule filled_rule(const Plan& plan, const Records& records) {
  Rule rule = plan.question.rule;
  std::vector<double> footprints;
  for (const auto& record : footprints_of(records, baseline_index(plan.question)))
    footprints.push_back(static_cast<double>(record.footprint_peak_high_bytes));
  const double footprint = footprints.empty() ? static_cast<double>(plan.probe.footprint_peak_bytes)
                                              : stats::summarize(footprints).mean;
  rule.saving_bytes = saving_asked(rule, footprint);
  rule.text = rule_text(rule);
  return rule;
}

/// What the looks that are due have decided.
struct Looked {
  std::vector<Decision> decisions;
  int looks_done = 0;
  bool all_decided = false;
};

Looked look(const Plan& plan, const Records& records, const Rule& rule, const std::vector<bool>& is_void) {
  const int baseline = baseline_index(plan.question);
  const int settled = settled_starts(plan, records);
  Looked out;
  std::vector<bool> kept(is_void.size(), false);
  const auto judge = [&](int starts) {
    const auto fresh = decide(rule, look_level(plan), smallest_ship_level(plan),
                              collect(plan, records, starts).arms, is_void, baseline);
    if (out.decisions.empty()) out.decisions = fresh;
    for (std::size_t arm = 0; arm < fresh.size(); ++arm)
      if (!kept[arm]) out.decisions[arm] = fresh[arm];
  };
  for (const int starts : look_sizes(plan)) {
    if (starts > settled) break;
    judge(starts);
    ++out.looks_done;
    out.all_decided = true;
    for (std::size_t arm = 0; arm < kept.size(); ++arm) {
      kept[arm] = kept[arm] || out.decisions[arm].verdict != Verdict::kInconclusive;
      if (!kept[arm] && !is_void[arm] && static_cast<int>(arm) != baseline) out.all_decided = false;
    }
    if (out.all_decided) break;
  }
  if (out.looks_done == 0) judge(plan.sizes.starts);
  return out;
}

bool all_void(const std::vector<bool>& is_void, int baseline) {
  for (std::size_t arm = 0; arm < is_void.size(); ++arm)
    if (!is_void[arm] && static_cast<int>(arm) != baseline) return false;
  return true;
}

std::optional<std::int64_t> mean_of(const std::vector<FootprintRecord>& records,
                                    std::int64_t FootprintRecord::*field) {
  std::vector<double> values;
  for (const auto& record : records)
    values.push_back(static_cast<double>(record.*field));
  if (values.empty()) return std::nullopt;
  return std::llround(stats::summarize(values).mean);
}

Measured measured_of(const Records& records, int arm) {
  const auto footprints = footprints_of(records, arm);
  Measured out;
  out.footprint_peak_bytes = mean_of(footprints, &FootprintRecord::footprint_peak_high_bytes);
  out.footprint_peak_low_bytes = mean_of(footprints, &FootprintRecord::footprint_peak_low_bytes);
  out.live_peak_bytes = mean_of(footprints, &FootprintRecord::live_peak_bytes);
  out.retained_peak_bytes = mean_of(footprints, &FootprintRecord::retained_peak_bytes);
  out.page_faults = mean_of(footprints, &FootprintRecord::page_faults);
  TurnRecord all;
  for (const auto& block : records.blocks)
    for (const auto& turn : block.turns)
      if (turn.arm == arm)
        all.measured.insert(all.measured.end(), turn.measured.begin(), turn.measured.end());
  if (all.measured.empty()) return out;
  out.prefill_tokens_per_second = prefill_rate(all);
  out.decode_tokens_per_second = decode_rate(all);
  return out;
}

std::optional<std::int64_t> in_force_of(const Plan& plan, const Records& records, int arm) {
  for (const auto& record : records.footprints)
    if (record.arm == arm) return record.in_force_bytes;
  for (const auto& block : records.blocks)
    for (const auto& turn : block.turns)
      if (turn.arm == arm) return turn.in_force_bytes;
  return effective_bytes(plan.question.arms[static_cast<std::size_t>(arm)]);
}

void set_changes(const Decision& decision, const Measured& baseline, ArmResult& arm) {
  if (decision.decode.n > 0) arm.change[kDecode] = decision.decode;
  if (decision.prefill.n > 0) arm.change[kPrefill] = decision.prefill;
  if (decision.saved.n > 0) arm.saved_bytes = decision.saved;
  if (arm.measured.page_faults && baseline.page_faults && *baseline.page_faults > 0) {
    Ratio faults;
    faults.ratio =
        static_cast<double>(*arm.measured.page_faults) / static_cast<double>(*baseline.page_faults);
    faults.n = decision.saved.n;
    arm.change[kPageFaults] = faults;
  }
}

/// Verdict and reason of an arm, before its sentence.
void set_verdict(const Plan& plan, const Decision& decision, const std::vector<CheckFinding>& findings,
                 bool finished, ArmResult& arm) {
  for (const auto& finding : findings) {
    if (!finding.is_void || finding.arm != arm.name) continue;
    arm.verdict = Verdict::kVoid;
    arm.reason = finding.id;
    return;
  }
  arm.verdict = Verdict::kInconclusive;
  arm.reason = finished ? "screen" : "interrupted";
  if (!finished || plan.question.budget == Budget::kQuick) return;
  arm.verdict = decision.verdict;
  arm.reason = decision.reason;
}

void recommend(ExperimentResult& result) {
  const ArmResult* best = nullptr;
  for (const auto& arm : result.cells[0].arms) {
    if (arm.is_baseline || arm.verdict != Verdict::kShip || !arm.saved_bytes) continue;
    if (best == nullptr || arm.saved_bytes->lower > best->saved_bytes->lower) best = &arm;
  }
  if (best != nullptr) {
    result.recommended = best->name;
    result.verdict = Verdict::kShip;
    result.sentence = best->sentence;
    return;
  }
  for (const auto verdict : {Verdict::kVoid, Verdict::kClose, Verdict::kInconclusive})
    for (const auto& arm : result.cells[0].arms) {
      if (arm.is_baseline || arm.verdict != verdict) continue;
      result.verdict = verdict;
      result.sentence = arm.sentence;
      return;
    }
}

void set_head(const Plan& plan, const Records& records, const Standing& where, ExperimentResult& out) {
  const auto& q = plan.question;
  const auto count = count_pairs(plan, records);
  out.seal = seal(plan);
  out.sealed_at = plan.sealed_at;
  out.baseline = q.baseline;
  out.design = design_of(q);
  out.quick = q.budget == Budget::kQuick;
  out.complete = where.finished;
  out.pairs = count.pairs;
  out.void_pairs = count.void_pairs;
  out.starts = where.settled_starts;
  out.starts_planned = plan.sizes.starts;
  out.blocks_per_start = plan.sizes.blocks_per_start;
  out.looks = plan.sizes.looks;
  out.looks_done = where.looks_done;
  out.elapsed_seconds = measured_seconds(records);
  out.environment = {q.model, q.model_sha256, q.model_bytes, q.backend, q.library,
                     q.blas,  q.machine,      q.weir_sha256, q.threads, q.cpus};
}

CellResult cell_head(const Plan& plan, const Cell& cell) {
  CellResult out;
  out.name = cell.name;
  out.footprint_prompts = plan.sizes.footprint_prompts;
  out.footprint_prompts_of = static_cast<int>(cell.footprint.size());
  for (int i = 0; i < std::min(out.footprint_prompts, out.footprint_prompts_of); ++i) {
    const int tokens = cell.footprint[static_cast<std::size_t>(i)].prompt_tokens;
    out.shortest_prompt_tokens = i == 0 ? tokens : std::min(out.shortest_prompt_tokens, tokens);
    out.longest_prompt_tokens = std::max(out.longest_prompt_tokens, tokens);
  }
  return out;
}

/// Was a screen cut short, with work of its plan left?
bool ended_by_time(const Plan& plan, const Records& records, const Standing& where) {
  return out_of_time(plan, records) && (!where.footprints_done || where.settled_starts < plan.sizes.starts);
}

CheckFinding time_warning(const Plan& plan, const Standing& where) {
  const char* what = design_of(plan.question) == Design::kBetween ? " blocks of starts" : " starts";
  return {"time", "", false,
          "the screen's time was up after " + std::to_string(where.settled_starts) + " of " +
              std::to_string(plan.sizes.starts) + what +
              ": this is what it has seen until then; a plan with more minutes (--decide) sees more"};
}

}  // namespace

Standing standing(const Plan& plan, const Records& records) {
  Standing out;
  out.footprints_done = footprints_done(plan, records);
  out.settled_starts = settled_starts(plan, records);
  out.finished = out_of_time(plan, records);
  if (!out.footprints_done) return out;
  const auto is_void = void_arms(plan, run_checks(plan, records, true));
  const auto looked = look(plan, records, filled_rule(plan, records), is_void);
  out.looks_done = looked.looks_done;
  out.finished = out.finished || all_void(is_void, baseline_index(plan.question)) ||
                 out.settled_starts == plan.sizes.starts || (looked.looks_done > 0 && looked.all_decided);
  return out;
}

ExperimentResult analyse(const Plan& plan, const Cell& cell, const Records& records) {
  const Standing where = standing(plan, records);
  ExperimentResult out;
  set_head(plan, records, where, out);
  out.rule = filled_rule(plan, records);
  auto findings = run_checks(plan, records, where.footprints_done);
  const auto looked = look(plan, records, out.rule, void_arms(plan, findings));
  const int baseline = baseline_index(plan.question);
  const Measured base = measured_of(records, baseline);
  CellResult result = cell_head(plan, cell);
  result.noise = noise_floors(plan, records);
  for (int i = 0; i < static_cast<int>(plan.question.arms.size()); ++i) {
    const Arm& asked = plan.question.arms[static_cast<std::size_t>(i)];
    ArmResult arm;
    arm.name = asked.name;
    arm.allocator = asked.allocator;
    arm.cache_limit = asked.cache_limit;
    arm.cache_limit_bytes = in_force_of(plan, records, i);
    arm.is_baseline = i == baseline;
    arm.measured = measured_of(records, i);
    if (!arm.is_baseline) {
      const Decision& decision = looked.decisions[static_cast<std::size_t>(i)];
      arm.reached = reach_of(plan, records, i).reached;
      set_changes(decision, base, arm);
      set_verdict(plan, decision, findings, where.finished, arm);
      arm.sentence = arm_sentence(plan, records, out.rule, findings, arm);
    }
    result.arms.push_back(std::move(arm));
  }
  if (ended_by_time(plan, records, where)) findings.push_back(time_warning(plan, where));
  if (where.finished && !records.blocks.empty()) {
    auto warnings = order_warnings(plan, records);
    for (auto& idle : idle_limits(plan, records))
      warnings.push_back(std::move(idle));
    findings.insert(findings.end(), warnings.begin(), warnings.end());
  }
  result.checks_failed = std::move(findings);
  out.cells.push_back(std::move(result));
  recommend(out);
  return out;
}

}  // namespace weir::lab
