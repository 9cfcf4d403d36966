#include "report/run_record.h"

#include <cmath>

#include "lab/samples.h"

namespace weir::report {

namespace {

/// Mean over a start's blocks of ln(arm) minus the mean ln of the block's baseline turns, by arm.
class StartMeans {
 public:
  StartMeans(const lab::Plan& plan, double (*rate)(const lab::TurnRecord&))
      : baseline_(lab::baseline_index(plan.question)),
        rate_(rate),
        sum_(plan.question.arms.size()),
        count_(plan.question.arms.size()) {}

  void add(const lab::BlockRecord& block) {
    double base = 0;
    int turns = 0;
    for (const lab::TurnRecord& turn : block.turns) {
      if (turn.arm != baseline_) continue;
      base += std::log(rate_(turn));
      ++turns;
    }
    if (turns == 0) return;
    for (const lab::TurnRecord& turn : block.turns) {
      const auto arm = static_cast<std::size_t>(turn.arm);
      if (turn.arm == baseline_ || arm >= sum_.size()) continue;
      sum_[arm] += std::log(rate_(turn)) - base / turns;
      ++count_[arm];
    }
  }

  /// Arms without a value are left out.
  void put(const lab::Plan& plan, const char* metric, SpeedStart& into) const {
    for (std::size_t arm = 0; arm < sum_.size(); ++arm) {
      const double mean = count_[arm] > 0 ? sum_[arm] / count_[arm] : NAN;
      if (std::isfinite(mean)) into.ratio[plan.question.arms[arm].name][metric] = std::exp(mean);
    }
  }

 private:
  int baseline_;
  double (*rate_)(const lab::TurnRecord&);
  std::vector<double> sum_;
  std::vector<int> count_;
};

std::string arm_at(const lab::Plan& plan, int arm) {
  const auto index = static_cast<std::size_t>(arm);
  return index < plan.question.arms.size() ? plan.question.arms[index].name : "?";
}

std::string status_of(const lab::Records& records, bool footprint, int index, bool whole) {
  std::string status = whole ? "complete" : "unfinished";
  for (const lab::StartFailures& failures : records.failures) {
    if (failures.footprint != footprint || failures.index != index) continue;
    for (const std::string& message : failures.messages)
      status += "; cut short: " + message;
  }
  return status;
}

SpeedStart speed_start(const lab::Plan& plan, const lab::Records& records, int index) {
  SpeedStart start;
  start.index = index;
  StartMeans decode(plan, lab::decode_rate), prefill(plan, lab::prefill_rate);
  const bool between = lab::design_of(plan.question) == lab::Design::kBetween;
  std::size_t stored = 0;
  for (const lab::BlockRecord& block : records.blocks) {
    if (block.start != index) continue;
    ++stored;
    // A process of the between design has one arm, whatever its turns: the block of starts is one line.
    if (!between || start.blocks.empty()) start.blocks.emplace_back();
    for (const lab::TurnRecord& turn : block.turns) {
      start.blocks.back().push_back(arm_at(plan, turn.arm));
      if (between) break;
    }
  }
  for (const lab::BlockRecord& block : lab::comparable_blocks(plan, records)) {
    if (block.start != index) continue;
    decode.add(block);
    prefill.add(block);
  }
  decode.put(plan, lab::kDecode, start);
  prefill.put(plan, lab::kPrefill, start);
  const bool whole = stored == static_cast<std::size_t>(lab::records_per_start(plan));
  start.status = status_of(records, false, index, whole);
  return start;
}

FootprintStart footprint_start(const lab::Plan& plan, const lab::Records& records,
                               const lab::FootprintRecord& record) {
  FootprintStart start;
  start.index = record.index;
  start.arm = arm_at(plan, record.arm);
  start.status = status_of(records, true, record.index, true);
  start.measured.footprint_peak_bytes = record.footprint_peak_high_bytes;
  start.measured.footprint_peak_low_bytes = record.footprint_peak_low_bytes;
  start.measured.live_peak_bytes = record.live_peak_bytes;
  start.measured.retained_peak_bytes = record.retained_peak_bytes;
  start.measured.page_faults = record.page_faults;
  return start;
}

bool has_speed_data(const lab::Records& records, int index) {
  for (const lab::BlockRecord& block : records.blocks)
    if (block.start == index) return true;
  for (const lab::StartFailures& failures : records.failures)
    if (!failures.footprint && failures.index == index) return true;
  return false;
}

}  // namespace

RunRecord run_record_of(const lab::Plan& plan, const lab::Records& records) {
  RunRecord record;
  record.design = lab::design_of(plan.question);
  for (int index = 0; index < plan.sizes.starts; ++index)
    if (has_speed_data(records, index)) record.speed.push_back(speed_start(plan, records, index));
  for (const lab::FootprintRecord& footprint : records.footprints)
    record.footprint.push_back(footprint_start(plan, records, footprint));
  return record;
}

}  // namespace weir::report
