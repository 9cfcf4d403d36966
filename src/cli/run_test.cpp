#include "cli/run.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "cli/elf_head.h"
#include "cli/run_attach.h"
#include "cli/run_settings.h"

namespace weir::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// An ELF file of one segment, as much of one as a loader looks at first.
template <class Header, class Segment>
std::string elf_file(unsigned char word_class, unsigned machine, const std::string& interpreter) {
  Header header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = word_class;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = static_cast<decltype(header.e_machine)>(machine);
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Segment);
  header.e_phnum = 1;
  Segment segment{};
  segment.p_type = interpreter.empty() ? PT_LOAD : PT_INTERP;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = interpreter.size() + 1;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return bytes + interpreter + '\0';
}

std::string elf64(unsigned machine, const std::string& interpreter) {
  return elf_file<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, machine, interpreter);
}

class RunAttach : public ::testing::Test {
 protected:
  void SetUp() override {
    variables_["PATH"] = folder_.string() + ":/usr/bin:/bin";
    self_ = read_elf_head("/proc/self/exe");
  }

  std::filesystem::path file(const char* name, const std::string& content, mode_t mode = 0755) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    ::chmod((folder_ / name).c_str(), mode);
    return folder_ / name;
  }
  std::string loaded(const std::string& word) const {
    const auto program = find_program(word, variables_);
    return program ? program->loaded.string() : "refused: " + describe(program.error());
  }
  std::string refusal(const std::string& word) const {
    const auto program = find_program(word, variables_);
    if (program) return "found";
    EXPECT_EQ(program.error().kind, ErrorKind::kEnvironment);
    return program.error().message;
  }
  static std::string obstacle(const std::filesystem::path& path) {
    const auto found = attach_obstacle(path);
    return found ? found->error.message : "";
  }

  ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
  limits::Variables variables_;
  ElfHead self_;
};

TEST_F(RunAttach, FindsAProgramAsTheShellDoes) {
  const auto own = file("tool", elf64(self_.machine, self_.interpreter));
  EXPECT_EQ(find_program("tool", variables_)->file, own);
  EXPECT_EQ(find_program(own.string(), variables_)->file, own);
  EXPECT_EQ(find_program("env", variables_)->file, "/usr/bin/env");
  file("env", "no program", 0644);
  EXPECT_EQ(find_program("env", variables_)->file, "/usr/bin/env") << "what is not executable is passed over";
}

TEST_F(RunAttach, SaysWhatKeepsAProgramFromStarting) {
  EXPECT_THAT(refusal("no-such-tool"), HasSubstr("no program of this name in any folder of PATH"));
  EXPECT_THAT(refusal("/no/such/tool"), HasSubstr("No such file"));
  EXPECT_THAT(refusal(""), HasSubstr("empty word"));
  EXPECT_THAT(refusal(folder_.string() + "/"), HasSubstr("a folder"));
  const auto plain = file("plain", "x", 0644);
  EXPECT_THAT(refusal(plain.string()), HasSubstr("not executable; chmod +x"));
  EXPECT_THAT(refusal("plain"), HasSubstr("not executable; chmod +x"));
  EXPECT_THAT(refusal(file("odd", "#!/no/such/interpreter -x\n").string()),
              HasSubstr("its first line names \"/no/such/interpreter\""));
  file("loop", "#!" + folder_.string() + "/loop\n");
  EXPECT_THAT(refusal("loop"), HasSubstr("too deep"));
}

TEST_F(RunAttach, FollowsAScriptToWhatIsLoaded) {
  const auto tool = file("tool", elf64(self_.machine, self_.interpreter));
  const std::string path = tool.string();
  file("direct", "#!" + path + " -u\nprint()\n");
  file("spaced", "#! \t" + path + "\n");
  file("by_env", "#!/usr/bin/env tool\n");
  file("by_env_with_words", "#!/usr/bin/env -S A=1 tool -u\n");
  file("twice", "#!" + folder_.string() + "/direct\n");
  for (const char* script : {"direct", "spaced", "by_env", "by_env_with_words", "twice"})
    EXPECT_EQ(loaded(script), tool) << script;
  EXPECT_EQ(loaded(file("no_line", "echo hi\n").string()), "/bin/sh") << "as execvp does";
  EXPECT_EQ(loaded(file("empty", "").string()), "/bin/sh");
}

TEST_F(RunAttach, RefusesWhatTheDynamicLinkerWouldNotPreloadInto) {
  EXPECT_EQ(obstacle("/proc/self/exe"), "");
  EXPECT_EQ(obstacle(file("fine", elf64(self_.machine, self_.interpreter))), "");
  EXPECT_THAT(obstacle(file("static", elf64(self_.machine, ""))), HasSubstr("linked statically"));
  EXPECT_THAT(obstacle(file("other", elf64(EM_S390, self_.interpreter))), HasSubstr("another machine"));
  EXPECT_THAT(
      obstacle(file("small", elf_file<Elf32_Ehdr, Elf32_Phdr>(ELFCLASS32, EM_386, "/lib/ld-linux.so.2"))),
      HasSubstr("a 32-bit program"));
  EXPECT_THAT(obstacle(file("musl", elf64(self_.machine, "/lib/ld-musl-x86_64.so.1"))),
              HasSubstr("another C library (/lib/ld-musl-x86_64.so.1)"));
  EXPECT_THAT(obstacle(file("text", "hello")), HasSubstr("no ELF program"));
  EXPECT_THAT(obstacle(file("static", elf64(self_.machine, ""))), HasSubstr("--best-effort"));
}

