#include "govern/process_governor.h"

#include <pthread.h>
#include <cstdlib>
#include <memory>

#include "govern/counted_mlx.h"
#include "govern/over_pool.h"
#include "govern/process_page.h"
#include "wire/page_file.h"

namespace weir::govern {

namespace {

/// All of it, made once and never destroyed: buffers come back after static destructors have run.
struct Governed {
  explicit Governed(const Start& start)
      : settings(start.settings), real(*start.real), page(settings, start.library, start.pages_folder) {}

  const wire::AgentSettings settings;
  const weir_memory_table& real;
  ProcessPage page;
  std::unique_ptr<OverPool> pool;  // or, under `mlx`, the next two
  std::unique_ptr<CountedMlx> counted;
  std::unique_ptr<MlxHostCalls> mlx_calls;
};

Governed* governed = nullptr;

std::size_t set_wired_limit(std::size_t bytes) {
  return governed->real.set_wired_limit(bytes);
}

constexpr weir_memory_table kPoolTable = {
    WEIR_MEMORY_TABLE_VERSION,
    0,
    []() -> void* { return static_cast<mlx::core::allocator::Allocator*>(&governed->pool->allocator); },
    []() { return governed->pool->calls.active_memory(); },
    []() { return governed->pool->calls.peak_memory(); },
    []() { governed->pool->calls.reset_peak_memory(); },
    []() { return governed->pool->calls.cache_memory(); },
    [](std::size_t bytes) { return governed->pool->calls.set_memory_limit(bytes); },
    []() { return governed->pool->calls.memory_limit(); },
    [](std::size_t bytes) { return governed->pool->calls.set_cache_limit(bytes); },
    []() { governed->pool->calls.clear_cache(); },
    set_wired_limit,
};

constexpr weir_memory_table kMlxTable = {
    WEIR_MEMORY_TABLE_VERSION,
    8,
    []() -> void* { return static_cast<mlx::core::allocator::Allocator*>(governed->counted.get()); },
    []() { return governed->real.get_active_memory(); },
    []() { return governed->real.get_peak_memory(); },
    []() { governed->real.reset_peak_memory(); },
    []() { return governed->real.get_cache_memory(); },
    [](std::size_t bytes) { return governed->mlx_calls->set_memory_limit(bytes); },
    []() { return governed->real.get_memory_limit(); },
    [](std::size_t bytes) { return governed->mlx_calls->set_cache_limit(bytes); },
    []() { governed->mlx_calls->clear_cache(); },
    set_wired_limit,
};

void before_fork() {
  if (governed->pool) governed->pool->limits.lock_for_fork();
}

void after_fork_in_parent() {
  if (governed->pool) governed->pool->limits.unlock_after_fork();
}

/// Runs after the pool's own handler, which was registered before: its lock is free here.
void after_fork_in_child() {
  const bool goes_on = governed->settings.children;
  wire::CountersPage* const parents = governed->page.renew_after_fork(goes_on);
  if (governed->pool) {
    governed->pool->limits.unlock_after_fork();
    governed->pool->pool->publish(governed->page.slot().load());
    if (!goes_on) governed->pool->limits.release();
  } else {
    governed->counted->begin_child(parents->retained.load());
  }
  wire::leave_page(parents);
  governed->page.set_state(goes_on ? wire::PageState::kGoverned : wire::PageState::kOff);
}

/// Throws where something cannot be had; then nothing governs.
const weir_memory_table* begin(const Start& start) {
  auto made = std::make_unique<Governed>(start);
  const bool over_pool = start.settings.allocator != wire::Allocator::kMlx;
  if (over_pool) {
    auto opened = OverPool::open(made->settings, made->page.slot(),
                                 static_cast<std::uint64_t>(start.real->get_memory_limit()));
    if (!opened) {
      made->page.set_state(wire::PageState::kOff);
      made->page.end();
      throw Failure(std::move(opened.error()));
    }
    made->pool = std::move(*opened);
  } else {
    made->counted = std::make_unique<CountedMlx>(*start.real, made->page.slot());
    made->mlx_calls =
        std::make_unique<MlxHostCalls>(*start.real, *made->counted, made->settings, made->page.slot());
  }
  governed = made.release();
  (void)::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  (void)std::atexit(end_process);
  governed->page.set_state(wire::PageState::kGoverned);
  return over_pool ? &kPoolTable : &kMlxTable;
}

}  // namespace

const weir_memory_table* govern_process(const Start& start) noexcept {
  try {
    return begin(start);
  } catch (const std::exception& failure) {
    char text[384];
    std::snprintf(text, sizeof text, "this process is not governed: %s", failure.what());
    print_line(text);
  } catch (...) {
    print_line("this process is not governed: an unknown failure");
  }
  return start.real;
}

pool::Pool* process_pool() noexcept {
  return governed == nullptr || governed->pool == nullptr ? nullptr : governed->pool->pool.get();
}

OverPool* process_over_pool() noexcept {
  return governed == nullptr ? nullptr : governed->pool.get();
}

const wire::AgentSettings* process_settings() noexcept {
  return governed == nullptr ? nullptr : &governed->settings;
}

void end_process() noexcept {
  if (governed != nullptr) governed->page.end();
}

}  // namespace weir::govern
