// A library in the shape of libmlx for tests: what it exports is set by definitions, what its functions
// answer shows whether the real ones were reached.

#include <cstddef>
#include <cstdio>

#define EXPORTED __attribute__((visibility("default"), noinline))

namespace mlx::core {
namespace allocator {

struct Buffer {
  void* ptr;
  EXPORTED void* raw_ptr();
};

// The layout of MLX's own class, so that a governed fake meets weir's allocator by the same calls.
struct Allocator {
  virtual Buffer malloc(std::size_t) { return {block_}; }
  virtual void free(Buffer) {}
  virtual std::size_t size(Buffer) const { return sizeof block_; }
  virtual Buffer make_buffer(void*, std::size_t) { return {nullptr}; }
  virtual void release(Buffer) {}
  virtual ~Allocator() = default;

 private:
  char block_[64] = {};
};

void* Buffer::raw_ptr() {
  return ptr == nullptr ? nullptr : static_cast<char*>(ptr) + 8;
}
EXPORTED Allocator& allocator() {
  static Allocator own;
  return own;
}

}  // namespace allocator

EXPORTED const char* version() {
  return FAKE_VERSION;
}
namespace metal {
EXPORTED bool is_available() {
  return false;
}
}  // namespace metal
namespace cu {
EXPORTED bool is_available() {
  return FAKE_GPU;
}
}  // namespace cu
namespace gpu {
EXPORTED bool is_available() {
  return FAKE_GPU;
}
}  // namespace gpu

EXPORTED std::size_t get_active_memory() {
  return 7001;
}
EXPORTED std::size_t get_peak_memory() {
  return 7002;
}
EXPORTED void reset_peak_memory() {}
EXPORTED std::size_t get_cache_memory() {
  return 7003;
}
EXPORTED std::size_t set_memory_limit(std::size_t) {
  return 7004;
}
EXPORTED std::size_t get_memory_limit() {
  return 7005;
}
EXPORTED std::size_t set_cache_limit(std::size_t) {
  return 7006;
}
EXPORTED void clear_cache() {}
#if !FAKE_LACKS_WIRED
EXPORTED std::size_t set_wired_limit(std::size_t) {
  return 7007;
}
#endif

}  // namespace mlx::core

// Calls the library's own functions as its code would: raw_ptr first, since nothing says what comes first.
extern "C" EXPORTED void fake_run() {
  using namespace mlx::core;
  char byte = 0;
  allocator::Buffer mine{&byte};
  const auto shift = static_cast<char*>(mine.raw_ptr()) - &byte;
  allocator::Buffer buffer = allocator::allocator().malloc(16);
  const bool holds = buffer.ptr != nullptr && buffer.raw_ptr() != nullptr;
  allocator::allocator().free(buffer);
  std::printf("shift %td, block %d, active %zu, limit %zu\n", shift, holds ? 1 : 0, get_active_memory(),
              get_memory_limit());
}
