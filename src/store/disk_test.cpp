#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/scratch_folder.h"
#include "store/seal_lock.h"
#include "store/store.h"

namespace weir::store {
namespace {

using testing::HasSubstr;

constexpr const char* kSeal = "0123456789abcdef";

/// A tmpfs of this size over `folder`, seen by this process alone; false where the machine forbids it.
bool mount_small_disk(const std::filesystem::path& folder, const char* options, unsigned long flags = 0) {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", folder.c_str(), "tmpfs", flags, options) == 0;
}

void prepare(Store& store) {
  ASSERT_TRUE(store.put_plan({kSeal, "q", "{}", "b", 1, PlanState::kOpen}));
  ASSERT_TRUE(store.put_start({kSeal, StartKind::kSpeed, 0, "running", 1, "{}"}));
}

int fill_small_disk(const std::filesystem::path& folder) {
  if (!mount_small_disk(folder, "size=512k")) return kNotPermitted;
  Store store = value_or_throw(Store::open(folder / "weir.db"));
  prepare(store);
  { std::ofstream(folder / "filler") << std::string(64 << 10, 'f'); }
  int stored = 0;
  Result<void> put;
  while ((put = store.put_block({kSeal, StartKind::kSpeed, 0, stored, 1, std::string(5000, 'x')}))) {
    if (++stored > 1000) break;
  }
  EXPECT_LT(stored, 1000);
  EXPECT_GT(stored, 3);
  EXPECT_EQ(put.error().kind, ErrorKind::kNoRoom) << describe(put.error());
  EXPECT_THAT(put.error().message, HasSubstr("WEIR_STATE_DIR"));
  // Nothing half-written, by this connection and by a new one, and the work goes on once there is room.
  EXPECT_EQ(static_cast<int>(store.blocks(kSeal).value().size()), stored);
  std::filesystem::remove(folder / "filler");
  Store again = value_or_throw(Store::open(folder / "weir.db"));
  EXPECT_EQ(static_cast<int>(again.blocks(kSeal).value().size()), stored);
  EXPECT_TRUE(store.put_block({kSeal, StartKind::kSpeed, 0, stored, 1, "y"}));
  EXPECT_EQ(static_cast<int>(again.blocks(kSeal).value().size()), stored + 1);
  return 0;
}

int open_on_full_disk(const std::filesystem::path& folder) {
  if (!mount_small_disk(folder, "size=16k")) return kNotPermitted;
  { std::ofstream(folder / "filler") << std::string(64 << 10, 'f'); }
  const auto refused = Store::open(folder / "weir.db");
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kNoRoom) << describe(refused.error());
  std::filesystem::remove(folder / "filler");
  EXPECT_FALSE(std::filesystem::exists(folder / "weir.db") &&
               std::filesystem::file_size(folder / "weir.db") > 0);
  return 0;
}

int use_read_only_disk(const std::filesystem::path& folder) {
  if (!mount_small_disk(folder, "size=1m")) return kNotPermitted;
  {
    Store store = value_or_throw(Store::open(folder / "weir.db"));
    prepare(store);
  }
  if (::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return kNotPermitted;
  const auto refused = Store::open(folder / "weir.db");
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment) << describe(refused.error());
  EXPECT_THAT(refused.error().message, HasSubstr("WEIR_STATE_DIR"));
  EXPECT_EQ(Store::open(folder / "other" / "weir.db").error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(SealLock::acquire(folder, kSeal).error().kind, ErrorKind::kEnvironment);
  const auto looking = Store::open_existing(folder / "weir.db");
  EXPECT_TRUE(looking && *looking && (*looking)->plan(kSeal).value()) << "looking needs no write permission";
  return 0;
}

/// As an ordinary user, for whom permissions count.
int use_forbidden_home(const std::filesystem::path& folder) {
  ::chmod(folder.c_str(), 0555);
  if (::geteuid() == 0 && ::setuid(65534) != 0) return kNotPermitted;
  for (const auto& path : {folder / "weir.db", folder / ".local" / "state" / "weir" / "weir.db"}) {
    const auto refused = Store::open(path);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment) << describe(refused.error());
    EXPECT_THAT(refused.error().message, HasSubstr("WEIR_STATE_DIR"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  return 0;
}

void expect_done_or_skip(int code) {
  if (code == kNotPermitted)
    GTEST_SKIP() << "mounting a small disk or changing the user is not permitted here";
  EXPECT_EQ(code, 0);
}

TEST(Disk, FullWhileWritingIsNoRoomAndLeavesNothingHalfWritten) {
  const ScratchFolder folder;
  expect_done_or_skip(in_child([&] { return fill_small_disk(folder.path()); }));
}

TEST(Disk, FullWhileOpeningIsNoRoom) {
  const ScratchFolder folder;
  expect_done_or_skip(in_child([&] { return open_on_full_disk(folder.path()); }));
}

TEST(Disk, ReadOnlyNamesTheVariableAndCanStillBeLookedAt) {
  const ScratchFolder folder;
  expect_done_or_skip(in_child([&] { return use_read_only_disk(folder.path()); }));
}

TEST(Disk, ForbiddenHomeNamesTheVariable) {
  const ScratchFolder folder;
  expect_done_or_skip(in_child([&] { return use_forbidden_home(folder.path()); }));
}

}  // namespace
}  // namespace weir::store
