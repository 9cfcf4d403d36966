#include "govern/boundary_policy.h"

#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::govern {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using wire::ActCause;
using wire::ActKind;

constexpr std::uint64_t kMiB = 1ULL << 20;
constexpr BoundaryAct kAgedAtRequest{ActKind::kTrimAged, ActCause::kRequestEnd, BoundaryPolicy::kAgedMs};
constexpr BoundaryAct kAgedAtPhase{ActKind::kTrimAged, ActCause::kPhase, BoundaryPolicy::kAgedMs};
constexpr BoundaryAct kIdleReturn{ActKind::kReturn, ActCause::kIdle};
constexpr BoundaryAct kPressedAged{ActKind::kTrimAged, ActCause::kPressure, BoundaryPolicy::kPressedAgeMs};
constexpr BoundaryAct kPressedTrim{ActKind::kTrim, ActCause::kPressure};
constexpr BoundaryAct kPressedReturn{ActKind::kReturn, ActCause::kPressure};

/// A process whose acts release what `frees` says, and a clock that the test moves.
class Process {
 public:
  explicit Process(const BoundaryRules& rules) : policy_(rules) {}

  /// One look; what it led to.
  std::vector<BoundaryAct> look() {
    policy_.observe(view);
    view.pressed = false;
    std::vector<BoundaryAct> acts;
    while (const auto act = policy_.next()) {
      acts.push_back(*act);
      const std::uint64_t released =
          act->kind == ActKind::kTrimAged ? std::min(view.retained, aged) : view.retained;
      view.retained -= released;
      aged -= std::min(aged, released);
      policy_.done(*act, released, view.retained);
      if (acts.size() > 9) break;
    }
    return acts;
  }
  std::vector<BoundaryAct> look_after(std::uint64_t ms) {
    view.now_ms += ms;
    return look();
  }
  std::vector<BoundaryAct> work(std::uint64_t ms) {
    ++view.events;
    return look_after(ms);
  }
  [[nodiscard]] int patience() const { return policy_.patience_ms(view.now_ms); }

  BoundaryView view{.now_ms = 1'000'000, .live = 100 * kMiB};
  std::uint64_t aged = 0;

 private:
  BoundaryPolicy policy_;
};

BoundaryRules at_request() {
  return {.request = true};
}

TEST(BoundaryRules, AreThoseOfTheSettingsAndNoneUnderMlx) {
  wire::AgentSettings settings;
  EXPECT_FALSE(boundary_rules(settings).any());
  settings.trim_at = wire::kTrimAtPhase;
  settings.idle_ms = 5;
  EXPECT_TRUE(boundary_rules(settings).phase);
  EXPECT_FALSE(boundary_rules(settings).request);
  EXPECT_FALSE(boundary_rules(settings).pressure);
  EXPECT_EQ(boundary_rules(settings).idle_ms, 5u);
  settings.allocator = wire::Allocator::kMlx;
  EXPECT_FALSE(boundary_rules(settings).any());
}

