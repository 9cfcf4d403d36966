#include "cli/allocator_flag.h"

#include "wire/agent_settings.h"

namespace weir::cli {

Flag allocator_flag(std::optional<std::string>& into) {
  return {"--allocator",
          "ALLOCATOR",
          "What answers MLX: its own (mlx), weir's pool under MLX's rule (mlx-policy) or its own (weir)",
          &into,
          {"mlx", "mlx-policy", "weir"}};
}

wire::Allocator named_allocator(const std::optional<std::string>& flag, wire::Allocator absent) {
  wire::Allocator allocator = absent;
  if (flag) (void)wire::allocator_of_name(flag->data(), flag->size(), allocator);
  return allocator;
}

const limits::BackendRules& rules_of(wire::Allocator allocator) noexcept {
  if (allocator == wire::Allocator::kMlx) return limits::mlx_cpu_rules();
  return allocator == wire::Allocator::kMlxPolicy ? limits::mlx_policy_rules() : limits::weir_pool_rules();
}

}  // namespace weir::cli
