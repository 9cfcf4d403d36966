#include "govern/over_pool.h"

namespace weir::govern {

OverPool::OverPool(std::unique_ptr<pool::Pool> opened, const wire::AgentSettings& settings,
                   const PageSlot& own_page, std::uint64_t memory_default) noexcept
    : page(own_page),
      pool(std::move(opened)),
      limits(*pool, settings, page),
      allocator(*pool, page),
      calls(limits, allocator, page, settings.host_clear, memory_default) {}

ledger::AllocatorCounters OverPool::ledger_counters() const {
  const pool::Counters counters = pool->counters();
  ledger::AllocatorCounters held;
  held.live = static_cast<std::int64_t>(counters.live);
  held.retained = static_cast<std::int64_t>(counters.retained);
  held.padding = static_cast<std::int64_t>(counters.padding);
  held.overdraw = static_cast<std::int64_t>(counters.overdraw);
  held.buffers_from_heap = false;
  for (const auto& [start, end] : pool->books())
    held.books.push_back({start, end});
  if (beside) held.beside_pool = beside();
  held.pool = {page.load()->pool_start.load(), page.load()->pool_end.load()};
  return held;
}

Result<std::unique_ptr<OverPool>> OverPool::open(const wire::AgentSettings& settings, const PageSlot& page,
                                                 std::uint64_t memory_default) {
  pool::Options options;
  options.policy = policy_of(settings.allocator);
  options.cache_limit = weir_cache_bound(settings);
  options.memory_limit = settings.memory_limit;
  options.huge_pages = settings.huge_pages;
  auto opened = pool::Pool::open(options);
  if (!opened) return tl::unexpected(opened.error());
  auto over = std::make_unique<OverPool>(std::move(*opened), settings, page, memory_default);
  over->pool->publish(page.load());
  return over;
}

}  // namespace weir::govern
