#include "govern/mlx_memory.h"

#include <mlx/memory.h>

namespace weir::govern {

namespace {

class LinkedMlxMemory final : public IMlxMemory {
 public:
  std::uint64_t set_cache_limit(std::uint64_t bytes) override { return mlx::core::set_cache_limit(bytes); }
  void clear_cache() override { mlx::core::clear_cache(); }
  void reset_peak() override { mlx::core::reset_peak_memory(); }
  std::uint64_t active_bytes() override { return mlx::core::get_active_memory(); }
  std::uint64_t cache_bytes() override { return mlx::core::get_cache_memory(); }
  std::uint64_t peak_bytes() override { return mlx::core::get_peak_memory(); }
};

}  // namespace

IMlxMemory& mlx_memory() {
  static LinkedMlxMemory memory;
  return memory;
}

}  // namespace weir::govern
