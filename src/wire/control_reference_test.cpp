#include <cstddef>
#include <fstream>
#include <map>
#include <regex>
#include <string>

#include <gtest/gtest.h>

#include "wire/control.h"

namespace weir::wire {
namespace {

struct Field {
  std::size_t offset = 0, bytes = 0;
};
using Fields = std::map<std::string, Field>;

#define WEIR_FIELD(record, name)                   \
  {                                                \
#name, {                                       \
      offsetof(record, name), sizeof(record::name) \
    }                                              \
  }

const Fields kRequest = {WEIR_FIELD(ControlRequest, magic),       WEIR_FIELD(ControlRequest, version),
                         WEIR_FIELD(ControlRequest, verb),        WEIR_FIELD(ControlRequest, flags),
                         WEIR_FIELD(ControlRequest, pid),         WEIR_FIELD(ControlRequest, start_ticks),
                         WEIR_FIELD(ControlRequest, cache_limit), WEIR_FIELD(ControlRequest, memory_limit),
                         WEIR_FIELD(ControlRequest, bytes),       WEIR_FIELD(ControlRequest, reserved)};
const Fields kReply = {WEIR_FIELD(ControlReply, magic),
                       WEIR_FIELD(ControlReply, version),
                       WEIR_FIELD(ControlReply, status),
                       WEIR_FIELD(ControlReply, verb),
                       WEIR_FIELD(ControlReply, has_sample),
                       WEIR_FIELD(ControlReply, reserved),
                       WEIR_FIELD(ControlReply, released),
                       WEIR_FIELD(ControlReply, heap_released),
                       WEIR_FIELD(ControlReply, driver_released),
                       WEIR_FIELD(ControlReply, driver_kept),
                       WEIR_FIELD(ControlReply, cache_limit),
                       WEIR_FIELD(ControlReply, memory_limit),
                       WEIR_FIELD(ControlReply, text),
                       WEIR_FIELD(ControlReply, sample)};
const Fields kSample = {WEIR_FIELD(SampleRecord, footprint),        WEIR_FIELD(SampleRecord, live),
                        WEIR_FIELD(SampleRecord, retained),         WEIR_FIELD(SampleRecord, untouched),
                        WEIR_FIELD(SampleRecord, heap_idle),        WEIR_FIELD(SampleRecord, identified),
                        WEIR_FIELD(SampleRecord, unexplained),      WEIR_FIELD(SampleRecord, file),
                        WEIR_FIELD(SampleRecord, resident),         WEIR_FIELD(SampleRecord, swap),
                        WEIR_FIELD(SampleRecord, overdraw),         WEIR_FIELD(SampleRecord, weights_file),
                        WEIR_FIELD(SampleRecord, seconds_ns),       WEIR_FIELD(SampleRecord, tags),
                        WEIR_FIELD(SampleRecord, identified_parts), WEIR_FIELD(SampleRecord, parts)};

/// The rows "| offset | bytes | `name` |" of the reference from `after` to the next heading.
Fields listed(const std::string& after) {
  std::ifstream reference(WEIR_SOURCE_DIR "/docs/reference/control.md");
  EXPECT_TRUE(reference);
  const std::regex row(R"(^\| (\d+) \| (\d+) \| `(\w+)` \|.*)");
  Fields found;
  bool inside = false;
  for (std::string line; std::getline(reference, line);) {
    if (line.starts_with("#")) inside = line == after;
    std::smatch match;
    if (inside && std::regex_match(line, match, row))
      found[match[3]] = {std::stoul(match[1]), std::stoul(match[2])};
  }
  return found;
}

void expect_listed(const std::string& after, const Fields& fields) {
  const Fields found = listed(after);
  EXPECT_EQ(found.size(), fields.size()) << after;
  for (const auto& [name, field] : fields) {
    ASSERT_TRUE(found.count(name)) << name;
    EXPECT_EQ(found.at(name).offset, field.offset) << name;
    EXPECT_EQ(found.at(name).bytes, field.bytes) << name;
  }
}

TEST(ControlReference, ListsEveryFieldAtItsOffset) {
  expect_listed("## A request", kRequest);
  expect_listed("## A reply", kReply);
  expect_listed("## A sample", kSample);
}

TEST(ControlReference, NamesEveryVerbByItsNumber) {
  std::ifstream reference(WEIR_SOURCE_DIR "/docs/reference/control.md");
  const std::string text{std::istreambuf_iterator<char>(reference), {}};
  for (const Verb verb :
       {Verb::kSample, Verb::kSet, Verb::kTrim, Verb::kReturn, Verb::kResetPeak, Verb::kNeed}) {
    const std::string row =
        "\n| " + std::to_string(static_cast<unsigned>(verb)) + " | `" + verb_name(verb) + "` |";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(ControlReference, RecordsAreAsLongAsItSays) {
  EXPECT_EQ(sizeof(ControlRequest), 64u);
  EXPECT_EQ(sizeof(ControlReply), 3440u);
}

}  // namespace
}  // namespace weir::wire
