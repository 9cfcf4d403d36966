#include "cli/loaded_model.h"

#include <fmt/format.h>
#include <mlx/version.h>

#include "base/byte_text.h"
#include "govern/blas.h"
#include "govern/blas_kernel.h"
#include "llm/models.h"

namespace weir::cli {

namespace {

std::string limit_text(const std::optional<std::int64_t>& bytes) {
  return bytes ? exact_bytes(*bytes) : "unlimited";
}

}  // namespace

std::string library_name() {
  return std::string("mlx ") + mlx::core::version();
}

std::string blas_name() {
  const govern::BlasIdentity blas = govern::blas_identity();
  return fmt::format("{}, {} threads", blas.name, govern::blas_threads());
}

Result<LoadedModel> load_model(const Invocation& invocation, const std::string& name_or_path) {
  auto path = llm::find_model(name_or_path);
  if (!path) return tl::unexpected(path.error());
  note(invocation, fmt::format("{} · BLAS {}", library_name(), blas_name()));
  if (govern::blas_identity().reference)
    note(invocation,
         "warning: reference BLAS answers MLX's products, some fifty times slower than OpenBLAS; "
         "see weir doctor");
  LoadedModel model{std::move(*path), std::make_unique<govern::Governor>(govern::mlx_memory()), nullptr};
  auto engine = llm::Engine::load(model.path, *model.governor);
  if (!engine) return tl::unexpected(engine.error());
  model.engine = std::move(*engine);
  return model;
}

void apply_limits(const Invocation& invocation, govern::Governor& governor, const limits::Resolved& limits) {
  const govern::LimitChange change = governor.set_cache_limit(limits.cache_limit);
  note(invocation, fmt::format("cache limit: previous {}, now {} ({}), trimmed {}",
                               limit_text(change.previous_bytes), limit_text(change.in_force_bytes),
                               limits.cache_limit.source, exact_bytes(change.trimmed_bytes)));
}

}  // namespace weir::cli
