#include "store/store.h"

#include <sys/stat.h>
#include <clocale>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/file.h"
#include "store/scratch_folder.h"

namespace weir::store {
namespace {

using testing::HasSubstr;

constexpr const char* kSeal = "7c1e09ab55aa00ff";

PlanRow plan_row(const std::string& seal = kSeal, std::int64_t sealed_at = 100) {
  return {seal, "question", R"({"arms":[0,1]})", "binary-1", sealed_at, PlanState::kOpen};
}

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777U : 0U;
}

class StoreTest : public testing::Test {
 protected:
  Store open() { return value_or_throw(Store::open(path())); }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "a" / "b" / "weir.db"; }
  /// A statement past the Store's own rules.
  int raw(const char* sql) const {
    sqlite3* handle = nullptr;
    sqlite3_open(path().c_str(), &handle);
    const int code = sqlite3_exec(handle, sql, nullptr, nullptr, nullptr);
    sqlite3_close(handle);
    return code;
  }

  ScratchFolder folder_;
};

TEST_F(StoreTest, MakesPrivateFoldersAndFileWhateverTheUmask) {
  for (const mode_t mask : {0000, 0022, 0777}) {
    std::filesystem::remove_all(folder_.path() / "a");
    const mode_t before = ::umask(mask);
    const auto store = Store::open(path());
    ::umask(before);
    ASSERT_TRUE(store) << describe(store.error());
    EXPECT_EQ(mode_of(path()), 0600U);
    EXPECT_EQ(mode_of(folder_.path() / "a"), 0700U);
    EXPECT_EQ(mode_of(folder_.path() / "a" / "b"), 0700U);
  }
}

TEST_F(StoreTest, TightensAFileThatOthersCouldRead) {
  (void)open();
  ::chmod(path().c_str(), 0644);
  (void)open();
  EXPECT_EQ(mode_of(path()), 0600U);
}

TEST_F(StoreTest, KeepsAPlanAcrossOpenings) {
  ASSERT_TRUE(open().put_plan(plan_row()));
  const auto found = open().plan(kSeal);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->canonical_json, R"({"arms":[0,1]})");
  EXPECT_EQ((*found)->question_hash, "question");
  EXPECT_EQ((*found)->binary, "binary-1");
  EXPECT_EQ((*found)->sealed_at, 100);
  EXPECT_EQ((*found)->state, PlanState::kOpen);
  EXPECT_FALSE(open().plan("ffffffffffffffff").value());
}

TEST_F(StoreTest, FindsTheNewestOpenPlanOfAQuestion) {
  Store store = open();
  ASSERT_TRUE(store.put_plan(plan_row("aaaaaaaa", 1)));
  ASSERT_TRUE(store.put_plan(plan_row("bbbbbbbb", 3)));
  ASSERT_TRUE(store.put_plan(plan_row("cccccccc", 2)));
  EXPECT_EQ(store.find_open_plan("question").value()->seal, "bbbbbbbb");
  ASSERT_TRUE(store.set_plan_state("bbbbbbbb", PlanState::kVoid));
  EXPECT_EQ(store.find_open_plan("question").value()->seal, "cccccccc");
  EXPECT_EQ(store.plan("bbbbbbbb").value()->state, PlanState::kVoid);
  EXPECT_FALSE(store.find_open_plan("another").value());
}

TEST_F(StoreTest, NeverChangesASealedPlan) {
  Store store = open();
  ASSERT_TRUE(store.put_plan(plan_row()));
  EXPECT_TRUE(store.put_plan(plan_row())) << "the same plan again is no change";
  PlanRow other = plan_row();
  other.canonical_json = "{}";
  EXPECT_EQ(store.put_plan(other).error().kind, ErrorKind::kInternal);
  EXPECT_EQ(raw("UPDATE plans SET canonical_json = '{}'"), SQLITE_CONSTRAINT);
  EXPECT_EQ(raw("DELETE FROM plans"), SQLITE_CONSTRAINT);
  EXPECT_EQ(store.plan(kSeal).value()->canonical_json, plan_row().canonical_json);
}

