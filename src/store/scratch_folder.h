#pragma once

#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <functional>

#include <gtest/gtest.h>

#include "base/scratch_folder.h"

namespace weir::store {

/// What a child answers when the machine does not permit the test.
inline constexpr int kNotPermitted = 77;

/// Runs `body` in a forked child and returns its exit code: the body's own, or 1 where an expectation failed
/// in it.
inline int in_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    const int code = body();
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace weir::store
