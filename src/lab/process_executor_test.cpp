#include "lab/process_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::lab {
namespace {

using testing::HasSubstr;

/// A worker of one shell line.
WorkerSpec shell(const std::string& script) {
  WorkerSpec spec;
  spec.argv = {"/bin/sh", "-c", script};
  spec.ready_limit = std::chrono::milliseconds(10'000);
  spec.reply_limit = std::chrono::milliseconds(10'000);
  return spec;
}

std::string ready_line(int protocol = 2) {
  ReadyEvent ready;
  ready.protocol = protocol;
  ready.machine = "m";
  return to_line(WorkerEvent(ready));
}

TEST(ProcessExecutor, TalksToAProgramThatSpeaksTheProtocol) {
  const std::string switched = to_line(WorkerEvent(SwitchedEvent{std::nullopt, 5, 0, 0.1}));
  ProcessExecutor executor(
      shell("echo '" + ready_line() + "'; read line; echo '" + switched + "'; read line"));
  auto worker = executor.start(Allocator::kMlx);
  ASSERT_TRUE(worker) << describe(worker.error());
  EXPECT_EQ((*worker)->ready().machine, "m");
  const auto reply = ask_switch(**worker, Allocator::kMlx, ArmLimit::of(5));
  ASSERT_TRUE(reply) << describe(reply.error());
  EXPECT_EQ(reply->in_force_bytes, 5);
}

TEST(ProcessExecutor, AWorkerThatEndsIsAnErrorWithItsCode) {
  ProcessExecutor early(shell("exit 7"));
  EXPECT_THAT(early.start(Allocator::kMlx).error().message, HasSubstr("with code 7"));
  ProcessExecutor late(shell("echo '" + ready_line() + "'; read line; exit 9"));
  auto worker = late.start(Allocator::kMlx);
  ASSERT_TRUE(worker);
  EXPECT_THAT(ask_measure(**worker, true).error().message, HasSubstr("with code 9"));
}

TEST(ProcessExecutor, RefusesAnotherProtocolAndNonsense) {
  ProcessExecutor other(shell("echo '" + ready_line(3) + "'; read line"));
  EXPECT_THAT(other.start(Allocator::kMlx).error().message, HasSubstr("speaks protocol 3"));
  ProcessExecutor nonsense(shell("echo hello; read line"));
  EXPECT_EQ(nonsense.start(Allocator::kMlx).error().kind, ErrorKind::kBadData);
}

TEST(ProcessExecutor, NamesTheAllocatorToTheWorkerAndHoldsItToIt) {
  ReadyEvent ready;
  ready.protocol = kWorkerProtocol;
  ready.allocator = Allocator::kWeir;
  const std::string line = to_line(WorkerEvent(ready));
  // The words after the script are the shell's $0, $1, …
  ProcessExecutor told(shell("[ \"$0 $1\" = '--allocator weir' ] && echo '" + line + "'; read line"));
  EXPECT_TRUE(start_on(told, Allocator::kWeir));
  ProcessExecutor untold(shell("[ $# = 0 ] && echo '" + ready_line() + "'; read line"));
  EXPECT_TRUE(start_on(untold, Allocator::kMlx));
  ProcessExecutor deaf(shell("echo '" + ready_line() + "'; read line"));
  const auto refused = start_on(deaf, Allocator::kWeir);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("runs on the allocator mlx, asked for weir"));
}

TEST(ProcessExecutor, AWorkerOfTheFirstProtocolServesMlx) {
  ProcessExecutor old(shell("echo '" + ready_line(1) + "'; read line"));
  EXPECT_TRUE(start_on(old, Allocator::kMlx));
  const auto refused = start_on(old, Allocator::kWeir);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment);
}

TEST(ProcessExecutor, ErrorRepliesKeepKindAndText) {
  const std::string error = to_line(WorkerEvent(ErrorEvent{ErrorKind::kNoRoom, "no memory left"}));
  ProcessExecutor executor(shell("echo '" + ready_line() + "'; read line; echo '" + error + "'; read line"));
  auto worker = executor.start(Allocator::kMlx);
  ASSERT_TRUE(worker);
  const auto reply = ask_measure(**worker, false);
  EXPECT_EQ(reply.error().kind, ErrorKind::kNoRoom);
  EXPECT_EQ(reply.error().message, "no memory left");
}

TEST(ProcessExecutor, PassesOnlyWhatAWorkerNeeds) {
  const auto environment =
      worker_environment({"PATH=/bin", "WEIR_CACHE_LIMIT=1", "OLLAMA_MLX_CACHE_LIMIT=2", "SECRET=x",
                          "WEIR_AGENT=v2 allocator=weir", "WEIR_STATE_DIR=/s"},
                         2);
  EXPECT_THAT(environment, testing::UnorderedElementsAre("PATH=/bin", "WEIR_STATE_DIR=/s",
                                                         "OPENBLAS_NUM_THREADS=2", "LC_ALL=C"));
}

TEST(ProcessExecutor, PinsTheWorkerAndNotItself) {
  const auto before = allowed_cpus();
  ASSERT_FALSE(before.empty());
  WorkerSpec spec = shell("echo '" + ready_line() + "'; read line; exit $(nproc)");
  spec.cpus = {before[0]};
  ProcessExecutor executor(spec);
  auto worker = executor.start(Allocator::kMlx);
  ASSERT_TRUE(worker) << describe(worker.error());
  EXPECT_THAT(ask_measure(**worker, true).error().message, HasSubstr("with code 1"));
  EXPECT_EQ(allowed_cpus(), before);
}

}  // namespace
}  // namespace weir::lab