TEST_F(RunAttach, KnowsWhetherWhatAProgramStartsCouldStillBeGoverned) {
  EXPECT_TRUE(attach_obstacle(file("static", elf64(self_.machine, "")))->children_attach);
  EXPECT_FALSE(attach_obstacle(file("other", elf64(EM_S390, self_.interpreter)))->children_attach);
}

TEST_F(RunAttach, RefusesAProgramThatBecomesSomebodyElse) {
  const auto own = file("own", elf64(self_.machine, self_.interpreter), 04755);
  EXPECT_EQ(obstacle(own), "") << "set-user-ID to whoever runs it changes nothing";
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(own.c_str(), 1, 0), 0);
  ::chmod(own.c_str(), 04755);
  EXPECT_THAT(obstacle(own), HasSubstr("set-user-ID"));
  ASSERT_EQ(::chown(own.c_str(), 0, 1), 0);
  ::chmod(own.c_str(), 02755);
  EXPECT_THAT(obstacle(own), HasSubstr("set-group-ID"));
  ::chmod(own.c_str(), 02744);
  EXPECT_EQ(obstacle(own), "") << "without the execute bit the kernel ignores it";
}

TEST_F(RunAttach, FindsTheAgentBesideTheExecutable) {
  std::filesystem::create_directories(folder_ / "bin");
  std::filesystem::create_directories(folder_ / "lib");
  EXPECT_THAT(agent_library(folder_ / "bin/weir").error().message, HasSubstr("agent is missing"));
  std::ofstream(folder_ / "lib/libweir_agent.so") << "x";
  EXPECT_EQ(agent_library(folder_ / "bin/weir").value(), folder_ / "lib/libweir_agent.so");
  for (const char* odd : {"a b", "a:b", "a$LIB"}) {
    std::filesystem::create_directories(folder_ / odd / "lib");
    std::ofstream(folder_ / odd / "lib/libweir_agent.so") << "x";
    EXPECT_THAT(agent_library(folder_ / odd / "bin/weir").error().message, HasSubstr("LD_PRELOAD cannot"));
  }
}

TEST(ElfHead, HoldsAgainstAnyCut) {
  const std::string whole = elf64(EM_X86_64, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_EQ(parse_elf_head(whole).interpreter, "/lib64/ld-linux-x86-64.so.2");
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_EQ(parse_elf_head(whole.substr(0, length)).is_elf, length >= EI_NIDENT) << length;
  std::string far = whole;
  std::memset(far.data() + offsetof(Elf64_Ehdr, e_phoff), 0xff, sizeof(Elf64_Off));
  EXPECT_EQ(parse_elf_head(far).interpreter, "");
  far = whole;
  std::memset(far.data() + sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_offset), 0xff, sizeof(Elf64_Off));
  EXPECT_EQ(parse_elf_head(far).interpreter, "");
}

TEST(ChildEnvironment, TellsTheChildAndLeavesTheRestAlone) {
  AgentEnvironment agent;
  agent.settings.run = 7;
  agent.pages = "/run/pages";
  agent.agent = "/opt/lib/libweir_agent.so";
  const auto environment =
      child_environment({"A=1", "WEIR_AGENT=old", "odd", "LD_PRELOAD=/x.so /opt/lib/libweir_agent.so:/y.so",
                         "A=2", "WEIR_AGENT_PAGES=/old", "WEIR_AGENTS=kept", "LD_PRELOAD=/second.so"},
                        agent);
  EXPECT_THAT(
      environment,
      ElementsAre("A=1", "odd", "A=2", "WEIR_AGENTS=kept", "LD_PRELOAD=/opt/lib/libweir_agent.so:/x.so:/y.so",
                  "WEIR_AGENT=v2 allocator=weir cache=unset memory=none host_clear=age enforce=0 "
                  "children=1 huge_pages=1 trim_at=0 idle=0 run=7",
                  "WEIR_AGENT_PAGES=/run/pages"));
}

TEST(ChildEnvironment, IsOnlyCleanedWhereThereIsNoAgent) {
  EXPECT_THAT(child_environment({"A=1", "WEIR_AGENT=old", "LD_PRELOAD=/x.so"}, {}),
              ElementsAre("A=1", "LD_PRELOAD=/x.so"));
}

class AgentSettingsTest : public ::testing::Test {
 protected:
  Result<wire::AgentSettings> settings() {
    limits::Inputs inputs;
    inputs.backend = &rules_of(allocator_of(flags_));
    inputs.cache_limit_flag = cache_;
    inputs.memory_limit_flag = memory_;
    inputs.auto_answer = [] { return limits::AutoAnswer{limits::Mode::kUnset, std::nullopt, "no model"}; };
    const auto resolved = limits::resolve(inputs);
    if (!resolved) return tl::unexpected(resolved.error());
    return agent_settings(flags_, *resolved, 5);
  }

