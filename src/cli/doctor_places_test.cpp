#include "cli/doctor_places.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "cli/healthy_facts.h"

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A variable of this process for one test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(DoctorPlaces, ADamagedStoreIsNotAnUnusableOne) {
  DoctorFacts facts = healthy_facts();
  facts.places.store = fail(ErrorKind::kBadData, "/state/weir.db", "damaged");
  EXPECT_EQ(ids(facts), "store-damaged");
  EXPECT_THAT(finding(facts, "store-damaged").mend,
              StartsWith("mv '/state/weir.db' '/state/weir.db.damaged'"));
  facts.places.store = fail(ErrorKind::kEnvironment, "/state", "cannot open");
  EXPECT_EQ(ids(facts), "store-unusable");
}

TEST(DoctorPlaces, AnUnfitRuntimeFolderHidesEverything) {
  DoctorFacts facts = healthy_facts();
  facts.places.runtime_folder =
      fail(ErrorKind::kEnvironment, "/tmp/weir-1", "a symbolic link; rm '/tmp/weir-1'");
  EXPECT_EQ(ids(facts), "runtime-folder");
  EXPECT_THAT(finding(facts, "runtime-folder").what, HasSubstr("rm '/tmp/weir-1'"));
  facts = healthy_facts();
  facts.places.runtime_free_bytes = 5000;
  EXPECT_EQ(ids(facts), "runtime-folder-full");
  facts.places.runtime_free_bytes.reset();
  EXPECT_EQ(ids(facts), "");
}

TEST(DoctorPlaces, CountsStalePages) {
  DoctorFacts facts = healthy_facts();
  facts.places.stale_pages = {"0-5.page"};
  EXPECT_THAT(finding(facts, "stale-pages").what,
              HasSubstr("1 page of processes that ended without removing it lies"));
  facts.places.stale_pages.push_back("0-6.page");
  EXPECT_THAT(finding(facts, "stale-pages").what, HasSubstr("2 pages of processes"));
}

TEST(DoctorPlaces, NamesProcessesInTrouble) {
  DoctorFacts facts = healthy_facts();
  facts.places.governed = {{.pid = 77, .command = "python3", .troubles = 3},
                           {.pid = 78, .command = "other", .off = true}};
  EXPECT_EQ(ids(facts), "troubles ungoverned");
  EXPECT_THAT(finding(facts, "troubles").mend, StartsWith("weir ctl 77 return"));
}

TEST(Places, AStoreThatIsNoDatabaseIsDamaged) {
  const ScratchFolder folder;
  const Variable state("WEIR_STATE_DIR", (folder.path() / "state").string());
  const Variable runtime("WEIR_RUNTIME_DIR", (folder.path() / "run").string());
  EXPECT_TRUE(places_here().store) << "an absent one is no fault";
  std::filesystem::create_directory(folder.path() / "state");
  std::ofstream(folder.path() / "state" / "weir.db") << std::string(5000, 'x');
  const Places places = places_here();
  ASSERT_FALSE(places.store);
  EXPECT_EQ(places.store.error().kind, ErrorKind::kBadData);
  EXPECT_EQ(places.store.error().where, (folder.path() / "state" / "weir.db").string());
}

TEST(Places, ReadTheRuntimeFolder) {
  const ScratchFolder folder;
  const Variable state("WEIR_STATE_DIR", folder.path().string());
  const Variable runtime("WEIR_RUNTIME_DIR", (folder.path() / "run").string());
  const Places places = places_here();
  ASSERT_TRUE(places.runtime_folder);
  EXPECT_GT(places.runtime_free_bytes.value_or(0), 0);
  EXPECT_TRUE(places.governed.empty());
  EXPECT_TRUE(places.stale_pages.empty());
}

}  // namespace
}  // namespace weir::cli
