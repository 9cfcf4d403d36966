#include "lab/worker_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::lab {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& line) {
  const auto event = parse_event(line);
  if (event) return "accepted";
  EXPECT_EQ(event.error().kind, ErrorKind::kBadData);
  return event.error().message;
}

TEST(WorkerProtocol, RequestsSurviveTheWire) {
  for (const WorkerRequest& request :
       {WorkerRequest(SwitchRequest{Allocator::kMlx, ArmLimit::of(0)}),
        WorkerRequest(SwitchRequest{Allocator::kWeir, ArmLimit::unset()}),
        WorkerRequest(SwitchRequest{Allocator::kMlxPolicy, ArmLimit::unlimited()}),
        WorkerRequest(GenerateRequest{"a/1", "ü\n\"x\"", 300, 8}), WorkerRequest(MeasureRequest{true}),
        WorkerRequest(QuitRequest{})}) {
    const auto again = parse_request(to_line(request));
    ASSERT_TRUE(again) << to_line(request);
    EXPECT_EQ(again->index(), request.index());
    EXPECT_EQ(to_line(*again), to_line(request));
    EXPECT_EQ(to_line(request).find('\n'), std::string::npos);
  }
}

TEST(WorkerProtocol, SwitchSaysItsAllocatorAndLimit) {
  EXPECT_EQ(to_line(WorkerRequest(SwitchRequest{Allocator::kMlx, ArmLimit::of(67108864)})),
            R"({"allocator":"mlx","cache_limit":{"bytes":67108864,"mode":"bytes"},"op":"switch"})");
  EXPECT_EQ(to_line(WorkerRequest(SwitchRequest{Allocator::kWeir, ArmLimit::unlimited()})),
            R"({"allocator":"weir","cache_limit":{"bytes":null,"mode":"unlimited"},"op":"switch"})");
}

TEST(WorkerProtocol, ALineThatNamesNoAllocatorIsOnMlx) {
  const auto request = parse_request(R"({"op":"switch","cache_limit":{"mode":"unset","bytes":null}})");
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<SwitchRequest>(*request).allocator, Allocator::kMlx);
  const std::string switched =
      R"({"event":"switched","previous_bytes":null,"in_force_bytes":1,"trimmed_bytes":0,"seconds":0)";
  const auto old = parse_event(switched + "}");
  ASSERT_TRUE(old);
  EXPECT_EQ(std::get<SwitchedEvent>(*old).allocator, Allocator::kMlx);
  const auto named = parse_event(switched + R"(,"allocator":"mlx-policy"})");
  ASSERT_TRUE(named);
  EXPECT_EQ(std::get<SwitchedEvent>(*named).allocator, Allocator::kMlxPolicy);
  EXPECT_THAT(refusal(switched + R"(,"allocator":"jemalloc"})"), HasSubstr("mlx, mlx-policy or weir"));
  EXPECT_THAT(refusal(switched + R"(,"allocator":2})"), HasSubstr("allocator"));
}

TEST(WorkerProtocol, SwitchedReadsNullAsUnlimited) {
  const auto event = parse_event(
      R"({"event":"switched","previous_bytes":null,"in_force_bytes":33554432,"trimmed_bytes":5,"seconds":0.25})");
  ASSERT_TRUE(event);
  const auto& switched = std::get<SwitchedEvent>(*event);
  EXPECT_EQ(switched.previous_bytes, std::nullopt);
  EXPECT_EQ(switched.in_force_bytes, 33554432);
  EXPECT_EQ(switched.seconds, 0.25);
}

TEST(WorkerProtocol, RefusesWhatIsMissingMistypedOrOutOfRange) {
  const std::string head = R"({"event":"switched","previous_bytes":null,"in_force_bytes":1,"trimmed_bytes":)";
  EXPECT_THAT(refusal(head + "-1,\"seconds\":1}"), HasSubstr("trimmed_bytes"));
  EXPECT_THAT(refusal(head + "1.5,\"seconds\":1}"), HasSubstr("must be an integer"));
  EXPECT_THAT(refusal(head + "18446744073709551615,\"seconds\":1}"), HasSubstr("trimmed_bytes"));
  EXPECT_THAT(refusal(head + "1,\"seconds\":-1}"), HasSubstr("negative"));
  EXPECT_THAT(refusal(head + "1,\"seconds\":1e999}"), testing::Ne("accepted"));
  EXPECT_THAT(refusal(head + "1}"), HasSubstr("\"seconds\" is missing"));
  EXPECT_THAT(refusal(R"({"event":"sang"})"), HasSubstr("names nothing"));
  EXPECT_THAT(refusal("not json"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(refusal(std::string(100'000, '[')), HasSubstr("nested"));
  EXPECT_THAT(refusal(std::string(kMaxLineBytes + 1, ' ')), HasSubstr("1 MiB"));
}

TEST(WorkerProtocol, ErrorsKeepTheirKind) {
  const auto event = parse_event(to_line(WorkerEvent(ErrorEvent{ErrorKind::kNoRoom, "full"})));
  ASSERT_TRUE(event);
  EXPECT_EQ(std::get<ErrorEvent>(*event).kind, ErrorKind::kNoRoom);
}

TEST(WorkerProtocol, LayersTravelAsTheyAre) {
  MeasuredEvent event;
  event.layers_json = R"({"live":5,"tags":{"kv":1}})";
  const auto again = parse_event(to_line(WorkerEvent(event)));
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<MeasuredEvent>(*again).layers_json, event.layers_json);
}

}  // namespace
}  // namespace weir::lab
