#include "cli/limit_flags.h"

#include "base/file.h"
#include "ledger/machine_memory.h"
#include "limits/config_file.h"

namespace weir::cli {
namespace {

Result<std::int64_t> file_bytes(const std::filesystem::path& path) {
  const auto file = ReadOnlyFile::open(path);
  if (!file) return tl::unexpected(file.error());
  return static_cast<std::int64_t>(file->size_bytes());
}

}  // namespace

std::vector<Flag> limit_flags(LimitFlags& into) {
  return {
      {"--cache-limit", "SIZE",
       "Bound on freed buffers kept for reuse: 512MiB, 1.5GB, 10%free, 0, unset, unlimited, auto",
       &into.cache_limit},
      {"--memory-limit", "SIZE",
       "Bound on live and retained bytes together: 8GiB, 50%total, unset, unlimited", &into.memory_limit},
  };
}

limits::Inputs limit_inputs(const LimitFlags& flags, const std::optional<std::filesystem::path>& model_file) {
  limits::Inputs inputs;
  inputs.cache_limit_flag = flags.cache_limit;
  inputs.memory_limit_flag = flags.memory_limit;
  inputs.variables = limits::own_variables();
  inputs.config = limits::config_path(inputs.variables);
  inputs.denominators.free = [] {
    return ledger::machine_memory().map(
        [](const ledger::MachineMemory& memory) { return memory.free_bytes(); });
  };
  inputs.denominators.total = [] {
    return ledger::machine_memory().map(
        [](const ledger::MachineMemory& memory) { return memory.total_bytes; });
  };
  if (model_file) inputs.denominators.model = [path = *model_file] { return file_bytes(path); };
  return inputs;
}

void note_limits(const Invocation& invocation, const limits::Resolved& resolved) {
  note(invocation, "cache limit " + limits::echo(resolved.cache_limit));
  note(invocation, "memory limit " + limits::echo(resolved.memory_limit));
  note_warnings(invocation, resolved.warnings);
}

void note_warnings(const Invocation& invocation, const std::vector<limits::Warning>& warnings) {
  for (const limits::Warning& warning : warnings)
    note(invocation, "warning: " + warning.name + ": " + warning.what);
}

}  // namespace weir::cli