TEST_F(StoreTest, RefusesAStartWithoutPlanAndABlockWithoutStart) {
  Store store = open();
  EXPECT_EQ(store.put_start({kSeal, StartKind::kSpeed, 0, "running", 1, "{}"}).error().kind,
            ErrorKind::kInternal);
  ASSERT_TRUE(store.put_plan(plan_row()));
  EXPECT_EQ(store.put_block({kSeal, StartKind::kSpeed, 0, 0, 1, "{}"}).error().kind, ErrorKind::kInternal);
  EXPECT_EQ(store.put_result({"dddddddd", 1, "{}"}).error().kind, ErrorKind::kInternal);
  EXPECT_EQ(store.set_plan_state("dddddddd", PlanState::kVoid).error().kind, ErrorKind::kInternal);
}

TEST_F(StoreTest, StoresABlockOnceAndKeepsTheFirst) {
  Store store = open();
  ASSERT_TRUE(store.put_plan(plan_row()));
  ASSERT_TRUE(store.put_start({kSeal, StartKind::kSpeed, 0, "running", 1, "{}"}));
  ASSERT_TRUE(store.put_block({kSeal, StartKind::kSpeed, 0, 0, 5, "first"}));
  EXPECT_EQ(store.put_block({kSeal, StartKind::kSpeed, 0, 0, 6, "second"}).error().kind,
            ErrorKind::kInternal);
  EXPECT_EQ(raw("UPDATE blocks SET json = 'x'"), SQLITE_CONSTRAINT);
  EXPECT_EQ(raw("DELETE FROM blocks"), SQLITE_CONSTRAINT);
  const auto blocks = store.blocks(kSeal).value();
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].json, "first");
  EXPECT_EQ(blocks[0].completed_at, 5);
}

TEST_F(StoreTest, ReturnsStartsAndBlocksInOrderSpeedFirst) {
  Store store = open();
  ASSERT_TRUE(store.put_plan(plan_row()));
  for (const auto kind : {StartKind::kFootprint, StartKind::kSpeed}) {
    for (const int start : {10, 2}) {
      ASSERT_TRUE(store.put_start({kSeal, kind, start, "running", 1, "{}"}));
      for (const int block : {1, 0})
        ASSERT_TRUE(store.put_block({kSeal, kind, start, block, 1, "{}"}));
    }
  }
  ASSERT_TRUE(store.put_start({kSeal, StartKind::kSpeed, 2, "complete", 7, "end"}));
  const auto starts = store.starts(kSeal).value();
  ASSERT_EQ(starts.size(), 4U);
  EXPECT_EQ(starts[0].status, "complete");
  EXPECT_EQ(starts[0].started_at, 7);
  EXPECT_EQ(starts[0].json, "end");
  EXPECT_EQ(starts[1].index, 10);
  EXPECT_EQ(starts[2].kind, StartKind::kFootprint);
  const auto blocks = store.blocks(kSeal).value();
  ASSERT_EQ(blocks.size(), 8U);
  EXPECT_EQ(blocks[1].start_index, 2);
  EXPECT_EQ(blocks[1].block_index, 1);
  EXPECT_EQ(blocks[7].kind, StartKind::kFootprint);
  EXPECT_EQ(blocks[7].start_index, 10);
}

TEST_F(StoreTest, FinishesAPlanAllAtOnce) {
  Store store = open();
  ASSERT_TRUE(store.put_plan(plan_row()));
  const CurvePoint point{"m", "host", "mlx", "churn", "64 MiB", 67108864, "SHIP", "{}", 50, kSeal};
  ASSERT_TRUE(store.put_result({kSeal, 60, "result"}, PlanState::kComplete, std::span(&point, 1)));
  EXPECT_EQ(store.plan(kSeal).value()->state, PlanState::kComplete);
  EXPECT_EQ(store.latest_result("7c1e09ab").value()->json, "result");
  EXPECT_EQ(store.curve_points("m", "host", "mlx").value().size(), 1U);
}

