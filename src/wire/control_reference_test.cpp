#include <cstddef>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "wire/control.h"
#include "wire/reference_rows.h"

namespace weir::wire {
namespace {

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

TEST(ControlReference, ListsEveryFieldAtItsOffset) {
  expect_listed("control.md", "## A request", kRequest);
  expect_listed("control.md", "## A reply", kReply);
  expect_listed("control.md", "## A sample", kSample);
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
