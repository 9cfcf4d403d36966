#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"
#include "limits/variables.h"

namespace weir::cli {

/// A program as the kernel will run it.
struct FoundProgram {
  std::filesystem::path file;    ///< What is executed.
  std::filesystem::path loaded;  ///< What the dynamic linker then loads: `file`, or a script's interpreter.
};

/// Looks `word` up as execvp does, in PATH of `variables`, and follows the first line of a script (also
/// through `env`, without its options). Not found, not executable, or no file is kEnvironment. Nothing runs.
[[nodiscard]] Result<FoundProgram> find_program(const std::string& word, const limits::Variables& variables);

/// Why a program would run without the agent, and whether what it starts could still be governed.
struct AttachObstacle {
  Error error;  ///< kEnvironment; names what mends it.
  bool children_attach = false;
};

/// Why the dynamic linker of `loaded` would not preload a library of ours: linked statically, set-user-ID or
/// set-group-ID to somebody else, file capabilities, another machine or word size, another C library.
/// nullopt: nothing speaks against it, or nobody can look into the file.
[[nodiscard]] std::optional<AttachObstacle> attach_obstacle(const std::filesystem::path& loaded);

/// The agent as installed beside the executable `self`: ../lib/libweir_agent.so. Absent is kEnvironment; so
/// is a path with a space, a colon or a dollar, which LD_PRELOAD cannot hold.
[[nodiscard]] Result<std::filesystem::path> agent_library(const std::filesystem::path& self);

}  // namespace weir::cli
