#include "govern/pool_allocator.h"

namespace weir::govern {

using mlx::core::allocator::Buffer;

Buffer PoolAllocator::malloc(std::size_t size) {
  void* const block = pool_.allocate(size);
  const std::uint64_t now = live();
  std::uint64_t peak = host_peak();
  while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return Buffer{block};
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
