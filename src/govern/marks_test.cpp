#include "govern/marks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "govern/process_page.h"
#include "ledger/governed_page.h"

namespace weir::govern {
namespace {

constexpr std::uint64_t kRun = 77;

ledger::PageReading page_in(const ScratchFolder& folder) {
  auto pages = ledger::read_pages(folder.path(), kRun);
  EXPECT_EQ(pages.size(), 1u);
  return pages.empty() ? ledger::PageReading{} : pages[0];
}

wire::AgentSettings settings() {
  wire::AgentSettings wanted;
  wanted.run = kRun;
  return wanted;
}

TEST(Marks, StandOnThePageOfTheProcess) {
  const ScratchFolder folder;
  ProcessPage page(settings(), "/lib/libmlx.so", folder.path().c_str());
  EXPECT_EQ(page_in(folder).phase, wire::Phase::kUnmarked);
  {
    const PhaseMark loading(wire::Phase::kLoad);
    EXPECT_EQ(page_in(folder).phase, wire::Phase::kLoad);
  }
  EXPECT_EQ(page_in(folder).phase, wire::Phase::kIdle);
  mark_tokens();
  mark_tokens(4);
  mark_request_end();
  EXPECT_EQ(page_in(folder).tokens, 5u);
  EXPECT_EQ(page_in(folder).requests, 1u);
  page.end();
}

TEST(Marks, WithoutAPageNothingHappens) {
  mark_phase(wire::Phase::kDecode);
  mark_tokens();
  mark_request_end();
}

TEST(ProcessPage, AForkedChildKeepsLimitsAndBackendAndCountsFromNothing) {
  const ScratchFolder folder;
  ProcessPage page(settings(), "/lib/libmlx.so", folder.path().c_str());
  page.slot().load()->backend.store(static_cast<std::uint32_t>(wire::Backend::kMetal));
  page.slot().load()->cache_limit.store(5);
  mark_tokens();
  const pid_t child = ::fork();
  if (child == 0) {
    wire::CountersPage* const parents = page.renew_after_fork(true);
    mark_tokens(2);
    const wire::CountersPage& own = *page.slot().load();
    const bool kept =
        own.cache_limit == 5 && own.backend == static_cast<std::uint32_t>(wire::Backend::kMetal);
    ::_exit(kept && own.tokens == 2 && own.forks == 1 && parents->tokens == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  page.end();
}

}  // namespace
}  // namespace weir::govern
