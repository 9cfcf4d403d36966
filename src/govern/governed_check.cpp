#include <mlx/array.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include "govern/own_process.h"
#include "govern/process_governor.h"
#include "pool/pool.h"

namespace weir::govern {

Result<void> require_governed() {
  namespace mx = mlx::core;
  // The first buffer starts the governing; the one of the sum is allocated inside libmlx.
  mx::array sum = mx::add(mx::array(1.0F), mx::array(2.0F));
  const pool::Pool* const pool = process_pool();
  const std::uint64_t before = pool == nullptr ? 0 : pool->counters().allocations;
  mx::eval(sum);
  if (!own_start_taken())
    return fail(ErrorKind::kInternal, "govern", "MLX does not ask this program for its allocator");
  if (process_settings() == nullptr)
    return fail(ErrorKind::kEnvironment, "govern", "what should answer MLX could not be had: see above");
  if (pool != nullptr && pool->counters().allocations == before)
    return fail(ErrorKind::kInternal, "govern", "MLX does not allocate through weir's pool");
  return {};
}

}  // namespace weir::govern
