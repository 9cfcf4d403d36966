#include "govern/boundary_watch.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "govern/fake_acts.h"

namespace weir::govern {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::ActCause;
using wire::ActKind;
using wire::ControlStatus;

constexpr std::uint64_t kMiB = 1ULL << 20;

class BoundaryWatchTest : public ::testing::Test {
 protected:
  BoundaryWatch& watch(const BoundaryRules& rules) {
    watch_ = std::make_unique<BoundaryWatch>(
        log_, slot_, rules, PressureSources(),
        Neighbourhood{[this] { return std::exchange(lacking_, 0); },
                      [this](std::uint64_t bytes) { asked_.push_back(bytes); }});
    return *watch_;
  }
  void hold(std::uint64_t aged, std::uint64_t fresh, std::uint64_t heap) {
    acts_.aged = aged;
    acts_.fresh = fresh;
    acts_.heap = heap;
    page_->retained = aged + fresh;
    ++page_->allocations;
  }
  void after(std::uint64_t ms) {
    now_ += ms;
    watch_->wake(now_, {});
  }
  NeighboursNeed need() {
    wire::AgentSettings settings;
    settings.trim_at = wire::kTrimAtPressure;
    return {log_, settings};
  }
  [[nodiscard]] const wire::Act& act(std::size_t number) const { return page_->acts[number]; }

  std::unique_ptr<wire::CountersPage> page_ = std::make_unique<wire::CountersPage>();
  PageSlot slot_{page_.get()};
  FakeActs acts_{*page_};
  ActLog log_{acts_, slot_};
  std::unique_ptr<BoundaryWatch> watch_;
  std::uint64_t now_ = 5'000'000;
  std::uint64_t lacking_ = 0;
  std::vector<std::uint64_t> asked_;
};

TEST_F(BoundaryWatchTest, AnIdleProcessGivesBackOnceAndThePageTells) {
  page_->allocator = static_cast<std::uint32_t>(wire::Allocator::kWeir);
  watch({.idle_ms = 30'000});
  hold(5 * kMiB, 7 * kMiB, 3 * kMiB);
  after(0);
  after(29'999);
  EXPECT_THAT(acts_.done, IsEmpty());
  EXPECT_EQ(watch_->patience_ms(now_), 1);
  after(1);
  EXPECT_THAT(acts_.done, ElementsAre("give back"));
  EXPECT_EQ(act(0).kind, static_cast<std::uint32_t>(ActKind::kReturn));
  EXPECT_EQ(act(0).cause, static_cast<std::uint32_t>(ActCause::kIdle));
  EXPECT_EQ(act(0).released, 15 * kMiB);
  EXPECT_EQ(act(0).retained_before, 12 * kMiB);
  EXPECT_EQ(act(0).retained_after, 0u);
  after(500'000);
  EXPECT_EQ(page_->acts_done, 1u);
  hold(1, 0, 0);
  after(10);
  after(30'000);
  EXPECT_EQ(page_->acts_done, 2u);
}

TEST_F(BoundaryWatchTest, TheEndOfARequestTrimsWhatHasAged) {
  page_->allocator = static_cast<std::uint32_t>(wire::Allocator::kWeir);
  watch({.request = true});
  hold(50 * kMiB, 30 * kMiB, 9 * kMiB);
  after(0);
  page_->requests = 1;
  after(50);
  EXPECT_THAT(acts_.done, ElementsAre("aged 5000"));
  EXPECT_EQ(act(0).argument, 5'000u);
  EXPECT_EQ(act(0).cause, static_cast<std::uint32_t>(ActCause::kRequestEnd));
  EXPECT_EQ(page_->retained, 30 * kMiB);
}

TEST_F(BoundaryWatchTest, MlxsRuleKnowsNoAgesSoEverythingGoes) {
  page_->allocator = static_cast<std::uint32_t>(wire::Allocator::kMlxPolicy);
  watch({.phase = true});
  hold(50 * kMiB, 30 * kMiB, 9 * kMiB);
  page_->host_clears = 1;
  after(0);
  EXPECT_THAT(acts_.done, ElementsAre("trim"));
}

TEST_F(BoundaryWatchTest, AKernelThatHasNoMoreSendsItToItsNeighboursOnceInTenSeconds) {
  watch({.pressure = true});
  after(0);
  EXPECT_THAT(asked_, IsEmpty());
  lacking_ = 7 * kMiB;
  after(10);
  EXPECT_THAT(asked_, ElementsAre(7 * kMiB));
  lacking_ = 3 * kMiB;
  after(9'000);
  lacking_ = 2 * kMiB;
  after(999);
  EXPECT_THAT(asked_, ElementsAre(7 * kMiB));
  after(1);
  EXPECT_THAT(asked_, ElementsAre(7 * kMiB, 3 * kMiB)) << "the largest, once";
  after(100'000);
  EXPECT_EQ(asked_.size(), 2u);
}

TEST_F(BoundaryWatchTest, WithoutPressureNobodyIsAsked) {
  watch({.idle_ms = 30'000});
  lacking_ = 7 * kMiB;
  after(10);
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(BoundaryWatchTest, ANeedIsMetByTheCheapestBytes) {
  hold(50 * kMiB, 30 * kMiB, 9 * kMiB);
  const Effect effect = need().give(40 * kMiB, now_);
  EXPECT_EQ(effect.status, ControlStatus::kDone);
  EXPECT_EQ(effect.released, 50 * kMiB);
  EXPECT_THAT(acts_.done, ElementsAre("aged 60000")) << "and nothing more";
  EXPECT_EQ(act(0).cause, static_cast<std::uint32_t>(ActCause::kNeighbour));
}

TEST_F(BoundaryWatchTest, ALargeNeedTakesAllThatThereIs) {
  hold(50 * kMiB, 30 * kMiB, 9 * kMiB);
  const Effect effect = need().give(1'000 * kMiB, now_);
  EXPECT_EQ(effect.released, 80 * kMiB);
  EXPECT_EQ(effect.heap_released, 9 * kMiB);
  EXPECT_THAT(acts_.done, ElementsAre("aged 60000", "aged 10000", "aged 1000", "trim", "give back"));
}

TEST_F(BoundaryWatchTest, NeedsComeOneASecond) {
  NeighboursNeed once = need();
  EXPECT_EQ(once.give(1, now_).status, ControlStatus::kDone);
  EXPECT_EQ(once.give(1, now_ + 999).status, ControlStatus::kBusy);
  EXPECT_EQ(once.give(1, now_ + 1'000).status, ControlStatus::kDone);
}

TEST_F(BoundaryWatchTest, WhoKeepsEverythingRefusesANeed) {
  hold(50 * kMiB, 30 * kMiB, 9 * kMiB);
  NeighboursNeed closed(log_, wire::AgentSettings{});
  const Effect effect = closed.give(1, now_);
  EXPECT_EQ(effect.status, ControlStatus::kRefused);
  EXPECT_THAT(effect.text, HasSubstr("--trim-at"));
  EXPECT_THAT(acts_.done, IsEmpty());
}

TEST_F(BoundaryWatchTest, ThereIsNoneWhereNothingIsOn) {
  wire::AgentSettings settings;
  EXPECT_EQ(watch_boundaries(log_, slot_, settings, "", {}), nullptr);
  settings.idle_ms = 1;
  EXPECT_NE(watch_boundaries(log_, slot_, settings, "", {}), nullptr);
  settings.allocator = wire::Allocator::kMlx;
  EXPECT_EQ(watch_boundaries(log_, slot_, settings, "", {}), nullptr);
}

}  // namespace
}  // namespace weir::govern
