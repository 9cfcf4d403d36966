#include "lab/samples.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "stats/summary.h"

namespace weir::lab {

namespace {

/// Log rates of one block by arm; the baseline has two turns.
struct BlockLogs {
  std::map<int, double> arms;
  double first = 0, second = 0;
};

template <class Rate>
BlockLogs logs_of(const BlockRecord& block, int baseline, Rate rate) {
  BlockLogs out;
  for (const auto& turn : block.turns) {
    const double value = std::log(rate(turn));
    if (turn.arm != baseline)
      out.arms[turn.arm] = value;
    else
      (turn.second ? out.second : out.first) = value;
  }
  return out;
}

/// Block values by start, for each arm, and the equal pairs under the key -1.
template <class Rate>
std::map<int, std::map<int, std::vector<double>>> by_start(const std::vector<BlockRecord>& blocks, int starts,
                                                           int baseline, Rate rate) {
  std::map<int, std::map<int, std::vector<double>>> out;
  for (const auto& block : blocks) {
    if (block.start >= starts) continue;
    const BlockLogs logs = logs_of(block, baseline, rate);
    for (const auto& [arm, value] : logs.arms)
      out[arm][block.start].push_back(value - (logs.first + logs.second) / 2);
    out[-1][block.start].push_back(logs.second - logs.first);
  }
  return out;
}

std::vector<double> means(const std::map<int, std::vector<double>>& starts) {
  std::vector<double> out;
  for (const auto& [start, values] : starts)
    out.push_back(stats::summarize(values).mean);
  return out;
}

std::vector<double> all(const std::map<int, std::vector<double>>& starts) {
  std::vector<double> out;
  for (const auto& [start, values] : starts)
    out.insert(out.end(), values.begin(), values.end());
  return out;
}

void collect_savings(const Plan& plan, const Records& records, int baseline, Samples& out) {
  const int arms = static_cast<int>(plan.question.arms.size());
  std::map<int, std::map<int, const FootprintRecord*>> rounds;
  for (const auto& record : records.footprints)
    rounds[record.index / arms][record.arm] = &record;
  for (const auto& [round, present] : rounds) {
    const auto base = present.find(baseline);
    if (base == present.end()) continue;
    const double low = static_cast<double>(base->second->footprint_peak_low_bytes);
    const double high = static_cast<double>(base->second->footprint_peak_high_bytes);
    for (const auto& [arm, record] : present) {
      if (arm == baseline) continue;
      auto& samples = out.arms[static_cast<std::size_t>(arm)];
      samples.saved_low.push_back(low - static_cast<double>(record->footprint_peak_high_bytes));
      samples.saved_mid.push_back(high - static_cast<double>(record->footprint_peak_high_bytes));
      samples.saved_high.push_back(high - static_cast<double>(record->footprint_peak_low_bytes));
    }
  }
}

/// All turns of one process as one.
TurnRecord joined(const BlockRecord& process) {
  TurnRecord out = process.turns.front();
  for (std::size_t i = 1; i < process.turns.size(); ++i) {
    const TurnRecord& turn = process.turns[i];
    out.measured.insert(out.measured.end(), turn.measured.begin(), turn.measured.end());
    out.warm.insert(out.warm.end(), turn.warm.begin(), turn.warm.end());
    out.page_faults += turn.page_faults;
    out.retained_bytes = turn.retained_bytes;
    out.retained_peak_bytes = std::max(out.retained_peak_bytes, turn.retained_peak_bytes);
  }
  return out;
}

bool has_both_baselines(const BlockRecord& block, int baseline) {
  return std::count_if(block.turns.begin(), block.turns.end(),
                       [&](const TurnRecord& turn) { return turn.arm == baseline; }) == 2;
}

}  // namespace

std::vector<BlockRecord> comparable_blocks(const Plan& plan, const Records& records) {
  if (design_of(plan.question) == Design::kCrossover) return records.blocks;
  std::map<int, std::map<int, const BlockRecord*>> processes;
  for (const auto& block : records.blocks)
    if (!block.turns.empty()) processes[block.start][block.block] = &block;
  std::vector<BlockRecord> out;
  for (const auto& [start, places] : processes) {
    BlockRecord whole{start, 0, {}, 0};
    for (const auto& [place, process] : places) {
      whole.turns.push_back(joined(*process));
      whole.seconds += process->seconds;
    }
    if (has_both_baselines(whole, baseline_index(plan.question))) out.push_back(std::move(whole));
  }
  return out;
}

double prefill_rate(const TurnRecord& turn) {
  double tokens = 0, time = 0;
  for (const auto& request : turn.measured) {
    tokens += static_cast<double>(request.prompt_tokens);
    time += request.prefill_seconds;
  }
  return tokens / time;
}

double decode_rate(const TurnRecord& turn) {
  double tokens = 0, time = 0;
  for (const auto& request : turn.measured) {
    tokens += static_cast<double>(request.generated_tokens - 1);
    time += request.decode_seconds;
  }
  return tokens / time;
}

Samples collect(const Plan& plan, const Records& records, int starts) {
  const int baseline = baseline_index(plan.question);
  Samples out;
  out.arms.resize(plan.question.arms.size());
  const auto blocks = comparable_blocks(plan, records);
  auto decode = by_start(blocks, starts, baseline, decode_rate);
  auto prefill = by_start(blocks, starts, baseline, prefill_rate);
  for (int arm = 0; arm < static_cast<int>(out.arms.size()); ++arm) {
    if (arm == baseline) continue;
    auto& samples = out.arms[static_cast<std::size_t>(arm)];
    samples.decode = means(decode[arm]);
    samples.prefill = means(prefill[arm]);
  }
  out.equal = {all(decode[-1]), all(prefill[-1]), means(decode[-1]), means(prefill[-1])};
  out.blocks = static_cast<int>(out.equal.decode_blocks.size());
  collect_savings(plan, records, baseline, out);
  return out;
}

std::vector<FootprintRecord> footprints_of(const Records& records, int arm) {
  std::vector<FootprintRecord> out;
  for (const auto& record : records.footprints)
    if (record.arm == arm) out.push_back(record);
  return out;
}

}  // namespace weir::lab
