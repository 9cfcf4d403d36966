/// Governs whole processes: each test body runs in a child of its own, past libmlx's own allocator.

#include "govern/process_governor.h"

#include <mlx/allocator.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "govern/in_child.h"
#include "govern/mlx_functions.h"
#include "govern/over_pool.h"
#include "govern/own_process.h"
#include "ledger/governed_page.h"

namespace weir::govern {
namespace {

constexpr std::uint64_t kRun = 77;

/// A folder for pages.
class Folder {
 public:
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::vector<ledger::PageReading> pages() const { return ledger::read_pages(path_, kRun); }

 private:
  ScratchFolder scratch_;
  const std::string path_ = scratch_.path().string();
};

const weir_memory_table& governed(const std::string& folder, wire::AgentSettings settings) {
  static MlxFunctions* const real = new MlxFunctions(value_or_throw(MlxFunctions::find()));
  settings.run = kRun;
  return *govern_process({settings, &real->table, real->library.c_str(), folder.c_str()});
}

mlx::core::allocator::Allocator& allocator(const weir_memory_table& table) {
  return *static_cast<mlx::core::allocator::Allocator*>(table.allocator());
}

wire::AgentSettings settings(wire::Allocator allocator) {
  wire::AgentSettings wanted;
  wanted.allocator = allocator;
  return wanted;
}

TEST(ProcessGovernor, ThePoolAnswersAndThePageTellsIt) {
  const Folder folder;
  EXPECT_EQ(0, status_in_child([&] {
              const weir_memory_table& table = governed(folder.path(), settings(wire::Allocator::kWeir));
              MUST(table.raw_offset == 0);
              MUST(process_pool() != nullptr);
              const auto buffer = allocator(table).malloc(100'000);
              MUST(table.get_active_memory() == allocator(table).size(buffer));
              const auto pages = folder.pages();
              MUST(pages.size() == 1);
              MUST(pages[0].pid == ::getpid() && pages[0].state == wire::PageState::kGoverned);
              MUST(pages[0].allocator == wire::Allocator::kWeir);
              MUST(pages[0].live == static_cast<std::int64_t>(table.get_active_memory()));
              MUST(pages[0].library.ends_with("/libmlx.so"));
              MUST(pages[0].pool_start < pages[0].pool_end);
              allocator(table).free(buffer);
              MUST(table.get_active_memory() == 0);
              MUST(table.set_wired_limit(5) == 0);
            }));
}

TEST(ProcessGovernor, MlxsOwnAllocatorIsCountedAndBoundAtItsStart) {
  const Folder folder;
  EXPECT_EQ(0, status_in_child([&] {
              auto wanted = settings(wire::Allocator::kMlx);
              wanted.cache_unset = false;
              wanted.cache_limit = 2'000'000;
              const weir_memory_table& table = governed(folder.path(), wanted);
              MUST(table.raw_offset == 8);
              MUST(process_pool() == nullptr && process_settings()->allocator == wire::Allocator::kMlx);
              const auto small = allocator(table).malloc(1'500'000);
              const auto large = allocator(table).malloc(3'000'000);
              MUST(folder.pages()[0].live == 4'500'000);
              allocator(table).free(large);
              allocator(table).free(small);
              MUST(table.get_cache_memory() == 1'500'000);
              const auto page = folder.pages()[0];
              MUST(page.allocations == 2 && page.frees == 2 && page.live == 0 && page.live_peak == 4'500'000);
              MUST(page.retained == 1'500'000 && page.backed == 0 && page.cache_limit == 2'000'000);
              MUST(table.set_cache_limit(5'000'000) == 2'000'000);
              MUST(folder.pages()[0].cache_limit == 2'000'000);
              MUST(table.set_cache_limit(1'000'000) == 5'000'000);
              MUST(table.get_cache_memory() == 0 && folder.pages()[0].retained == 0);
              table.clear_cache();
              MUST(folder.pages()[0].host_clears == 1 && folder.pages()[0].host_limits == 2);
            }));
}

TEST(ProcessGovernor, WithoutAWishMlxKeepsItsOwnCacheLimit) {
  const Folder folder;
  EXPECT_EQ(0, status_in_child([&] {
              const weir_memory_table& table = governed(folder.path(), settings(wire::Allocator::kMlx));
              MUST(folder.pages()[0].cache_limit == 32 << 20);
              MUST(table.set_cache_limit(7) == 32 << 20);
              MUST(table.set_cache_limit(32 << 20) == 7);
            }));
}

TEST(RequireGoverned, SaysThatAProgramWithoutTheInterposingObjectIsNot) {
  EXPECT_EQ(0, status_in_child([] { MUST(require_governed().error().kind == ErrorKind::kInternal); }));
}

TEST(ProcessGovernor, AForksChildCountsInAPageOfItsOwn) {
  const Folder folder;
  EXPECT_EQ(0, status_in_child([&] {
              const weir_memory_table& table = governed(folder.path(), settings(wire::Allocator::kWeir));
              const auto inherited = allocator(table).malloc(100'000);
              const auto parents = folder.pages()[0];
              MUST(0 == status_in_child([&] {
                     const auto more = allocator(table).malloc(200'000);
                     allocator(table).free(inherited);
                     const auto pages = folder.pages();
                     MUST(pages.size() == 2);
                     const auto& own = pages[0].pid == ::getpid() ? pages[0] : pages[1];
                     const auto& other = pages[0].pid == ::getpid() ? pages[1] : pages[0];
                     MUST(own.pid == ::getpid() && own.forks == 1 && own.state == wire::PageState::kGoverned);
                     MUST(own.live == static_cast<std::int64_t>(allocator(table).size(more)));
                     MUST(other.live == parents.live && other.allocations == parents.allocations);
                     std::exit(0);  // with the handlers of a normal end
                   }));
              const auto pages = folder.pages();
              MUST(pages.size() == 2);
              MUST((pages[0].pid == ::getpid() ? pages[1] : pages[0]).state == wire::PageState::kExited);
              MUST(table.get_active_memory() == allocator(table).size(inherited));
            }));
}

TEST(ProcessGovernor, AForksChildCountsFromTheForkOnUnderEveryAllocator) {
  for (const auto kind : {wire::Allocator::kMlx, wire::Allocator::kMlxPolicy, wire::Allocator::kWeir}) {
    const Folder folder;
    EXPECT_EQ(0, status_in_child([&] {
                const weir_memory_table& table = governed(folder.path(), settings(kind));
                const auto inherited = allocator(table).malloc(1'500'000);
                allocator(table).free(allocator(table).malloc(3'000'000));
                table.clear_cache();
                table.set_cache_limit(1'000'000);
                const auto parents = folder.pages()[0];
                MUST(parents.allocations == 2 && parents.host_clears == 1 && parents.host_limits == 1);
                MUST(0 == status_in_child([&] {
                       const auto own = [&folder] {
                         const auto pages = folder.pages();
                         return pages[0].pid == ::getpid() ? pages[0] : pages[1];
                       };
                       const auto first = own();
                       MUST(first.pid == ::getpid() && first.allocations == 0 && first.frees == 0);
                       MUST(first.hits == 0 && first.misses == 0 && first.returned == 0);
                       MUST(first.host_clears == 0 && first.host_limits == 0 && first.troubles == 0);
                       MUST(first.live == parents.live && first.live_peak == parents.live);
                       MUST(first.retained == parents.retained && first.retained_peak == parents.retained);
                       MUST(first.cache_limit == parents.cache_limit);
                       allocator(table).free(inherited);
                       MUST(own().frees == 1 && own().live == 0 && own().allocations == 0);
                     }));
              }));
  }
}

TEST(ProcessGovernor, WhereChildrenAreLeftAloneAForksChildIsUnboundAndUnseen) {
  const Folder folder;
  EXPECT_EQ(0, status_in_child([&] {
              auto wanted = settings(wire::Allocator::kWeir);
              wanted.children = false;
              wanted.memory_limit = 64 << 20;
              const weir_memory_table& table = governed(folder.path(), wanted);
              MUST(0 == status_in_child([&] {
                     allocator(table).free(allocator(table).malloc(100 << 20));
                     MUST(folder.pages().size() == 1);
                     MUST(process_pool()->memory_limit() == pool::kUnlimited);
                   }));
              MUST(process_pool()->memory_limit() == 64 << 20);
            }));
}

TEST(ProcessGovernor, AFolderThatIsNotThereCostsALineAndNotTheGoverning) {
  EXPECT_EQ(0, status_in_child([&] {
              const weir_memory_table& table =
                  governed("/nowhere/at/all", settings(wire::Allocator::kMlxPolicy));
              allocator(table).free(allocator(table).malloc(1000));
              MUST(process_pool()->counters().allocations == 1);
              end_process();
            }));
}

TEST(ProcessGovernor, ForkInTheMiddleOfAllocationsLeavesTheChildAUsablePool) {
  EXPECT_EQ(0, status_in_child([&] {
              const weir_memory_table& table = governed("", settings(wire::Allocator::kWeir));
              std::atomic<bool> stop = false;
              std::thread busy([&] {
                while (!stop) {
                  allocator(table).free(allocator(table).malloc(3000));
                  table.set_cache_limit(1 << 20);
                }
              });
              for (int i = 0; i < 100; ++i) {
                MUST(0 == status_in_child([&] {
                       ::alarm(20);
                       allocator(table).free(allocator(table).malloc(70'000));
                       table.set_cache_limit(1000);
                       table.clear_cache();
                     }));
              }
              stop = true;
              busy.join();
            }));
}

}  // namespace
}  // namespace weir::govern
