#pragma once

#include "wire/agent_settings.h"
#include "wire/memory_table.h"

namespace weir::pool {
class Pool;
}

namespace weir::govern {

struct OverPool;

/// Everything that governing this process starts from.
struct Start {
  wire::AgentSettings settings;
  const weir_memory_table* real = nullptr;  ///< MLX's own functions; must stay valid.
  const char* library = "";                 ///< Path of libmlx.
  const char* pages_folder = "";            ///< Where the counters page goes; "": a page nobody else sees.
};

/// Governs this process from now on, once, before MLX's first allocation: opens the pool (or wraps MLX's own
/// allocator and counts), makes the counters page, and answers MLX by the returned table: host calls of the
/// nine memory functions become events that the settings rule. In a fork's child the page is made anew.
/// On trouble it returns `real`, prints one line, and the process runs ungoverned. Never throws.
///   mlx         limits are set here and on the caller's thread at its next call; no hard cap
///   mlx-policy  the pool with MLX's rule; always honours the host's clear_cache
///   weir        the pool; the host's clear_cache trims what has aged, or everything with HostClear::kHonour
/// The host's own set_cache_limit counts, is in force while it is the tighter one (min rule), and is
/// corrected back under `enforce`. get_memory_limit answers a little below the hard cap, so that MLX's
/// back-pressure starts before refusals do.
/// A page that others may see gets a control socket beside it (wire/control.h), answered by a thread of
/// weir's; that thread also trims at boundaries. Without one of them the process runs governed all the same.
[[nodiscard]] const weir_memory_table* govern_process(const Start& start) noexcept;

/// The pool of this process; nullptr before `govern_process`, under allocator `mlx`, and after trouble.
[[nodiscard]] pool::Pool* process_pool() noexcept;

/// The same with its bounds and its host's functions (over_pool.h).
[[nodiscard]] OverPool* process_over_pool() noexcept;

/// What governs this process since its start, nullptr when nothing does.
[[nodiscard]] const wire::AgentSettings* process_settings() noexcept;

/// Marks the page as exited. At exit() this happens by itself; before _exit() it is the program's to do.
void end_process() noexcept;

}  // namespace weir::govern
