#include "report/golden_result.h"

namespace weir::report {

namespace {

lab::ArmResult arm(const lab::ArmLimit& limit, std::int64_t footprint, std::int64_t retained,
                   std::int64_t faults) {
  lab::ArmResult result;
  result.name = lab::limit_name(limit);
  result.cache_limit = limit;
  result.cache_limit_bytes = lab::effective_bytes(limit);
  result.measured = {footprint, footprint - 3'000'000, 808'000'000, retained, faults, 152.3, 10.23};
  return result;
}

void set_changes(lab::ArmResult& result, const lab::Ratio& prefill, const lab::Ratio& decode, double faults) {
  result.change[lab::kPrefill] = prefill;
  result.change[lab::kDecode] = decode;
  lab::Ratio ratio;
  ratio.ratio = faults;
  ratio.n = 3;
  result.change[lab::kPageFaults] = ratio;
  result.reached = true;
}

lab::Ratio ratio(double value, double lower, double upper) {
  return {value, lower, upper, 6, 0.011, 0.00004, 0.97};
}

lab::ArmResult shipped() {
  lab::ArmResult result = arm(lab::ArmLimit::of(64 << 20), 990'000'000, 67'108'864, 710'000);
  set_changes(result, ratio(1.019, 1.006, 1.03), ratio(1.002, 0.991, 1.012), 1.09);
  result.saved_bytes = lab::Saved{1'850'000'000, 1'841'000'000, 1'860'000'000, 3, 0.00001, 0.99};
  result.verdict = lab::Verdict::kShip;
  result.sentence =
      "64 MiB keeps 1.85 GB less and is no slower: decode loses at most 0.9 %, prefill nothing.";
  return result;
}

lab::ArmResult closed() {
  lab::ArmResult result = arm(lab::ArmLimit::of(0), 910'000'000, 0, 1'154'000);
  set_changes(result, ratio(0.91, 0.9, 0.93), ratio(0.7, 0.68, 0.72), 1.77);
  result.saved_bytes = lab::Saved{1'930'000'000, 1'920'000'000, std::nullopt, 3, 0.00001, 0.99};
  result.verdict = lab::Verdict::kClose;
  result.reason = "cost";
  result.sentence = "0 costs 30 % of decode, at least 28 %.";
  return result;
}

lab::ArmResult voided() {
  lab::ArmResult result = arm(lab::ArmLimit::of(4LL << 30), 2'840'000'000, 2'215'000'000, 652'000);
  result.reached = false;
  result.verdict = lab::Verdict::kVoid;
  result.reason = "not_reached";
  result.sentence = "4 GiB was never reached: the baseline retained 2.22 GB.";
  return result;
}

}  // namespace

lab::ExperimentResult golden_result() {
  lab::ExperimentResult result;
  result.seal = "7c1e09ab4f5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f7";
  result.sealed_at = "2026-11-30T14:02:11Z";
  result.baseline = "unlimited";
  result.recommended = "64 MiB";
  result.rule.saving_bytes = 142'000'000;
  result.rule.text = "lose ≤ 2 %, save > 142 MB";
  result.verdict = lab::Verdict::kShip;
  result.sentence = shipped().sentence;
  result.complete = true;
  result.pairs = 72;
  result.void_pairs = 1;
  result.starts = result.starts_planned = 6;
  result.blocks_per_start = 4;
  result.looks_done = 1;
  result.elapsed_seconds = 287;
  lab::CellResult cell;
  cell.name = "churn";
  lab::ArmResult baseline = arm(lab::ArmLimit::unlimited(), 2'840'000'000, 2'215'000'000, 652'000);
  baseline.is_baseline = true;
  lab::ArmResult undecided = arm(lab::ArmLimit::unset(), 960'000'000, 33'554'432, 730'000);
  set_changes(undecided, ratio(1.021, 1.009, 1.03),
              {1.004, std::nullopt, std::nullopt, 1, std::nullopt, {}, {}}, 1.12);
  undecided.saved_bytes = lab::Saved{1'880'000'000, std::nullopt, std::nullopt, 1, {}, {}};
  undecided.reason = "undecided";
  undecided.sentence = "unset: cannot tell yet.";
  cell.arms = {undecided, baseline, shipped(), closed(), voided()};
  cell.noise = {{lab::kDecode, 0.033, 0.006, 0.006, 1.001, 6, 24, 3.4},
                {lab::kPrefill, 0.026, 0.005, 0.005, 0.998, 6, 24, 2.2}};
  cell.checks_failed = {
      {"not_reached", "4 GiB", true, "the baseline retained 2,215,000,000 bytes of 4,294,967,296"},
      {"order", "", false, "the order of blocks explains 3 % of decode (p 0.04)"}};
  cell.footprint_prompts = 11;
  cell.footprint_prompts_of = 14;
  cell.shortest_prompt_tokens = 100;
  cell.longest_prompt_tokens = 1000;
  result.cells = {cell};
  result.environment = {"SmolLM2-135M-Instruct Q4_1",
                        std::string(64, 'a'),
                        98'000'000,
                        "mlx-cpu",
                        "mlx 0.32.4",
                        "OpenBLAS 0.3.21",
                        "an x86-64 machine, 2 cores",
                        std::string(64, 'b'),
                        2,
                        {0, 1}};
  return result;
}

RunRecord golden_record() {
  RunRecord record;
  record.command = "weir price smollm2 --workload churn --limits unlimited,unset,64MiB,0,4GiB";
  record.variables = {{"WEIR_CACHE_LIMIT", "64MiB"}};
  SpeedStart start{0, "complete", {{"unlimited", "0", "unlimited", "64 MiB"}, {"64 MiB", "unlimited"}}, {}};
  start.ratio["64 MiB"] = {{lab::kPrefill, 1.02}, {lab::kDecode, 1.001}};
  record.speed = {start, {1, "void: killed", {}, {}}};
  record.footprint = {{0, "64 MiB", "complete", shipped().measured}, {1, "0", "complete", closed().measured}};
  return record;
}

}  // namespace weir::report
