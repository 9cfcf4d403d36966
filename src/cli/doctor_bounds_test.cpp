#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "cli/doctor_rules.h"
#include "cli/healthy_facts.h"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kGB = 1'000'000'000;

limits::Setting setting(std::int64_t bytes, const std::string& text, const std::string& denominator = "",
                        std::int64_t denominator_bytes = 0) {
  limits::Setting made;
  made.mode = limits::Mode::kBytes;
  made.bytes = bytes;
  made.text = text;
  made.denominator = denominator;
  if (!denominator.empty()) made.denominator_bytes = denominator_bytes;
  made.source = "WEIR_MEMORY_LIMIT";
  return made;
}

TEST(DoctorBounds, FindsACgroupBelowRam) {
  DoctorFacts facts = healthy_facts();
  facts.memory->cgroup_limit_bytes = 16 * kGB;
  EXPECT_EQ(ids(facts), "") << "a cgroup as large as RAM takes nothing away";
  facts.memory->cgroup_limit_bytes = 4 * kGB;
  facts.memory->cgroup_source = "/sys/fs/cgroup/memory.max";
  EXPECT_EQ(ids(facts), "cgroup-below-ram");
  const Finding found = finding(facts, "cgroup-below-ram");
  EXPECT_THAT(found.what, AllOf(HasSubstr("4,000,000,000 bytes of 16,000,000,000 bytes"),
                                HasSubstr("RAM (12,800,000,000 bytes)")));
  EXPECT_THAT(found.mend, HasSubstr("sudo tee /sys/fs/cgroup/memory.max"));
}

TEST(DoctorBounds, MendsACgroupByWhoMadeIt) {
  DoctorFacts facts = healthy_facts();
  facts.memory->cgroup_limit_bytes = 4 * kGB;
  facts.cgroup_name = ledger::name_cgroup("/docker/" + std::string(64, 'b'));
  EXPECT_THAT(finding(facts, "cgroup-below-ram").what,
              StartsWith("the cgroup of docker bbbbbbbbbbbb allows"));
  EXPECT_THAT(finding(facts, "cgroup-below-ram").mend, HasSubstr("docker update --memory SIZE bbbbbbbbbbbb"));
  facts.cgroup_name = ledger::name_cgroup("/system.slice/llm.service");
  EXPECT_THAT(finding(facts, "cgroup-below-ram").mend,
              HasSubstr("systemctl set-property llm.service MemoryMax=SIZE"));
  facts.cgroup_name = ledger::name_cgroup("/kubepods/pod1a");
  EXPECT_THAT(finding(facts, "cgroup-below-ram").mend, HasSubstr("resources.limits.memory"));
}

TEST(DoctorBounds, FindsHighBelowTheLimit) {
  DoctorFacts facts = healthy_facts();
  facts.cgroup.high_bytes = 3 * kGB;
  facts.cgroup.high_source = "/sys/fs/cgroup/memory.high";
  EXPECT_EQ(ids(facts), "cgroup-high");
  EXPECT_THAT(finding(facts, "cgroup-high").what, HasSubstr("3,000,000,000 bytes of 16,000,000,000 bytes"));
  facts.cgroup.limit_bytes = 2 * kGB;
  EXPECT_EQ(ids(facts), "") << "the limit comes first";
}

TEST(DoctorBounds, TellsWhatTheCgroupDidAlready) {
  DoctorFacts facts = healthy_facts();
  facts.cgroup.events = {0, 400, 0};
  EXPECT_EQ(ids(facts), "") << "a limit that made the kernel drop cached files is no fault";
  facts.cgroup.events = {12, 400, 2};
  facts.cgroup.source = "/sys/fs/cgroup/memory.max";
  EXPECT_EQ(ids(facts), "cgroup-killed cgroup-slowed");
  EXPECT_THAT(finding(facts, "cgroup-killed").what, HasSubstr("400 times, and 2 of its processes"));
  EXPECT_THAT(finding(facts, "cgroup-slowed").what, HasSubstr("slowed down 12 times"));
}

TEST(DoctorBounds, SaysWhereALimitCouldBeHidden) {
  DoctorFacts facts = healthy_facts();
  facts.cgroup_name.hidden = true;
  facts.cgroup_name.manager = "podman";
  EXPECT_EQ(ids(facts), "cgroup-hidden");
  EXPECT_EQ(finding(facts, "cgroup-hidden").severity, "note");
  facts.cgroup.limit_bytes = 4 * kGB;
  EXPECT_EQ(ids(facts), "") << "a limit is to be seen";
}

TEST(DoctorBounds, FindsResourceLimitsBelowRam) {
  DoctorFacts facts = healthy_facts();
  facts.settings.limits.address_space = 16 * kGB;
  EXPECT_EQ(ids(facts), "");
  facts.settings.limits.address_space = 5 * kGB;
  EXPECT_THAT(finding(facts, "rlimit-below-ram").what,
              AllOf(HasSubstr("RLIMIT_AS allows 5,000,000,000 bytes"), HasSubstr("64 MiB on demand")));
  EXPECT_THAT(finding(facts, "rlimit-below-ram").mend,
              AllOf(HasSubstr("ulimit -v unlimited"), HasSubstr("--memory-limit 4000000000")));
  facts.settings.limits.address_space.reset();
  facts.settings.limits.data = 5 * kGB;
  EXPECT_THAT(finding(facts, "rlimit-below-ram").what, HasSubstr("RLIMIT_DATA allows"));
}

