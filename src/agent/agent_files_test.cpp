// What the two files show to the dynamic linker.

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/child_run.h"
#include "agent/recognition.h"

namespace weir::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;
using ::testing::UnorderedElementsAreArray;

constexpr const char* kShim = WEIR_BINARY_DIR "/lib/libweir_agent.so";
constexpr const char* kCore = WEIR_BINARY_DIR "/lib/libweir_core.so";

std::vector<std::string> exports(const char* file) {
  const Ran nm = run_child({"nm", "-D", "--defined-only", "--format=posix", file}, {});
  EXPECT_EQ(nm.code, 0) << nm.err;
  std::vector<std::string> names;
  std::istringstream lines(nm.out);
  for (std::string line; std::getline(lines, line);)
    names.push_back(line.substr(0, line.find(' ')));
  return names;
}

/// First groups of every match in what readelf prints.
std::set<std::string> found_by_readelf(const char* option, const char* file, const char* pattern) {
  const Ran readelf = run_child({"readelf", option, "--wide", file}, {"LC_ALL=C"});
  EXPECT_EQ(readelf.code, 0) << readelf.err;
  const std::regex matcher(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator match(readelf.out.begin(), readelf.out.end(), matcher), end; match != end;
       ++match)
    found.insert((*match)[1]);
  return found;
}

std::set<std::string> needed(const char* file) {
  return found_by_readelf("--dynamic", file, R"(\(NEEDED\)\s+Shared library: \[([^\]]+)\])");
}

int newest_glibc_minor(const char* file) {
  int newest = 0;
  for (const std::string& minor : found_by_readelf("--version-info", file, R"(GLIBC_2\.(\d+))"))
    newest = std::max(newest, std::stoi(minor));
  return newest;
}

TEST(AgentFiles, ShimExportsTheInterposedFunctionsAlone) {
  EXPECT_THAT(exports(kShim),
              UnorderedElementsAreArray(interposed_functions().begin(), interposed_functions().end()));
}

TEST(AgentFiles, ShimLinksTheCLibraryAlone) {
  EXPECT_THAT(needed(kShim), ElementsAre("libc.so.6"));
}

TEST(AgentFiles, CoreExportsItsEntriesAlone) {
  EXPECT_THAT(exports(kCore), UnorderedElementsAre("weir_agent_start", "weir_agent_stays"));
}

TEST(AgentFiles, CoreLinksTheLanguageLibrariesAlone) {
  const std::set<std::string> allowed = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6",
                                         "ld-linux-x86-64.so.2"};
  for (const std::string& library : needed(kCore))
    EXPECT_TRUE(allowed.contains(library)) << library;
  EXPECT_TRUE(needed(kCore).contains("libstdc++.so.6")) << "a private copy could not throw into the host";
}

TEST(AgentFiles, LoadWhereverTheWheelDoes) {
  EXPECT_LE(newest_glibc_minor(kShim), 35);
  EXPECT_LE(newest_glibc_minor(kCore), 35);
}

}  // namespace
}  // namespace weir::agent