TEST_F(StoreTest, KeepsNothingOfAStepThatFailsHalfWay) {
  Store store = open();
  ASSERT_TRUE(store.put_plan(plan_row()));
  ASSERT_EQ(raw("CREATE TRIGGER late BEFORE INSERT ON curves WHEN new.arm = 'last' "
                "BEGIN SELECT RAISE(ABORT, 'fails late'); END"),
            SQLITE_OK);
  const CurvePoint first{"m", "host", "mlx", "churn", "0", 0, "SHIP", "{}", 50, kSeal};
  CurvePoint last = first;
  last.arm = "last";
  EXPECT_FALSE(store.put_result({kSeal, 60, "x"}, PlanState::kComplete, std::vector{first, last}));
  EXPECT_TRUE(store.curve_points("m", "host", "mlx").value().empty());
  EXPECT_FALSE(store.latest_result("").value());
  EXPECT_EQ(store.plan(kSeal).value()->state, PlanState::kOpen);
}

TEST_F(StoreTest, FindsResultsByPrefix) {
  Store store = open();
  EXPECT_FALSE(store.latest_result("").value());
  for (const auto& [seal, time] : {std::pair{"12345678aa", 5}, {"12345678bb", 9}, {"99999999", 7}}) {
    ASSERT_TRUE(store.put_plan(plan_row(seal)));
    ASSERT_TRUE(store.put_result({seal, time, seal}));
  }
  EXPECT_EQ(store.latest_result("").value()->seal, "12345678bb");
  EXPECT_EQ(store.latest_result("99999999").value()->seal, "99999999");
  EXPECT_EQ(store.latest_result("12345678a").value()->seal, "12345678aa");
  EXPECT_FALSE(store.latest_result("%%%%%%%%").value());
  EXPECT_FALSE(store.latest_result("________").value());
  const auto several = store.latest_result("12345678");
  EXPECT_EQ(several.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(several.error().message, HasSubstr("12345678aa"));
  EXPECT_EQ(store.latest_result("1234567").error().kind, ErrorKind::kUsage);
}

TEST_F(StoreTest, ShowsTheNewestCurvePointOfEachCellAndArm) {
  Store store = open();
  const auto put = [&](const char* cell, const char* arm, std::optional<std::int64_t> limit,
                       std::int64_t time, const char* seal, const char* verdict) {
    ASSERT_TRUE(store.put_curve_point({"m", "host", "mlx", cell, arm, limit, verdict, "{}", time, seal}));
  };
  put("churn", "unlimited", std::nullopt, 1, "s1", "baseline");
  put("churn", "64 MiB", 67108864, 1, "s1", "SHIP");
  put("churn", "0", 0, 1, "s1", "SHIP");
  put("churn", "0", 0, 9, "s2", "CLOSE");
  put("churn", "0", 0, 5, "s3", "VOID");
  put("churn", "64 MiB", 67108864, 2, "s1", "INCONCLUSIVE");
  put("steady", "0", 0, 1, "s1", "SHIP");
  const auto points = store.curve_points("m", "host", "mlx").value();
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[0].verdict, "CLOSE");
  EXPECT_EQ(points[0].cache_limit_bytes, 0);
  EXPECT_EQ(points[1].verdict, "INCONCLUSIVE");
  EXPECT_EQ(points[2].cache_limit_bytes, std::nullopt);
  EXPECT_EQ(points[3].cell, "steady");
  EXPECT_TRUE(store.curve_points("m", "other", "mlx").value().empty());
}