TEST(DoctorBounds, TheSmallestBoundIsOneOfFour) {
  DoctorFacts facts = healthy_facts();
  EXPECT_EQ(smallest_bound(facts), std::nullopt);
  facts.memory->cgroup_limit_bytes = 9 * kGB;
  EXPECT_EQ(smallest_bound(facts)->bytes, 9 * kGB);
  facts.cgroup.high_bytes = 8 * kGB;
  EXPECT_EQ(smallest_bound(facts)->bytes, 8 * kGB);
  facts.settings.limits.address_space = 7 * kGB;
  EXPECT_EQ(smallest_bound(facts)->who, "RLIMIT_AS");
  facts.settings.limits.data = 6 * kGB;
  EXPECT_EQ(smallest_bound(facts)->who, "RLIMIT_DATA");
  facts.memory = fail(ErrorKind::kBadData, "/proc/meminfo", "unusable");
  EXPECT_EQ(ids(facts), "memory-unknown");
}

TEST(DoctorDenominators, APercentageOfRamHeedsNoCgroup) {
  DoctorFacts facts = healthy_facts();
  facts.limits->memory_limit = setting(8 * kGB, "50%total", "total", 16 * kGB);
  EXPECT_EQ(ids(facts), "") << "RAM is all there is";
  facts.settings.limits.address_space = 4 * kGB;
  const Finding found = finding(facts, "percent-of-ram");
  EXPECT_THAT(found.what, AllOf(HasSubstr("50%total (WEIR_MEMORY_LIMIT) is 8,000,000,000 bytes"),
                                HasSubstr("RLIMIT_AS allows 4,000,000,000 bytes")));
  EXPECT_THAT(found.mend, StartsWith("export WEIR_MEMORY_LIMIT=3433MiB"));
  EXPECT_EQ(finding(facts, "limit-above-bound").id, "") << "said once";
}

TEST(DoctorDenominators, APercentageOfFreeIsOfThisMoment) {
  DoctorFacts facts = healthy_facts();
  facts.limits->cache_limit = setting(800'000'000, "10%free", "free", 8 * kGB);
  EXPECT_EQ(ids(facts), "percent-of-free");
  EXPECT_THAT(finding(facts, "percent-of-free").what, HasSubstr("800,000,000 bytes of what is free"));
}

TEST(DoctorDenominators, APercentageOfTheModelIsRefusedByRun) {
  DoctorFacts facts = healthy_facts();
  facts.limits->cache_limit = setting(25, "25%model", "model", 100);
  facts.limits->cache_limit.source = "/home/u/.config/weir/config.toml:2";
  EXPECT_EQ(ids(facts), "percent-of-model");
  EXPECT_THAT(finding(facts, "percent-of-model").mend,
              StartsWith("write 25 in /home/u/.config/weir/config.toml:2"));
}

TEST(DoctorDenominators, FindsALimitAboveWhatIsAllowed) {
  DoctorFacts facts = healthy_facts();
  facts.limits->memory_limit = setting(8 * kGB, "8GB");
  EXPECT_EQ(ids(facts), "");
  facts.settings.limits.data = 4 * kGB;
  EXPECT_THAT(finding(facts, "limit-above-bound").what,
              AllOf(HasSubstr("memory limit 8,000,000,000 bytes"), HasSubstr("RLIMIT_DATA"),
                    HasSubstr("before the hard cap refuses")));
  facts.limits->memory_limit = setting(4 * kGB, "4GB");
  EXPECT_EQ(finding(facts, "limit-above-bound").id, "") << "as large as allowed is allowed";
}

TEST(DoctorDenominators, FindsTwoNamesThatDisagree) {
  DoctorFacts facts = healthy_facts();
  facts.variables = {{"WEIR_CACHE_LIMIT", "1GiB"}, {"OLLAMA_MLX_CACHE_LIMIT", "1GiB"}};
  EXPECT_EQ(ids(facts), "");
  facts.variables = {{"WEIR_CACHE_LIMIT", "1GiB"}, {"OLLAMA_MLX_CACHE_LIMIT", "2GiB"}};
  EXPECT_EQ(ids(facts), "two-names");
  facts.variables = {{"WEIR_MEMORY_LIMIT", "1GiB"}, {"OLLAMA_MLX_CACHE_LIMIT", "2GiB"}};
  EXPECT_EQ(ids(facts), "") << "two different limits";
}

/// From a made-up machine to the finding: the whole way that a container takes.
TEST(DoctorBounds, FindsTheBoundOfAMadeUpContainer) {
  const ScratchFolder tree;
  const auto write = [&](const fs::path& path, const std::string& text) {
    fs::create_directories((tree.path() / path).parent_path());
    std::ofstream(tree.path() / path) << text;
  };
  write("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 9000000 kB\n");
  write("proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "4000000000\n");
  write("sys/fs/cgroup/memory.current", "1000000000\n");
  write("sys/fs/cgroup/memory.events", "high 0\nmax 3\noom_kill 1\n");
  write(".dockerenv", "");
  DoctorFacts facts = healthy_facts();
  facts.memory = ledger::machine_memory(tree.path());
  facts.cgroup = ledger::own_cgroup_memory(tree.path());
  facts.cgroup_name = ledger::process_cgroup(0, tree.path());
  EXPECT_EQ(ids(facts), "cgroup-below-ram cgroup-killed");
  EXPECT_THAT(finding(facts, "cgroup-below-ram").what,
              StartsWith("the cgroup of docker allows 4,000,000,000"));
}

}  // namespace
}  // namespace weir::cli
