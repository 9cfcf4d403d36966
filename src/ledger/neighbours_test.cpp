#include "ledger/neighbours.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.h"

namespace weir::ledger {
namespace {

using ::testing::ElementsAre;

PageReading giver(pid_t pid, std::int64_t retained) {
  PageReading page;
  page.pid = pid;
  page.retained = retained;
  page.alive = true;
  page.state = wire::PageState::kGoverned;
  page.allocator = wire::Allocator::kWeir;
  return page;
}

std::vector<pid_t> pids(const std::vector<PageReading>& pages) {
  std::vector<pid_t> found;
  for (const PageReading& page : pages)
    found.push_back(page.pid);
  return found;
}

TEST(Neighbours, ThoseThatRetainMostAreAskedFirst) {
  EXPECT_THAT(pids(possible_givers({giver(1, 5), giver(2, 50), giver(3, 0), giver(4, 9)}, 4)),
              ElementsAre(2, 1, 3));
}

TEST(Neighbours, WhoHasNoPoolOrNoLifeIsNotAsked) {
  std::vector<PageReading> pages = {giver(1, 5), giver(2, 5), giver(3, 5), giver(4, 5)};
  pages[0].alive = false;
  pages[1].allocator = wire::Allocator::kMlx;
  pages[2].state = wire::PageState::kOff;
  EXPECT_THAT(pids(possible_givers(pages, 0)), ElementsAre(4));
}

TEST(Neighbours, AnEmptyFolderGivesNothing) {
  const ScratchFolder folder;
  const NeedAnswer answer = ask_neighbours(folder.path(), 1 << 30);
  EXPECT_EQ(answer.asked, 0u);
  EXPECT_EQ(answer.released, 0);
}

}  // namespace
}  // namespace weir::ledger
