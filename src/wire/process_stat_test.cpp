#include "wire/process_stat.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <string>

#include <gtest/gtest.h>

namespace weir::wire {
namespace {

bool parses(const std::string& text, ProcessStat& into) {
  return parse_process_stat(text.data(), text.size(), into);
}

const std::string kBetween = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18";

TEST(ProcessStat, ANameMayHoldSpacesAndBrackets) {
  for (const char* name : {"x", "", "a b", "a) R 9 (b", ")", "(()", "a)"}) {
    ProcessStat stat;
    ASSERT_TRUE(parses("4711 (" + std::string(name) + ") S" + kBetween + " 987654321 77 0\n", stat)) << name;
    EXPECT_EQ(stat.pid, 4711u);
    EXPECT_EQ(stat.state, 'S') << name;
    EXPECT_EQ(stat.start_ticks, 987654321u) << name;
    EXPECT_FALSE(stat.is_dead());
  }
}

TEST(ProcessStat, WhatIsNoneIsRefusedAndChangesNothing) {
  for (const std::string& text :
       {std::string(), std::string("4711"), std::string("4711 ("), std::string("4711 (x)"),
        std::string("4711 (x) "), std::string("4711 (x) S"), "4711 (x) S" + kBetween,
        "4711 (x) S" + kBetween + " ", "4711 (x) S" + kBetween + " -1 0", "x (x) S" + kBetween + " 5 0",
        "4711 [x] S" + kBetween + " 5 0", "99999999999 (x) S" + kBetween + " 5 0",
        "4711 (x) S" + kBetween + " 99999999999999999999999 0"}) {
    ProcessStat stat;
    EXPECT_FALSE(parses(text, stat)) << text;
    EXPECT_EQ(stat.pid, 0u);
    EXPECT_EQ(stat.start_ticks, 0u);
  }
}

TEST(ProcessStat, SelfIsThisProcess) {
  ProcessStat self, by_number;
  ASSERT_TRUE(read_process_stat(0, self));
  ASSERT_TRUE(read_process_stat(::getpid(), by_number));
  EXPECT_EQ(self.pid, static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(self.start_ticks, by_number.start_ticks);
  EXPECT_GT(self.start_ticks, 0u);
}

TEST(ProcessStat, AnUnreapedChildIsDeadAndAReapedOneIsGone) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  ProcessStat stat;
  ASSERT_TRUE(read_process_stat(child, stat));
  EXPECT_TRUE(stat.is_dead());
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(read_process_stat(child, stat));
}

}  // namespace
}  // namespace weir::wire
