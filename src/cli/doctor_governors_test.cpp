#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "cli/healthy_facts.h"
#include "wire/agent_settings.h"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kAgent = "/usr/lib/libweir_agent.so";

TEST(DoctorGovernors, FindsAnotherAllocatorInFront) {
  DoctorFacts facts = healthy_facts();
  facts.variables = {{"LD_PRELOAD", "libopenblas.so.0:/usr/lib/libjemalloc.so.2"}};
  EXPECT_EQ(ids(facts), "other-allocator");
  EXPECT_THAT(finding(facts, "other-allocator").what, HasSubstr("LD_PRELOAD puts jemalloc"));
  facts.variables.clear();
  facts.neighbours.preloaded = {"/usr/lib/libtcmalloc_minimal.so.4"};
  EXPECT_THAT(finding(facts, "other-allocator").what, HasSubstr("/etc/ld.so.preload puts tcmalloc"));
}

TEST(DoctorGovernors, TuningsOfAnAbsentAllocatorGetANote) {
  DoctorFacts facts = healthy_facts();
  facts.variables = {{"MALLOC_CONF", "dirty_decay_ms:0"}};
  EXPECT_EQ(ids(facts), "tuned-allocator");
  facts.variables.emplace("LD_PRELOAD", "libjemalloc.so.2");
  EXPECT_EQ(ids(facts), "other-allocator") << "it is there to read them";
}

TEST(DoctorGovernors, TuningsOfTheCHeapGetANote) {
  DoctorFacts facts = healthy_facts();
  facts.variables = {{"MALLOC_ARENA_MAX", "1"}, {"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"}};
  EXPECT_EQ(ids(facts), "tuned-heap tuned-heap");
  facts.variables = {{"GLIBC_TUNABLES", "glibc.pthread.rseq=0"}};
  EXPECT_EQ(ids(facts), "");
}

TEST(DoctorGovernors, VariablesThatMlxReadsGetANote) {
  DoctorFacts facts = healthy_facts();
  facts.variables = {{"MLX_BFS_MAX_WIDTH", "1"}, {"MLX_ENABLE_TF32", "1"}};
  EXPECT_EQ(ids(facts), "mlx-variable");
}

TEST(DoctorGovernors, SaysThatItStandsInsideARun) {
  DoctorFacts facts = healthy_facts();
  wire::AgentSettings settings;
  settings.run = 4711;
  settings.cache_unset = false;
  settings.cache_limit = 67'108'864;
  char text[wire::kSettingsTextBytes];
  wire::print_settings(settings, text);
  facts.variables = {{"WEIR_AGENT", text}, {"LD_PRELOAD", kAgent}};
  EXPECT_EQ(ids(facts), "inside-run");
  EXPECT_THAT(
      finding(facts, "inside-run").what,
      HasSubstr("(pid 4711) governs what is started here (cache limit 67,108,864 bytes, memory limit none)"));
}

TEST(DoctorGovernors, FindsWhatNoRunHasSet) {
  DoctorFacts facts = healthy_facts();
  facts.variables = {{"WEIR_AGENT", "v0 whatever"}};
  EXPECT_EQ(ids(facts), "foreign-agent");
  facts.variables = {{"LD_PRELOAD", kAgent}};
  EXPECT_EQ(ids(facts), "stray-agent");
}

TEST(DoctorGovernors, FindsAProcessOfTwoRuns) {
  DoctorFacts facts = healthy_facts();
  facts.places.governed = {{.pid = 77, .command = "python3", .pages = 2}};
  EXPECT_EQ(ids(facts), "governed-twice");
  EXPECT_THAT(finding(facts, "governed-twice").what, HasSubstr("2 runs count python3 (pid 77)"));
}

TEST(DoctorGovernors, NamesWhoEndsProcesses) {
  DoctorFacts facts = healthy_facts();
  facts.neighbours.killers = {{512, "systemd-oomd"}};
  EXPECT_EQ(ids(facts), "killer-daemon");
  EXPECT_THAT(finding(facts, "killer-daemon").what, HasSubstr("systemd-oomd (pid 512)"));
}

TEST(Neighbours, AreReadFromAMadeUpTree) {
  const ScratchFolder tree;
  const auto write = [&](const fs::path& path, const std::string& text) {
    fs::create_directories((tree.path() / path).parent_path());
    std::ofstream(tree.path() / path) << text;
  };
  EXPECT_THAT(neighbours(tree.path()).killers, IsEmpty()) << "no /proc";
  write("proc/900/comm", "earlyoom\n");
  write("proc/12/comm", "systemd-oomd\n");
  write("proc/13/comm", "python3\n");
  write("proc/1x/comm", "earlyoom\n");
  fs::create_directories(tree.path() / "proc/14");
  write("etc/ld.so.preload", "/lib/a.so /lib/b.so # c.so\n\n/lib/d.so");
  const Neighbours found = neighbours(tree.path());
  ASSERT_EQ(found.killers.size(), 2u);
  EXPECT_EQ(found.killers[0].pid, 12);
  EXPECT_EQ(found.killers[1].name, "earlyoom");
  EXPECT_THAT(found.preloaded, ElementsAre("/lib/a.so", "/lib/b.so", "/lib/d.so"));
}

TEST(PreloadNames, AreSeparatedByColonsAndSpaces) {
  EXPECT_THAT(preload_names(" a.so::b.so c.so:", false), ElementsAre("a.so", "b.so", "c.so"));
  EXPECT_THAT(preload_names("a#b.so", false), ElementsAre("a#b.so")) << "no comments in a variable";
  EXPECT_THAT(preload_names("", true), IsEmpty());
}

TEST(AllocatorIn, LooksAtTheFileNameAlone) {
  EXPECT_EQ(allocator_in("/opt/jemalloc/libother.so"), "");
  EXPECT_EQ(allocator_in("libmimalloc-secure.so.2"), "mimalloc");
  EXPECT_EQ(allocator_in(""), "");
}

}  // namespace
}  // namespace weir::cli
