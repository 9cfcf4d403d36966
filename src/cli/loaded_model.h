#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/subcommand.h"
#include "govern/governor.h"
#include "limits/setting.h"
#include "llm/engine.h"
#include "wire/counters_page.h"

namespace weir::cli {

/// A model, resident in this process, with the governor that owns its limits. Belongs to the thread that
/// loaded it.
struct LoadedModel {
  std::filesystem::path path;
  std::unique_ptr<govern::Governor> governor;
  std::unique_ptr<llm::Engine> engine;
};

/// What answers MLX in this process, and its hard cap, from before the first weight on.
struct ProcessLimits {
  wire::Allocator allocator = wire::Allocator::kMlx;
  limits::Setting memory_limit;
};

/// The allocator that a process gets which wants this one: a `weir run` around it decides.
[[nodiscard]] wire::Allocator allocator_here(wire::Allocator wanted);

/// Says which BLAS answers, governs this process, proves that MLX allocates accordingly, and loads the
/// weights. kNoRoom where the hard cap is too low for them. Once per process. The caller has chosen the
/// kernel (govern/blas_kernel.h).
[[nodiscard]] Result<LoadedModel> load_model(const Invocation& invocation, const std::string& name_or_path,
                                             const ProcessLimits& limits);

/// Sets the limits now that the weights are resident, and says previous value, new value and bytes trimmed.
void apply_limits(const Invocation& invocation, govern::Governor& governor, const limits::Resolved& limits);

/// "mlx 0.32.4".
[[nodiscard]] std::string library_name();
/// The BLAS that answers, with its kernel and threads, in one line.
[[nodiscard]] std::string blas_name();

}  // namespace weir::cli
