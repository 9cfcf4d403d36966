#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/subcommand.h"
#include "limits/resolve.h"

namespace weir::cli {

/// `--cache-limit` and `--memory-limit` as they were typed.
struct LimitFlags {
  std::optional<std::string> cache_limit;
  std::optional<std::string> memory_limit;
};

/// The two flags for a subcommand's table; `into` must live as long as the subcommand.
[[nodiscard]] std::vector<Flag> limit_flags(LimitFlags& into);

/// Everything that `limits::resolve` reads, taken from this process and machine: variables, config file, free
/// and total memory. `model_file` is what `%model` is of. `auto_answer` is left empty for the caller.
[[nodiscard]] limits::Inputs limit_inputs(const LimitFlags& flags,
                                          const std::optional<std::filesystem::path>& model_file);

/// Both limits with their exact bytes and sources, then each warning, as weir's own lines.
void note_limits(const Invocation& invocation, const limits::Resolved& resolved);
void note_warnings(const Invocation& invocation, const std::vector<limits::Warning>& warnings);

}  // namespace weir::cli
