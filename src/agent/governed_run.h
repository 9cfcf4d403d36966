#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "agent/child_run.h"
#include "base/scratch_folder.h"
#include "ledger/governed_page.h"
#include "wire/agent_settings.h"

namespace weir::agent {

/// Runs programs under the agent as `weir run` would, with a folder of its own for their pages.
class GovernedRun : public testing::Test {
 protected:
  /// Settings of a run that this process started.
  [[nodiscard]] static wire::AgentSettings settings();
  [[nodiscard]] Ran run(const std::vector<std::string>& argv,
                        const wire::AgentSettings& settings = GovernedRun::settings()) const;
  /// With WEIR_AGENT as it stands; nullopt: absent.
  [[nodiscard]] Ran run_with_text(const std::vector<std::string>& argv,
                                  const std::optional<std::string>& text) const;
  /// The pages that the programs left, by process.
  [[nodiscard]] std::vector<ledger::PageReading> pages() const;
  /// A file in the folder of this test.
  [[nodiscard]] std::string write_script(const char* name, const char* text) const;

  ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

/// How many lines the program's stderr has that weir wrote.
[[nodiscard]] int weir_lines(const Ran& ran);

/// The Python that knows MLX; nullopt when the tests' packages are not installed.
[[nodiscard]] std::optional<std::string> python_with_mlx();

}  // namespace weir::agent
