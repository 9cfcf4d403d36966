#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/subcommand.h"

namespace weir::cli {

/// The completion script of one shell ("bash", "zsh", "fish"), written from the table that also parses and
/// prints help; hidden subcommands stay out. Another shell is kUsage.
[[nodiscard]] Result<std::string> completion_script(std::string_view shell,
                                                    const std::vector<Subcommand>& table);

/// `weir completion SHELL`. `table` is asked when the subcommand runs, because it holds this one too.
[[nodiscard]] Subcommand completion_subcommand(std::function<std::vector<Subcommand>()> table);

}  // namespace weir::cli
