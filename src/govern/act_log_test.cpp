#include "govern/act_log.h"

#include <memory>
#include <new>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "govern/fake_acts.h"

namespace weir::govern {
namespace {

using wire::ActCause;
using wire::ActKind;
using wire::ControlStatus;

class ActLogTest : public ::testing::Test {
 protected:
  Effect trim(std::uint64_t released) {
    return log_.perform({ActKind::kTrim, ActCause::kIdle}, [&](IActs&) {
      page_->retained -= released;
      Effect effect;
      effect.released = released;
      effect.heap_released = 7;
      return effect;
    });
  }

  std::unique_ptr<wire::CountersPage> page_ = std::make_unique<wire::CountersPage>();
  PageSlot slot_{page_.get()};
  FakeActs acts_{*page_};
  ActLog log_{acts_, slot_};
};

TEST_F(ActLogTest, AnActStandsInThePageWithItsEffect) {
  page_->retained = 100;
  trim(30);
  const wire::Act& act = page_->acts[0];
  EXPECT_EQ(page_->acts_done, 1u);
  EXPECT_EQ(act.kind, static_cast<std::uint32_t>(ActKind::kTrim));
  EXPECT_EQ(act.cause, static_cast<std::uint32_t>(ActCause::kIdle));
  EXPECT_EQ(act.released, 37u) << "the pool's and the heap's";
  EXPECT_EQ(act.retained_before, 100u);
  EXPECT_EQ(act.retained_after, 70u);
  EXPECT_GT(act.footprint_before, 100u << 10) << "of this very process";
  EXPECT_GT(act.footprint_after, 100u << 10);
  EXPECT_GT(act.time_ns, 1'700'000'000ull * 1'000'000'000);
  EXPECT_EQ(page_->acts_sequence.load(), 2u);
  EXPECT_EQ(page_->sequence.load(), 0u) << "the counters have another writer";
}

TEST_F(ActLogTest, TheLatestStandInTheRing) {
  page_->retained = 1'000'000;
  for (std::uint64_t i = 0; i < wire::kActs + 3; ++i)
    trim(i);
  EXPECT_EQ(page_->acts_done, wire::kActs + 3);
  EXPECT_EQ(page_->acts[0].released, wire::kActs + 7);
  EXPECT_EQ(page_->acts[2].released, wire::kActs + 2 + 7);
  EXPECT_EQ(page_->acts[3].released, 3u + 7);
}

TEST_F(ActLogTest, WhatWasNotDoneIsNotNoted) {
  for (const ControlStatus status :
       {ControlStatus::kPending, ControlStatus::kRefused, ControlStatus::kFailed}) {
    const Effect effect = log_.perform({ActKind::kTrim, ActCause::kControl}, [&](IActs&) {
      Effect undone;
      undone.status = status;
      return undone;
    });
    EXPECT_EQ(effect.status, status);
  }
  EXPECT_EQ(page_->acts_done, 0u);
  EXPECT_EQ(page_->acts_sequence.load(), 0u);
}

TEST_F(ActLogTest, WhatAnActThrowsIsAnAnswer) {
  const Effect full =
      log_.perform({ActKind::kTrim, ActCause::kControl}, [](IActs&) -> Effect { throw std::bad_alloc(); });
  EXPECT_EQ(full.status, ControlStatus::kFailed);
  const Effect failed = log_.perform({ActKind::kTrim, ActCause::kControl},
                                     [](IActs&) -> Effect { throw std::runtime_error("no"); });
  EXPECT_EQ(failed.status, ControlStatus::kFailed);
  EXPECT_EQ(failed.text, "no");
  EXPECT_EQ(page_->acts_done, 0u);
}

TEST_F(ActLogTest, OneActAtATime) {
  int inside = 0, most = 0;
  const auto act = [&](IActs&) {
    most = std::max(most, ++inside);
    std::this_thread::yield();
    --inside;
    return Effect();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 50; ++n)
        log_.perform({ActKind::kTrim, ActCause::kControl}, act);
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(page_->acts_done, 200u);
}

TEST_F(ActLogTest, ActsGoToThePageOfTheMoment) {
  wire::CountersPage after_fork{};
  slot_ = &after_fork;
  trim(0);
  EXPECT_EQ(page_->acts_done, 0u);
  EXPECT_EQ(after_fork.acts_done, 1u);
}

}  // namespace
}  // namespace weir::govern
