#include "lab/turns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/fake_executor.h"
#include "lab/probe.h"

namespace weir::lab {
namespace {

using testing::HasSubstr;

/// Answers every request with one event.
class OneAnswer final : public IWorker {
 public:
  explicit OneAnswer(GeneratedEvent event) : event_(std::move(event)) {}
  const ReadyEvent& ready() const override { return ready_; }
  Result<WorkerEvent> ask(const WorkerRequest& request) override {
    if (std::holds_alternative<SwitchRequest>(request)) return WorkerEvent(SwitchedEvent{});
    if (std::holds_alternative<MeasureRequest>(request)) return WorkerEvent(MeasuredEvent{});
    return WorkerEvent(event_);
  }

 private:
  ReadyEvent ready_;
  GeneratedEvent event_;
};

GeneratedEvent answer(const std::string& name) {
  GeneratedEvent out;
  out.name = name;
  out.prompt_tokens = 10;
  out.generated_tokens = 4;
  out.finish_reason = "length";
  out.prefill_seconds = out.decode_seconds = 0.1;
  return out;
}

std::string refusal(const GeneratedEvent& event) {
  OneAnswer worker(event);
  const auto done = run_request(worker, {}, {"asked", 10, 4}, [] { return false; });
  if (done) return "accepted";
  EXPECT_EQ(done.error().kind, ErrorKind::kBadData);
  return done.error().message;
}

TEST(Turns, AnAnswerToAnotherRequestIsRefused) {
  EXPECT_EQ(refusal(answer("asked")), "accepted");
  EXPECT_THAT(refusal(answer("other")), HasSubstr("answered request other in place of asked"));
}

TEST(Turns, AnAnswerWithoutTimeIsRefused) {
  auto event = answer("asked");
  event.decode_seconds = 0;
  EXPECT_THAT(refusal(event), HasSubstr("no time"));
  event = answer("asked");
  event.prefill_seconds = 0;
  EXPECT_THAT(refusal(event), HasSubstr("no time"));
}

TEST(Turns, PeaksOfATurnBeginWithItsSwitch) {
  FakeClock clock;
  FakeExecutor executor(clock, {});
  auto worker = value_or_throw(executor.start(Allocator::kMlx));
  const BlockPlan requests{{}, {{"w", 100, 2}}, {{"m", 120, 8}}};
  const auto never = [] { return false; };
  EXPECT_GT(value_or_throw(run_turn(*worker, make_arm(ArmLimit::unlimited()), {}, requests, never))
                .retained_peak_bytes,
            0);
  const auto nothing = value_or_throw(run_turn(*worker, make_arm(ArmLimit::of(0)), {}, requests, never));
  EXPECT_EQ(nothing.retained_peak_bytes, 0);
  EXPECT_EQ(nothing.in_force_bytes, 0);
  EXPECT_EQ(nothing.warm.size(), 1u);
  EXPECT_EQ(nothing.measured[0].name, "m");
}

TEST(Saving, IsTheLargerOfFloorAndShare) {
  const Rule rule;
  EXPECT_EQ(saving_asked(rule, 10e9), 500'000'000);
  EXPECT_EQ(saving_asked(rule, 1e6), 64 << 20);
}

}  // namespace
}  // namespace weir::lab