  GovernFlags flags_;
  std::optional<std::string> cache_, memory_;
};

TEST_F(AgentSettingsTest, AreTheDefaultsWhereNobodyAsks) {
  wire::AgentSettings expected;
  expected.run = 5;
  expected.trim_at = wire::kTrimAtPressure;
  expected.idle_ms = 30'000;
  EXPECT_EQ(settings().value(), expected);
}

TEST_F(AgentSettingsTest, HoldIntegers) {
  cache_ = "64MiB";
  memory_ = "1GiB";
  flags_ = {"mlx-policy", "honour", "no", "off", "request,idle=2.5", true};
  const auto got = settings().value();
  EXPECT_EQ(got.allocator, wire::Allocator::kMlxPolicy);
  EXPECT_FALSE(got.cache_unset);
  EXPECT_EQ(got.cache_limit, 67'108'864u);
  EXPECT_EQ(got.memory_limit, 1'073'741'824u);
  EXPECT_EQ(got.host_clear, wire::HostClear::kHonour);
  EXPECT_TRUE(got.enforce);
  EXPECT_FALSE(got.children);
  EXPECT_FALSE(got.huge_pages);
  EXPECT_EQ(got.trim_at, wire::kTrimAtRequest);
  EXPECT_EQ(got.idle_ms, 2'500u);
}

TEST_F(AgentSettingsTest, RefuseBoundariesThatMlxCannotKeep) {
  flags_.allocator = "mlx";
  EXPECT_EQ(settings()->idle_ms, 0u);
  EXPECT_EQ(settings()->trim_at, 0u);
  flags_.trim_at = "none";
  EXPECT_TRUE(settings());
  flags_.trim_at = "idle=5";
  EXPECT_EQ(settings().error().kind, ErrorKind::kUsage);
  EXPECT_EQ(settings().error().where, "--trim-at");
}

TEST_F(AgentSettingsTest, TellUnsetFromUnlimitedAndFromAutoWithoutAnAnswer) {
  cache_ = "unlimited";
  EXPECT_FALSE(settings()->cache_unset);
  EXPECT_EQ(settings()->cache_limit, wire::kNoLimit);
  cache_ = "auto";
  EXPECT_TRUE(settings()->cache_unset) << "auto behaves as unset, and on the pool that is no number";
  flags_.allocator = "mlx";
  EXPECT_EQ(settings()->cache_limit, 33'554'432u);
  cache_ = "0";
  EXPECT_EQ(settings()->cache_limit, 0u);
}

TEST_F(AgentSettingsTest, RefuseAMemoryLimitThatMlxWouldNotKeep) {
  flags_.allocator = "mlx";
  memory_ = "unlimited";
  EXPECT_TRUE(settings());
  memory_ = "1GiB";
  EXPECT_EQ(settings().error().kind, ErrorKind::kUsage);
  EXPECT_EQ(settings().error().where, "--memory-limit");
  EXPECT_THAT(settings().error().message, HasSubstr("--allocator weir"));
}

TEST(NestedSettings, TakeTheSmallerLimitsAndJoinTheRun) {
  wire::AgentSettings outer;
  outer.run = 3;
  outer.cache_unset = false;
  outer.cache_limit = 100;
  outer.memory_limit = 1000;
  outer.children = false;
  wire::AgentSettings own;
  own.run = 9;
  own.enforce = true;
  const auto nested = nested_settings(own, outer, false).value();
  EXPECT_EQ(nested.run, 3u);
  EXPECT_EQ(nested.cache_limit, 100u);
  EXPECT_FALSE(nested.cache_unset);
  EXPECT_EQ(nested.memory_limit, 1000u);
  EXPECT_TRUE(nested.enforce);
  EXPECT_FALSE(nested.children);
  own.cache_unset = false;
  own.cache_limit = 50;
  EXPECT_EQ(nested_settings(own, outer, false)->cache_limit, 50u);
  outer.idle_ms = 9;
  own.trim_at = wire::kTrimAtPhase;
  EXPECT_EQ(nested_settings(own, outer, false)->idle_ms, 9u);
  EXPECT_EQ(nested_settings(own, outer, false)->trim_at, 0u);
  EXPECT_EQ(nested_settings(own, outer, true)->trim_at, wire::kTrimAtPhase);
  own.allocator = wire::Allocator::kMlx;
  EXPECT_EQ(nested_settings(own, outer, false).error().kind, ErrorKind::kUsage);
  char text[wire::kSettingsTextBytes];
  (void)wire::print_settings(outer, text);
  EXPECT_EQ(surrounding_settings({{"WEIR_AGENT", text}}), outer);
  EXPECT_EQ(surrounding_settings({{"WEIR_AGENT", "v2 nonsense"}}), std::nullopt);
}

}  // namespace
}  // namespace weir::cli
