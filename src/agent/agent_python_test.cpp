// MLX for Python under the agent, where libmlx is loaded privately by an extension module.

#include <algorithm>

#include <gmock/gmock.h>

#include "agent/governed_run.h"

namespace weir::agent {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class AgentPython : public GovernedRun {
 protected:
  void SetUp() override {
    GovernedRun::SetUp();
    const auto python = python_with_mlx();
    if (!python) GTEST_SKIP() << "MLX for Python is not in .venv: run scripts/setup --tests";
    python_ = *python;
  }
  std::string python_;
};

TEST_F(AgentPython, IsGoverned) {
  const std::string script = write_script("plain.py", R"(
import mlx.core as mx
held = mx.ones((1000, 1000))
mx.eval(held)
print(mx.sum(held @ mx.ones((1000, 10))).item(), mx.get_active_memory() >= 4000000)
)");
  const Ran plain = run_child({python_, script}, {}), ran = run({python_, script});
  EXPECT_EQ(ran.out, "10000000.0 True\n");
  EXPECT_EQ(ran.out, plain.out);
  EXPECT_EQ(ran.err, "");
  ASSERT_THAT(pages(), SizeIs(1));
  EXPECT_THAT(pages()[0].library, HasSubstr("mlx/lib/libmlx.so"));
  EXPECT_EQ(pages()[0].allocator, wire::Allocator::kWeir);
  EXPECT_GE(pages()[0].live_peak, 4000000);
}

TEST_F(AgentPython, ShowsItsLivePageWhileItRuns) {
  const std::string script = write_script("looks.py", R"(
import mlx.core as mx, os, pathlib, struct
held = mx.ones((1000, 1000))
mx.eval(held)
page = next(pathlib.Path(os.environ["WEIR_AGENT_PAGES"]).glob(f"*-{os.getpid()}.page")).read_bytes()
print(page[:7] == b"WEIRPG1", struct.unpack_from("<I", page, 12)[0])
)");
  const Ran ran = run({python_, script});
  EXPECT_EQ(ran.out, "True 1\n") << ran.err;
}

TEST_F(AgentPython, EveryAllocatorGivesTheSameNumbers) {
  const std::string script = write_script("numbers.py", R"(
import mlx.core as mx
mx.random.seed(7)
a = mx.random.normal((300, 300))
for _ in range(20):
    a = mx.tanh(a @ a.T / 17 + mx.sin(a))
print(a.sum().item(), mx.linalg.svd(a[:20, :20], stream=mx.cpu)[1].tolist()[:3])
)");
  const Ran plain = run_child({python_, script}, {});
  for (const auto allocator : {wire::Allocator::kMlx, wire::Allocator::kMlxPolicy, wire::Allocator::kWeir}) {
    wire::AgentSettings settings = GovernedRun::settings();
    settings.allocator = allocator;
    const Ran ran = run({python_, script}, settings);
    EXPECT_EQ(ran.out, plain.out) << wire::allocator_name(allocator);
    EXPECT_EQ(ran.err, "") << wire::allocator_name(allocator);
  }
  EXPECT_THAT(pages(), SizeIs(3));
}

constexpr const char* kPools = R"(
import multiprocessing, os

def work(side):
    import mlx.core as mx
    return os.getpid(), mx.sum(mx.ones((side, side))).item()

if __name__ == "__main__":
    for method in ("fork", "spawn"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            done = pool.map(work, [100, 200, 300], chunksize=1)
            pool.close()
            pool.join()
        print(method, [value for _, value in done])
        for pid in {pid for pid, _ in done}:
            print("worked", pid)
)";

std::vector<std::string> lines_after(const std::string& text, const std::string& word) {
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    at += word.size();
    found.push_back(text.substr(at, text.find('\n', at) - at));
  }
  return found;
}

TEST_F(AgentPython, ChildrenByForkAndBySpawnHavePagesOfTheirOwn) {
  const Ran ran = run({python_, write_script("pools.py", kPools)});
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(ran.out, HasSubstr("fork [10000.0, 40000.0, 90000.0]\n"));
  EXPECT_THAT(ran.out, HasSubstr("spawn [10000.0, 40000.0, 90000.0]\n"));
  const auto all = pages();
  for (const std::string& pid : lines_after(ran.out, "worked ")) {
    const auto page =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return std::to_string(one.pid) == pid; });
    ASSERT_NE(page, all.end()) << pid;
    EXPECT_GT(page->allocations, 0u) << pid;
  }
}

TEST_F(AgentPython, WithoutChildrenOnlySpawnedOnesGoUngoverned) {
  wire::AgentSettings alone = settings();
  alone.children = false;
  const std::string script = write_script("spawns.py", R"(
import os, subprocess, sys
import mlx.core as mx
print(mx.sum(mx.ones((100, 100))).item(), flush=True)
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"], check=True)
)");
  const Ran ran = run({python_, script}, alone);
  EXPECT_EQ(ran.out, "10000.0\n10000.0\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_THAT(pages(), SizeIs(1));
  EXPECT_EQ(run({python_, script}).out, "10000.0\n10000.0\n");
  EXPECT_THAT(pages(), SizeIs(3));
}

TEST_F(AgentPython, AForkOfAGovernedProcessCountsForItself) {
  const std::string script = write_script("fork.py", R"(
import os
import mlx.core as mx
held = mx.array(list(range(1000)))
child = os.fork()
more = mx.array(list(range(2000)))
assert more.tolist()[1999] == 1999 and held.tolist()[999] == 999
if child:
    print(os.waitpid(child, 0)[1])
else:
    os._exit(0)
)");
  const Ran ran = run({python_, script});
  EXPECT_EQ(ran.out, "0\n") << ran.err;
  EXPECT_EQ(ran.err, "");
  const auto both = pages();
  ASSERT_THAT(both, SizeIs(2));
  EXPECT_EQ(both[0].forks + both[1].forks, 1u);
  EXPECT_THAT(both, Each(Field(&ledger::PageReading::allocations, Gt(0u))));
}

TEST_F(AgentPython, AProgramExecutedInItsPlaceIsGoverned) {
  const std::string script = write_script("exec.py", R"(
import os, sys
import mlx.core as mx
print(mx.sum(mx.ones((100, 100))).item(), flush=True)
if len(sys.argv) == 1:
    os.execv(sys.executable, [sys.executable, __file__, "again"])
)");
  const Ran ran = run({python_, script});
  EXPECT_EQ(ran.out, "10000.0\n10000.0\n");
  EXPECT_EQ(ran.err, "");
  ASSERT_THAT(pages(), SizeIs(1));
}

}  // namespace
}  // namespace weir::agent
