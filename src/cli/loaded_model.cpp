#include "cli/loaded_model.h"

#include <fmt/format.h>
#include <mlx/version.h>

#include "base/byte_text.h"
#include "govern/blas.h"
#include "govern/blas_kernel.h"
#include "govern/own_process.h"
#include "llm/models.h"

namespace weir::cli {

namespace {

/// Without a number weir's own rule is all that bounds the pool.
std::string limit_text(const std::optional<std::int64_t>& bytes, wire::Allocator allocator) {
  if (bytes) return exact_bytes(*bytes);
  return allocator == wire::Allocator::kWeir ? "follows demand" : "unlimited";
}

/// Governs the process and makes the one who owns its limits from here on.
Result<std::unique_ptr<govern::Governor>> begin_governing(const Invocation& invocation,
                                                          const ProcessLimits& limits) {
  wire::AgentSettings settings;
  settings.allocator = limits.allocator;
  if (auto configured = govern::configure_process(settings, govern::own_pages_folder()); !configured)
    return tl::unexpected(configured.error());
  if (auto governed = govern::require_governed(); !governed) return tl::unexpected(governed.error());
  auto governor = govern::Governor::of_process();
  if (governor->allocator() != limits.allocator)
    note(invocation, fmt::format("allocator {}: the surrounding weir run decides",
                                 wire::allocator_name(governor->allocator())));
  const auto change = governor->set_memory_limit(limits.memory_limit);
  if (!change) return tl::unexpected(change.error());
  if (change->in_force_bytes)
    note(invocation, fmt::format("memory limit: {}, hard", exact_bytes(*change->in_force_bytes)));
  return governor;
}

}  // namespace

wire::Allocator allocator_here(wire::Allocator wanted) {
  const govern::OwnStart start = govern::own_start();
  return start.from_run ? start.settings.allocator : wanted;
}

std::string library_name() {
  return std::string("mlx ") + mlx::core::version();
}

std::string blas_name() {
  const govern::BlasIdentity blas = govern::blas_identity();
  return fmt::format("{}, {} threads", blas.name, govern::blas_threads());
}

Result<LoadedModel> load_model(const Invocation& invocation, const std::string& name_or_path,
                               const ProcessLimits& limits) {
  auto path = llm::find_model(name_or_path);
  if (!path) return tl::unexpected(path.error());
  note(invocation, fmt::format("{} · BLAS {}", library_name(), blas_name()));
  if (govern::blas_identity().reference)
    note(invocation,
         "warning: reference BLAS answers MLX's products, some fifty times slower than OpenBLAS; "
         "see weir doctor");
  auto governor = begin_governing(invocation, limits);
  if (!governor) return tl::unexpected(governor.error());
  LoadedModel model{std::move(*path), std::move(*governor), nullptr};
  auto engine = llm::Engine::load(model.path, *model.governor);
  if (!engine) return tl::unexpected(engine.error());
  model.engine = std::move(*engine);
  return model;
}

void apply_limits(const Invocation& invocation, govern::Governor& governor, const limits::Resolved& limits) {
  const govern::LimitChange change = governor.set_cache_limit(limits.cache_limit);
  note(invocation, fmt::format("cache limit: previous {}, now {} ({}), trimmed {}",
                               limit_text(change.previous_bytes, governor.allocator()),
                               limit_text(change.in_force_bytes, governor.allocator()),
                               limits.cache_limit.source, exact_bytes(change.trimmed_bytes)));
}

}  // namespace weir::cli
