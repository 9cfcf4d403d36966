#include <algorithm>

#include <gtest/gtest.h>

#include "place/model_trace.h"
#include "place/placement.h"

// How much more than what is granted must be backed, on traces as language models make them.

namespace weir::place {
namespace {

struct Outcome {
  double peak_ratio = 0;    ///< Peak backed / peak granted.
  double mean_padding = 0;  ///< Bytes, over the events.
  std::uint64_t padding_at_end = 0;
};

Outcome replayed(const std::vector<TraceEvent>& trace, const Options& options = {}) {
  Placement placement(options);
  placement.add_range(0, 60'000);
  std::vector<Offset> offsets(trace.size());
  std::vector<Action> actions;
  std::uint64_t backed = 0;
  std::uint64_t granted = 0;
  Outcome outcome;
  for (const TraceEvent& event : trace) {
    actions.clear();
    if (event.grant) {
      offsets[event.block] = placement.grant(event.bytes, 0, kNoBound, actions).offset;
    } else {
      placement.free(offsets[event.block], 0);
    }
    const Totals totals = placement.totals();
    backed = std::max(backed, totals.backed);
    granted = std::max(granted, totals.granted);
    outcome.mean_padding += static_cast<double>(totals.padding) / static_cast<double>(trace.size());
  }
  placement.check_laws();
  outcome.padding_at_end = placement.totals().padding;
  outcome.peak_ratio = static_cast<double>(backed) / static_cast<double>(granted);
  return outcome;
}

TEST(PlacementPadding, PromptsOfVaryingLengthPeakWithinFourPercentOfWhatIsGranted) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    EXPECT_LE(replayed(model_trace(ModelShape{}, 12, 1000, 1, seed)).peak_ratio, 1.04) << seed;
    ModelShape deep;
    deep.layers = 24;
    EXPECT_LE(replayed(model_trace(deep, 12, 600, 2, seed)).peak_ratio, 1.04) << seed;
  }
}

TEST(PlacementPadding, ATrainingLoopOfVaryingLengthsPeaksWithinTenPercent) {
  const ModelShape shape{8, 384, 384, 6, 1536, 8000, true};
  for (const std::uint64_t seed : {1, 2, 3})
    EXPECT_LE(replayed(training_trace(shape, 40, 256, seed)).peak_ratio, 1.10) << seed;
}

TEST(PlacementPadding, TwoEndsLeaveLessThanOne) {
  Options one_end;
  one_end.two_ended = false;
  ModelShape deep;
  deep.layers = 24;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto trace = model_trace(deep, 20, 600, 2, seed);
    EXPECT_LT(replayed(trace).mean_padding, replayed(trace, one_end).mean_padding) << seed;
  }
}

/// Permanent blocks that come in among temporaries of other sizes.
TEST(PlacementPadding, BlocksThatStayDoNotPinTheGranulesOfTemporaries) {
  std::vector<TraceEvent> trace;
  std::uint32_t next = 0;
  for (std::uint32_t round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> temporaries;
    for (std::uint64_t i = 0; i < 12; ++i) {
      temporaries.push_back(next);
      trace.push_back({next++, (700 + 37 * ((round + i) % 11)) << 10, true});
      if (i == 5) trace.push_back({next++, 200 << 10, true});
    }
    for (const std::uint32_t block : temporaries)
      trace.push_back({block, 0, false});
  }
  Options one_end;
  one_end.two_ended = false;
  EXPECT_LT(3 * replayed(trace).padding_at_end, replayed(trace, one_end).padding_at_end);
}

}  // namespace
}  // namespace weir::place
