#include "limits/backend_rules.h"

namespace weir::limits {
namespace {

constexpr std::string_view kHardCap =
    "hard: an allocation that would pass it fails cleanly, and the process can go on";

constexpr std::string_view kDeviceCache =
    "bounds freed buffers kept for reuse; 0 keeps none; lowering it frees the surplus at MLX's next "
    "allocation";
constexpr std::string_view kDeviceMemory =
    "on this backend MLX's own memory limit refuses nothing: above it MLX drops freed buffers before it "
    "takes "
    "more, and makes eval wait";

// MLX 0.32.4. The memory limit's default is 0.8 of the host's RAM, whatever a cgroup says.
constexpr BackendRules kBackends[] = {
    {"mlx-cpu", "bounds freed buffers kept for reuse; 0 keeps none; lowering it frees the surplus at once",
     "on this backend MLX's own memory limit refuses nothing: it only makes eval wait", 33'554'432, 8, "",
     ""},
    {"mlx-policy",
     "bounds freed buffers kept for reuse, by MLX's own rule; 0 keeps none; lowering it frees the surplus at "
     "once",
     kHardCap, 33'554'432, std::nullopt, "", "no hard cap"},
    {"weir",
     "bounds free memory that stays backed; 0 returns it at once; lowering it returns the surplus at once",
     kHardCap, std::nullopt, std::nullopt, "follows demand", "no hard cap"},
    {"mlx-cuda", kDeviceCache, kDeviceMemory, std::nullopt, std::nullopt, "0.95 of the device's memory",
     "0.95 of the device's memory"},
    {"mlx-metal", kDeviceCache, kDeviceMemory, std::nullopt, std::nullopt, "MLX's memory limit",
     "1.5 of the recommended working set, at most 0.95 of the memory"},
};

}  // namespace

std::optional<std::int64_t> BackendRules::default_bytes(Knob knob,
                                                        std::optional<std::int64_t> total_bytes) const {
  if (knob == Knob::kCacheLimit) return default_cache_limit_bytes;
  if (!total_bytes || !default_memory_tenths) return std::nullopt;
  return *total_bytes / 10 * *default_memory_tenths + *total_bytes % 10 * *default_memory_tenths / 10;
}

std::span<const BackendRules> backend_rules() noexcept {
  return kBackends;
}

const BackendRules& mlx_cpu_rules() noexcept {
  return kBackends[0];
}

const BackendRules& mlx_policy_rules() noexcept {
  return kBackends[1];
}

const BackendRules& weir_pool_rules() noexcept {
  return kBackends[2];
}

const BackendRules& mlx_cuda_rules() noexcept {
  return kBackends[3];
}

const BackendRules& mlx_metal_rules() noexcept {
  return kBackends[4];
}

}  // namespace weir::limits
