#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lab/executor.h"

namespace weir::lab {

/// How workers are started.
struct WorkerSpec {
  /// {own_executable(), "worker", "smollm2"}, or any program of the protocol. `--allocator A` is added where
  /// A is not MLX's own.
  std::vector<std::string> argv;
  std::vector<int> cpus;  ///< Pins the worker; empty: wherever this process may run.
  int threads = 0;        ///< BLAS threads; 0: as many as it has CPUs.
  std::chrono::milliseconds ready_limit{120'000};
  std::chrono::milliseconds reply_limit{600'000};
};

/// CPUs that this process may run on, ascending.
[[nodiscard]] std::vector<int> allowed_cpus();

/// A clean environment: what a program needs to find its files (PATH, HOME, TMPDIR, LD_LIBRARY_PATH, XDG_*,
/// WEIR_* but no limit and no settings of a `weir run`), the BLAS threads, LC_ALL=C. Nothing else of ours
/// reaches a worker.
[[nodiscard]] std::vector<std::string> worker_environment(const std::vector<std::string>& ours, int threads);

/// Starts child processes. One thread at a time.
class ProcessExecutor final : public IExecutor {
 public:
  explicit ProcessExecutor(WorkerSpec spec) : spec_(std::move(spec)) {}
  [[nodiscard]] Result<std::unique_ptr<IWorker>> start(Allocator allocator) override;

 private:
  WorkerSpec spec_;
};

}  // namespace weir::lab
