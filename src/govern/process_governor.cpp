#include "govern/process_governor.h"

#include <pthread.h>
#include <cstdlib>
#include <memory>

#include "govern/atomic_counters.h"
#include "govern/counted_mlx.h"
#include "govern/mlx_acts.h"
#include "govern/over_pool.h"
#include "govern/pool_acts.h"
#include "govern/process_control.h"
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
  std::unique_ptr<OverPool> pool;  // or, under `mlx`, the next four
  std::unique_ptr<CountedMlx> counted;
  std::unique_ptr<MlxHostCalls> mlx_calls;
  MlxActs* mlx_acts = nullptr;  // control's
  std::unique_ptr<MlxErrands> mlx_errands;
  std::unique_ptr<ProcessControl> control;
};

Governed* governed = nullptr;

std::size_t set_wired_limit(std::size_t bytes) {
  return governed->real.set_wired_limit(bytes);
}

void* answer(mlx::core::allocator::Allocator& allocator) {
  governed->control->start_in_child();
  return &allocator;
}

constexpr weir_memory_table kPoolTable = {
    WEIR_MEMORY_TABLE_VERSION,
    0,
    []() { return answer(governed->pool->allocator); },
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
    []() { return answer(*governed->counted); },
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
  governed->control->before_fork();
  if (governed->pool) governed->pool->limits.lock_for_fork();
}

void after_fork_in_parent() {
  if (governed->pool) governed->pool->limits.unlock_after_fork();
  governed->control->after_fork_in_parent();
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
    governed->mlx_acts->begin_child();
  }
  governed->control->after_fork_in_child(goes_on);
  wire::leave_page(parents);
  governed->page.set_state(goes_on ? wire::PageState::kGoverned : wire::PageState::kOff);
}

void open_pool(Governed& made) {
  auto opened = OverPool::open(made.settings, made.page.slot(),
                               static_cast<std::uint64_t>(made.real.get_memory_limit()));
  if (!opened) {
    made.page.set_state(wire::PageState::kOff);
    made.page.end();
    throw Failure(std::move(opened.error()));
  }
  made.pool = std::move(*opened);
  made.pool->beside = [&real = made.real] {
    return static_cast<std::int64_t>(real.get_active_memory() + real.get_cache_memory());
  };
}

void count_mlx(Governed& made) {
  made.counted = std::make_unique<CountedMlx>(made.real, made.page.slot());
  made.mlx_calls = std::make_unique<MlxHostCalls>(made.real, *made.counted, made.settings, made.page.slot());
}

void control_pool(Governed& made, const char* folder) {
  OverPool& pool = *made.pool;
  made.control = std::make_unique<ProcessControl>(ProcessControl::Parts{
      std::make_unique<PoolActs>(pool), made.settings, made.page.slot(), folder,
      [&pool] { return pool.allocator.take_lacking(); }, [&pool] { pool.pool->count_trouble(); }});
}

void control_mlx(Governed& made, const char* folder) {
  auto acts = std::make_unique<MlxActs>(made.real, *made.counted, *made.mlx_calls, made.page.slot());
  made.mlx_acts = acts.get();
  made.control = std::make_unique<ProcessControl>(
      ProcessControl::Parts{std::move(acts), made.settings, made.page.slot(), folder, {}, [&made] {
                              count(made.page.slot().load()->troubles);
                            }});
  made.mlx_errands = std::make_unique<MlxErrands>(*made.mlx_acts, made.control->log());
  made.mlx_acts->on_done([&made] { made.control->wake(); });
  made.control->add(*made.mlx_errands);
}

/// Throws where something cannot be had; then nothing governs.
const weir_memory_table* begin(const Start& start) {
  auto made = std::make_unique<Governed>(start);
  const bool over_pool = start.settings.allocator != wire::Allocator::kMlx;
  if (over_pool) {
    open_pool(*made);
    control_pool(*made, start.pages_folder);
  } else {
    count_mlx(*made);
    control_mlx(*made, start.pages_folder);
  }
  governed = made.release();
  (void)::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  (void)std::atexit(end_process);
  governed->page.set_state(wire::PageState::kGoverned);
  governed->control->start();
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
  if (governed == nullptr) return;
  governed->control->end();
  governed->page.end();
}

}  // namespace weir::govern
