#include "ledger/peak.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/measured_child.h"

namespace weir::ledger {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMB = 1'000'000;
constexpr std::int64_t kBig = 200 * kMB;

ProcStatus status(std::int64_t anonymous, std::int64_t file, std::int64_t swap, std::int64_t high_water) {
  return {.anonymous = anonymous, .file = file, .shared = 0, .swap = swap, .high_water = high_water};
}

TEST(PeakWindow, BoundsThePeakByTheExtremesSeen) {
  PeakWindow window(status(100, 50, 0, 150));
  window.add(status(120, 80, 0, 500));
  const PeakFootprint peak = window.bound(true, 0, FileMappings::kStay);
  EXPECT_EQ(peak.high_bytes, 450);
  EXPECT_EQ(peak.low_bytes, 420);
  EXPECT_EQ(window.bound(true, 10, FileMappings::kStay).high_bytes, 460);
  EXPECT_EQ(window.bound(true, 10, FileMappings::kStay).low_bytes, 410);
}

TEST(PeakWindow, LowEndIsWhatWasSeenUnlessMappingsStayAndTheMarkWasReset) {
  PeakWindow window(status(100, 50, 0, 150));
  window.add(status(120, 50, 0, 500));
  EXPECT_EQ(window.bound(true, 0, FileMappings::kMayGo).low_bytes, 120);
  EXPECT_EQ(window.bound(false, 0, FileMappings::kStay).low_bytes, 120);
  EXPECT_EQ(window.bound(true, 0, FileMappings::kStay).low_bytes, 450);
}

TEST(PeakWindow, SwapWidensTheInterval) {
  PeakWindow window(status(100, 50, 0, 150));
  window.add(status(60, 50, 40, 150));
  const PeakFootprint peak = window.bound(true, 0, FileMappings::kStay);
  EXPECT_EQ(peak.high_bytes, 140);
  EXPECT_EQ(peak.low_bytes, 100);
}

TEST(PeakWindow, SourceNamesCounterResetAndWidth) {
  const PeakWindow window(status(100, 50, 0, 150));
  EXPECT_THAT(
      window.bound(true, 4, FileMappings::kStay).source,
      ::testing::AllOf(HasSubstr("VmHWM"), HasSubstr("reset at the start"), HasSubstr("width 8 bytes")));
  EXPECT_THAT(window.bound(false, 0, FileMappings::kStay).source, HasSubstr("since process start"));
}

TEST(CounterError, GrowsWithTheProcessors) {
  EXPECT_EQ(counter_error_bytes(1, 4096), 96 * 4096) << "one CPU: the sum of all remainders";
  EXPECT_EQ(counter_error_bytes(2, 4096), 148 * 4096);
  EXPECT_GT(counter_error_bytes(64, 4096), counter_error_bytes(16, 4096));
}

TEST(PeakMeter, SeesMemoryThatCameAndWent) {
  const auto values = measured_in_child([] {
    PeakMeter meter = PeakMeter::start(FileMappings::kStay);
    const std::int64_t before = read_own_status()->footprint();
    ::munmap(map_touched(kBig), kBig);
    const PeakFootprint peak = meter.read();
    return std::vector<std::int64_t>{peak.high_bytes - before, peak.low_bytes - before,
                                     peak.source.find("reset at the start") != std::string::npos};
  });
  ASSERT_EQ(values.size(), 3u);
  EXPECT_GE(values[0], kBig);
  EXPECT_LE(values[0], kBig + 3 * kMB);
  if (values[2] != 0) {
    EXPECT_GE(values[1], kBig - 4 * kMB);
  }
}

/// Whether this process may reset its mark, found without the code under test.
bool reset_is_permitted() {
  const int fd = ::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  const bool permitted = fd >= 0 && ::write(fd, "5", 1) == 1;
  if (fd >= 0) ::close(fd);
  return permitted;
}

TEST(PeakMeter, ForgetsWhatWasBeforeItsStartWhereTheMarkMayBeReset) {
  const auto values = measured_in_child([] {
    const bool permitted = reset_is_permitted();
    ::munmap(map_touched(kBig), kBig);
    PeakMeter meter = PeakMeter::start();
    const PeakFootprint peak = meter.read();
    return std::vector<std::int64_t>{peak.high_bytes - read_own_status()->footprint(), permitted,
                                     peak.source.find("reset at the start") != std::string::npos};
  });
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[1], values[2]) << "the source says whether the mark was reset";
  if (values[1] == 0) GTEST_SKIP() << "clear_refs is not permitted here";
  EXPECT_LE(values[0], 4 * kMB);
}

TEST(PeakMeter, ATouchedFileIsNotInTheLowEnd) {
  // Mapped, touched and unmapped between two observations: the mark rises, the low end may not.
  const auto values = measured_in_child([] {
    std::string name = (std::filesystem::temp_directory_path() / "weir-peak-XXXXXX").string();
    const int file = ::mkstemp(name.data());
    ::unlink(name.c_str());
    std::vector<char> part(1 << 20, 'x');
    for (int i = 0; i < 100; ++i)
      if (::write(file, part.data(), part.size()) < 0) std::abort();
    PeakMeter meter = PeakMeter::start();
    const std::int64_t before = read_own_status()->footprint();
    const std::size_t size = 100u << 20;
    auto* mapped =
        static_cast<volatile char*>(::mmap(nullptr, size, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0));
    std::int64_t sum = 0;
    for (std::size_t at = 0; at < size; at += 4096)
      sum += mapped[at];
    const std::int64_t file_pages = read_own_status()->file;
    ::munmap(const_cast<char*>(mapped), size);
    const PeakFootprint peak = meter.read();
    return std::vector<std::int64_t>{peak.low_bytes - before, peak.high_bytes - before, file_pages, sum};
  });
  ASSERT_EQ(values.size(), 4u);
  if (values[2] < 100 * kMB) GTEST_SKIP() << "the temporary folder's files do not count as RssFile here";
  EXPECT_LE(values[0], 4 * kMB);
  EXPECT_GE(values[1], 100 * kMB) << "the high end cannot exclude them";
}

}  // namespace
}  // namespace weir::ledger