TEST(Freshness, EndsWithTheLimitAndDistrustsTheFuture) {
  CurvePoint point;
  point.measured_at = 1'000'000'000;
  EXPECT_TRUE(is_fresh(point, point.measured_at + kFreshSeconds));
  EXPECT_FALSE(is_fresh(point, point.measured_at + kFreshSeconds + 1));
  EXPECT_TRUE(is_fresh(point, point.measured_at - 3600));
  EXPECT_FALSE(is_fresh(point, point.measured_at - 2 * 24 * 3600));
  EXPECT_FALSE(is_fresh(point, point.measured_at + 11, 10));
}

TEST_F(StoreTest, RefusesANewerSchemaByName) {
  (void)open();
  ASSERT_EQ(raw("UPDATE schema_version SET version = 7"), SQLITE_OK);
  const auto refused = Store::open(path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kBadData);
  EXPECT_EQ(refused.error().where, path().string());
  EXPECT_THAT(refused.error().message, HasSubstr("schema version 7, this weir knows version 1"));
  EXPECT_FALSE(Store::open_existing(path()));
}

TEST_F(StoreTest, RefusesAnotherProgramsFile) {
  std::filesystem::create_directories(path().parent_path());
  ASSERT_EQ(raw("CREATE TABLE songs (name TEXT)"), SQLITE_OK);
  const auto refused = Store::open(path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(refused.error().message, HasSubstr("another program"));
}

TEST_F(StoreTest, NamesADamagedFileAndItsMend) {
  {
    Store store = open();
    ASSERT_TRUE(store.put_plan(plan_row()));
  }
  const std::string whole = value_or_throw(read_text(path()));
  const auto damaged = [&](const std::string& content) {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << content;
    for (const auto& error : {Store::open(path()).error(), Store::open_existing(path()).error()}) {
      EXPECT_EQ(error.kind, ErrorKind::kBadData) << describe(error);
      EXPECT_THAT(error.message, HasSubstr("damaged"));
      EXPECT_THAT(error.message, HasSubstr("mv '" + path().string() + "'"));
    }
  };
  damaged(
      "this is not a database, it is a text that is long enough to be read as a header of one hundred "
      "bytes....");
  damaged(whole.substr(0, whole.size() / 2));
  std::string scrambled = whole;
  for (std::size_t i = 5000; i < 9000 && i < scrambled.size(); ++i)
    scrambled[i] = static_cast<char>(i * 31);
  damaged(scrambled);
}

TEST_F(StoreTest, RefusesAFolderInItsPlace) {
  std::filesystem::create_directories(path());
  EXPECT_EQ(Store::open(path()).error().kind, ErrorKind::kBadData);
}

TEST_F(StoreTest, LookingCreatesNothingAndChangesNothing) {
  EXPECT_FALSE(Store::open_existing(path()).value());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "a"));
  ASSERT_TRUE(open().put_plan(plan_row()));
  auto looking = value_or_throw(Store::open_existing(path()));
  ASSERT_TRUE(looking);
  EXPECT_TRUE(looking->plan(kSeal).value());
  EXPECT_FALSE(looking->put_plan(plan_row("bbbbbbbb")));
}

TEST_F(StoreTest, ReadsAnEmptyFileAsANewStore) {
  std::filesystem::create_directories(path().parent_path());
  std::ofstream(path()).close();
  EXPECT_FALSE(Store::open_existing(path()).value());
  EXPECT_TRUE(Store::open(path()));
}

TEST_F(StoreTest, WaitsForAnotherWriter) {
  Store store = open();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
  });
  const auto put = store.put_plan(plan_row());
  release.join();
  sqlite3_close(other);
  EXPECT_TRUE(put) << describe(put.error());
}

TEST_F(StoreTest, KeepsTextsToTheByte) {
  Store store = open();
  PlanRow row = plan_row();
  row.canonical_json = std::string("a\0b 'quoted' \xe2\x82\xac", 16);
  row.binary = "";
  ASSERT_TRUE(store.put_plan(row));
  EXPECT_EQ(store.plan(kSeal).value()->canonical_json, row.canonical_json);
  EXPECT_EQ(store.plan(kSeal).value()->binary, "");
}

}  // namespace
}  // namespace weir::store
