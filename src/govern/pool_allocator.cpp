#include "govern/pool_allocator.h"

#include "govern/atomic_counters.h"
#include "pool/hard_cap.h"

namespace weir::govern {

using mlx::core::allocator::Buffer;

Buffer PoolAllocator::malloc(std::size_t size) {
  try {
    void* const block = pool_.allocate(size);
    raise(peak_, live());
    return Buffer{block};
  } catch (const pool::OverLimit& refused) {
    if (refused.refusal().memory_limit == pool::kUnlimited) raise(lacking_, size);
    throw;
  }
}

void PoolAllocator::free(Buffer buffer) {
  pool_.free(buffer.ptr());
}

std::size_t PoolAllocator::size(Buffer buffer) const {
  return pool_.capacity(buffer.ptr());
}

std::uint64_t PoolAllocator::live() const noexcept {
  return page_.load(std::memory_order_relaxed)->live.load(std::memory_order_relaxed);
}

}  // namespace weir::govern
