#pragma once

/// C and C++: the shim is C, the core is C++.
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEIR_MEMORY_TABLE_VERSION 1u
/// A `raw_offset` that is none: Buffer::raw_ptr() is MLX's own, whatever its buffers are.
#define WEIR_RAW_POINTER_OF_MLX (~0u)

/// The eleven functions of MLX that are interposed together, as one process calls them. `allocator` returns
/// the address of an mlx::core::allocator::Allocator; buffers of another table must never reach it.
struct weir_memory_table {
  unsigned version;     ///< WEIR_MEMORY_TABLE_VERSION.
  unsigned raw_offset;  ///< Buffer::raw_ptr() is Buffer::ptr() plus this: 8 for MLX's own on a CPU, 0 for the
                        ///< pool.
  void* (*allocator)(void);
  size_t (*get_active_memory)(void);
  size_t (*get_peak_memory)(void);
  void (*reset_peak_memory)(void);
  size_t (*get_cache_memory)(void);
  size_t (*set_memory_limit)(size_t);
  size_t (*get_memory_limit)(void);
  size_t (*set_cache_limit)(size_t);
  void (*clear_cache)(void);
  size_t (*set_wired_limit)(size_t);
};

/// The mangled names, in the order of the table; Buffer::raw_ptr() is the eleventh.
#define WEIR_ALLOCATOR_SYMBOL "_ZN3mlx4core9allocator9allocatorEv"
#define WEIR_RAW_POINTER_SYMBOL "_ZN3mlx4core9allocator6Buffer7raw_ptrEv"
/// WITH(member of weir_memory_table, symbol), for the nine memory functions.
#define WEIR_MEMORY_FUNCTIONS(WITH)                            \
  WITH(get_active_memory, "_ZN3mlx4core17get_active_memoryEv") \
  WITH(get_peak_memory, "_ZN3mlx4core15get_peak_memoryEv")     \
  WITH(reset_peak_memory, "_ZN3mlx4core17reset_peak_memoryEv") \
  WITH(get_cache_memory, "_ZN3mlx4core16get_cache_memoryEv")   \
  WITH(set_memory_limit, "_ZN3mlx4core16set_memory_limitEm")   \
  WITH(get_memory_limit, "_ZN3mlx4core16get_memory_limitEv")   \
  WITH(set_cache_limit, "_ZN3mlx4core15set_cache_limitEm")     \
  WITH(clear_cache, "_ZN3mlx4core11clear_cacheEv")             \
  WITH(set_wired_limit, "_ZN3mlx4core15set_wired_limitEm")

/// What the core exports to the shim under the name `weir_agent_start`: answers MLX from now on by the
/// returned table, or by `real` itself where weir stays out (one line on stderr says why). Called once, on
/// the thread of MLX's first call; takes no buffer of MLX meanwhile. `real` may hold null pointers for what
/// the library does not export, and outlives the process's use of MLX, as do the texts. `library`: path of
/// libmlx. `settings`, `pages`: WEIR_AGENT and WEIR_AGENT_PAGES as the process found them; null where absent.
/// Nothing is thrown.
typedef const struct weir_memory_table* (*weir_agent_start_function)(const struct weir_memory_table* real,
                                                                     const char* library,
                                                                     const char* settings, const char* pages);

/// Exported under the name `weir_agent_stays`, asked after the start: 0 where the core has left nothing
/// behind (no allocator, no thread, no handler) and may be closed, so that a mapped core is one that governs.
typedef int (*weir_agent_stays_function)(void);

#ifdef __cplusplus
}
#endif
