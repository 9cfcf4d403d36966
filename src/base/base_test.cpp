#include <sys/stat.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "base/byte_text.h"
#include "base/check.h"
#include "base/child_process.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "base/sha256.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

TEST(ByteText, PrintsExactAndShortForms) {
  EXPECT_EQ(with_commas(33554432), "33,554,432");
  EXPECT_EQ(with_commas(-1000), "-1,000");
  EXPECT_EQ(with_commas(INT64_MIN), "-9,223,372,036,854,775,808");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(short_bytes(1880000000), "1.88 GB");
  EXPECT_EQ(short_bytes(-142400000), "-142 MB");
  EXPECT_EQ(short_bytes(0), "0 B");
  EXPECT_EQ(short_bytes(999999), "1.00 MB");
}

TEST(Sha256, MatchesTheStandardsExamples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Check, ThrowsWithBothValues) {
  try {
    WEIR_CHECK_EQ(1 + 1, 3);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().kind, ErrorKind::kInternal);
    EXPECT_NE(std::string(failure.what()).find("2 against 3"), std::string::npos);
  }
}

class FileTest : public testing::Test {
 protected:
  ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

TEST_F(FileTest, WritesWholeFilesOrNone) {
  const auto path = folder_ / "result.md";
  ASSERT_TRUE(write_atomically(path, "one"));
  ASSERT_TRUE(write_atomically(path, "two"));
  EXPECT_EQ(read_text(path).value(), "two");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  const auto missing = write_atomically(folder_ / "none" / "x", "y");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kEnvironment);
}

TEST_F(FileTest, ReportsShortReads) {
  const auto path = folder_ / "short";
  ASSERT_TRUE(write_atomically(path, "12345"));
  const auto file = ReadOnlyFile::open(path);
  ASSERT_TRUE(file);
  char bytes[8];
  EXPECT_TRUE(file->read_at(2, bytes, 3));
  const auto beyond = file->read_at(2, bytes, 4);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().kind, ErrorKind::kBadData);
  EXPECT_EQ(ReadOnlyFile::open(folder_).error().kind, ErrorKind::kBadData);
  EXPECT_EQ(ReadOnlyFile::open(folder_ / "no").error().kind, ErrorKind::kEnvironment);
}

TEST_F(FileTest, RefusesAPipeInsteadOfWaitingForAWriter) {
  const auto path = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_text(path).error().kind, ErrorKind::kBadData);
  EXPECT_EQ(ReadOnlyFile::open(path).error().kind, ErrorKind::kBadData);
}

TEST(ChildProcess, EchoesLinesAndReportsExit) {
  auto child = ChildProcess::start({{"cat"}, {}});
  ASSERT_TRUE(child);
  ASSERT_TRUE(child->write_line("hello"));
  EXPECT_EQ(child->read_line(5s).value().value(), "hello");
  EXPECT_EQ(child->finish(5s).code, 0);
}

TEST(ChildProcess, HasExactlyTheEnvironmentThatIsGiven) {
  const std::string longer = "WEIR_B=" + std::string(40, 'b');
  auto child = ChildProcess::start({{"/usr/bin/env"}, std::vector<std::string>{"WEIR_A=1", longer}});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->read_line(5s).value().value(), "WEIR_A=1");
  EXPECT_EQ(child->read_line(5s).value().value(), longer);
  EXPECT_FALSE(child->read_line(5s).value());
}

TEST(ChildProcess, NamesAProgramThatDoesNotExist) {
  auto child = ChildProcess::start({{"/no/such/program"}, {}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().kind, ErrorKind::kEnvironment);
}

TEST(ChildProcess, DoesNotWaitForWhatADeadChildLeftBehind) {
  auto child = ChildProcess::start({{"sh", "-c", "echo last; sleep 100 & exit 3"}, {}});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->read_line(20s).value().value(), "last");
  EXPECT_EQ(child->read_line(20s).value(), std::nullopt);
  EXPECT_EQ(child->finish(5s).code, 3);
}

TEST(ChildProcess, ReportsSignalsAndSilence) {
  auto silent = ChildProcess::start({{"sleep", "100"}, {}});
  ASSERT_TRUE(silent);
  EXPECT_FALSE(silent->read_line(10ms));
  const ChildExit killed = silent->finish(10ms);
  EXPECT_TRUE(killed.by_signal);
  EXPECT_EQ(killed.code, 137);
}

}  // namespace
}  // namespace weir
