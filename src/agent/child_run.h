#pragma once

#include <string>
#include <vector>

namespace weir::agent {

/// How a program ended and what it wrote.
struct Ran {
  int code = -1;  ///< 128 + signal where one ended it.
  std::string out, err;
};

/// Runs `argv` to its end as a direct child, in our environment less WEIR_* and LD_PRELOAD, with `variables`
/// ("NAME=value") added. The test's own time limit is the only one.
[[nodiscard]] Ran run_child(const std::vector<std::string>& argv, const std::vector<std::string>& variables);

}  // namespace weir::agent