TEST(BoundaryPolicy, ARestEndsARequestInAProgramThatMarksNone) {
  Process process(at_request());
  process.view.retained = process.aged = 50 * kMiB;
  EXPECT_THAT(process.work(0), IsEmpty());
  EXPECT_THAT(process.look_after(199), IsEmpty());
  EXPECT_THAT(process.look_after(1), ElementsAre(kAgedAtRequest));
  process.view.retained = process.aged = 50 * kMiB;
  EXPECT_THAT(process.look_after(10'000), IsEmpty()) << "one rest is one request";
  EXPECT_THAT(process.work(10), IsEmpty());
  EXPECT_THAT(process.look_after(200), ElementsAre(kAgedAtRequest));
}

TEST(BoundaryPolicy, MarksEndRequestsWhereTheProgramMarks) {
  Process process(at_request());
  process.view.retained = process.aged = 50 * kMiB;
  process.view.phase = wire::Phase::kDecode;
  EXPECT_THAT(process.work(0), IsEmpty());
  EXPECT_THAT(process.look_after(1'000), IsEmpty()) << "a rest between two tokens is no end";
  ++process.view.requests;
  EXPECT_THAT(process.work(10), ElementsAre(kAgedAtRequest));
  EXPECT_THAT(process.work(10), IsEmpty());
}

TEST(BoundaryPolicy, AMarkOrTheProgramsClearEndsAPhase) {
  Process process({.phase = true});
  process.view.retained = process.aged = 50 * kMiB;
  EXPECT_THAT(process.work(0), IsEmpty());
  EXPECT_THAT(process.look_after(1'000), IsEmpty());
  process.view.phase = wire::Phase::kPrefill;
  EXPECT_THAT(process.work(10), ElementsAre(kAgedAtPhase));
  process.view.retained = process.aged = 50 * kMiB;
  ++process.view.clears;
  EXPECT_THAT(process.look_after(10), ElementsAre(kAgedAtPhase));
}

TEST(BoundaryPolicy, LittleIsNotWorthATrim) {
  Process process(at_request());
  process.view.retained = process.aged = 16 * kMiB - 1;
  process.work(0);
  EXPECT_THAT(process.look_after(200), IsEmpty());
  process.view.live = 1'000 * kMiB;
  process.view.retained = process.aged = 50 * kMiB - 1;
  process.work(0);
  EXPECT_THAT(process.look_after(200), IsEmpty());
  process.view.retained = process.aged = 50 * kMiB;
  process.work(0);
  EXPECT_THAT(process.look_after(200), ElementsAre(kAgedAtRequest));
}

TEST(BoundaryPolicy, WhatATrimLeftIsNotTriedAgainBeforeAsMuchHasComeOnTop) {
  Process process(at_request());
  process.view.retained = 120 * kMiB;
  process.aged = 20 * kMiB;
  process.work(0);
  EXPECT_THAT(process.look_after(200), ElementsAre(kAgedAtRequest));
  ASSERT_EQ(process.view.retained, 100 * kMiB);
  for (int i = 0; i < 3; ++i) {
    process.work(4'000);
    EXPECT_THAT(process.look_after(200), IsEmpty());
  }
  process.view.retained = 116 * kMiB - 1;
  process.work(10'000);
  EXPECT_THAT(process.look_after(200), IsEmpty());
  process.view.retained = 116 * kMiB;
  process.work(0);
  EXPECT_THAT(process.look_after(200), ElementsAre(kAgedAtRequest));
}

TEST(BoundaryPolicy, WhatWasTooYoungIsTriedAgainWhenItMayHaveAged) {
  Process process(at_request());
  process.view.retained = 500 * kMiB;
  process.work(0);
  EXPECT_THAT(process.look_after(200), ElementsAre(kAgedAtRequest)) << "and found nothing of that age";
  process.work(0);
  EXPECT_THAT(process.look_after(200), IsEmpty());
  process.aged = 400 * kMiB;
  process.work(BoundaryPolicy::kAgedMs - 600);
  EXPECT_THAT(process.look_after(200), IsEmpty());
  process.work(0);
  EXPECT_THAT(process.look_after(200), ElementsAre(kAgedAtRequest));
  EXPECT_EQ(process.view.retained, 100 * kMiB);
}

TEST(BoundaryPolicy, WithoutAgesEverythingRetainedGoesAtTheBoundary) {
  Process process(at_request());
  process.view.ages = false;
  process.view.retained = 50 * kMiB;
  process.work(0);
  EXPECT_THAT(process.look_after(200), ElementsAre(BoundaryAct{ActKind::kTrim, ActCause::kRequestEnd}));
}

TEST(BoundaryPolicy, IdlenessGivesBackOnceUntilNewEvents) {
  Process process({.idle_ms = 10'000});
  EXPECT_THAT(process.look_after(60'000), IsEmpty()) << "MLX has done nothing yet";
  process.work(0);
  EXPECT_THAT(process.look_after(9'999), IsEmpty());
  EXPECT_THAT(process.look_after(1), ElementsAre(kIdleReturn));
  EXPECT_THAT(process.look_after(100'000), IsEmpty());
  EXPECT_THAT(process.work(5), IsEmpty());
  EXPECT_THAT(process.look_after(9'000), IsEmpty());
  EXPECT_THAT(process.work(0), IsEmpty());
  EXPECT_THAT(process.look_after(9'999), IsEmpty()) << "an event in between begins the time anew";
  EXPECT_THAT(process.look_after(1), ElementsAre(kIdleReturn));
}

TEST(BoundaryPolicy, PressureTakesTheCheapestFirst) {
  Process process({.pressure = true});
  process.view.retained = 900 * kMiB;
  process.aged = 300 * kMiB;
  process.work(0);
  process.view.pressed = true;
  EXPECT_THAT(process.look_after(10), ElementsAre(kPressedAged));
  process.view.pressed = true;
  EXPECT_THAT(process.look_after(BoundaryPolicy::kPressurePauseMs - 1), IsEmpty()) << "too soon";
  process.view.pressed = true;
  EXPECT_THAT(process.look_after(1), ElementsAre(kPressedTrim));
  process.view.pressed = true;
  EXPECT_THAT(process.look_after(BoundaryPolicy::kPressurePauseMs), ElementsAre(kPressedReturn));
  process.view.pressed = true;
  EXPECT_THAT(process.look_after(BoundaryPolicy::kPressurePauseMs), IsEmpty()) << "nothing is left";
  process.view.pressed = true;
  process.view.retained = 900 * kMiB;
  process.aged = 300 * kMiB;
  EXPECT_THAT(process.look_after(BoundaryPolicy::kCalmMs), ElementsAre(kPressedAged));
}

TEST(BoundaryPolicy, PressureBeginsAnewAfterACalm) {
  Process process({.pressure = true});
  process.view.retained = process.aged = 900 * kMiB;
  process.aged = 300 * kMiB;
  process.view.pressed = true;
  EXPECT_THAT(process.look(), ElementsAre(kPressedAged));
  process.aged = 300 * kMiB;
  process.view.pressed = true;
  EXPECT_THAT(process.look_after(BoundaryPolicy::kCalmMs), ElementsAre(kPressedAged));
}

TEST(BoundaryPolicy, AStepThatFindsNothingGivesWayToTheNextAtOnce) {
  Process process({.pressure = true});
  process.view.retained = 900 * kMiB;
  process.view.pressed = true;
  EXPECT_THAT(process.look(), ElementsAre(kPressedAged, kPressedTrim)) << "nothing had aged";
  Process empty({.pressure = true});
  empty.view.pressed = true;
  EXPECT_THAT(empty.look(), ElementsAre(kPressedReturn)) << "nothing retained: the heap alone";
}

TEST(BoundaryPolicy, WhatIsNotAskedForIsNotDone) {
  Process process({.pressure = true});
  process.view.retained = process.aged = 900 * kMiB;
  ++process.view.requests;
  ++process.view.clears;
  EXPECT_THAT(process.work(0), IsEmpty());
  EXPECT_THAT(process.look_after(100'000), IsEmpty());
  Process idle({.idle_ms = 1'000'000});
  idle.view.retained = idle.aged = 900 * kMiB;
  idle.view.pressed = true;
  EXPECT_THAT(idle.work(0), IsEmpty());
}

TEST(BoundaryPolicy, LooksOftenWhileEventsFlowAndSeldomWhileNoneDo) {
  Process process({.request = true, .idle_ms = 1'000'000});
  EXPECT_LE(process.patience(), 200);
  int longest = 0;
  for (int i = 0; i < 12; ++i) {
    process.look_after(static_cast<std::uint64_t>(process.patience()));
    longest = std::max(longest, process.patience());
  }
  EXPECT_EQ(longest, static_cast<int>(BoundaryPolicy::kLongestLookMs));
  process.work(1);
  EXPECT_EQ(process.patience(), 200);
  process.look_after(50);
  EXPECT_LE(process.patience(), 200);
}

TEST(BoundaryPolicy, NeverSleepsPastTheIdleTime) {
  Process process({.idle_ms = 3'000});
  process.work(0);
  std::uint64_t slept = 0;
  while (process.look().empty()) {
    ASSERT_GT(process.patience(), 0);
    slept += static_cast<std::uint64_t>(process.patience());
    process.view.now_ms += static_cast<std::uint64_t>(process.patience());
    ASSERT_LE(slept, 3'000u);
  }
  EXPECT_EQ(slept, 3'000u);
  BoundaryPolicy none{BoundaryRules{}};
  EXPECT_EQ(none.patience_ms(5), -1);
}

TEST(BoundaryPolicy, AnyViewsLeadToBoundedActs) {
  std::mt19937_64 random(7);
  const auto number = [&] { return random() >> random() % 64; };
  for (int i = 0; i < 2'000; ++i) {
    BoundaryPolicy policy({random() % 2 == 0, random() % 2 == 0, random() % 2 == 0, number()});
    BoundaryView view;
    for (int look = 0; look < 20; ++look) {
      view = {view.now_ms + (number() >> 8),
              number(),
              number(),
              number(),
              static_cast<wire::Phase>(random() % 7),
              number(),
              number(),
              random() % 2 == 0,
              random() % 2 == 0};
      policy.observe(view);
      int acts = 0;
      while (const auto act = policy.next()) {
        policy.done(*act, number(), number());
        ASSERT_LE(++acts, 5);
      }
      const int patience = policy.patience_ms(view.now_ms);
      ASSERT_GE(patience, -1);
      ASSERT_LE(patience, static_cast<int>(BoundaryPolicy::kLongestLookMs));
    }
  }
}

}  // namespace
}  // namespace weir::govern
