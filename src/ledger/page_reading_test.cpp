#include "ledger/page_reading.h"

#include <cstring>
#include <functional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/governed_child.h"
#include "wire/control.h"

namespace weir::ledger {
namespace {

using testing::HasSubstr;

using Fill = std::function<void(wire::CountersPage&)>;

PageReading reading_of(const Fill& fill) {
  return value_or_throw(parse_page(page_bytes(fill), "page"));
}

std::string refusal_of(const Fill& fill) {
  const auto reading = parse_page(page_bytes(fill), "page");
  if (reading) return "";
  EXPECT_EQ(reading.error().kind, ErrorKind::kBadData);
  return reading.error().message;
}

/// Act `number` of a process: everything in it tells which one it is.
void put_act(wire::CountersPage& page, std::uint64_t number) {
  wire::Act& act = page.acts[number % wire::kActs];
  act.time_ns.store(number);
  act.kind.store(static_cast<std::uint32_t>(wire::ActKind::kReturn));
  act.cause.store(static_cast<std::uint32_t>(wire::ActCause::kIdle));
  act.argument.store(number + 1);
  act.released.store(number + 2);
  act.footprint_before.store(number + 3);
  act.footprint_after.store(number + 4);
  act.retained_before.store(number + 5);
  act.retained_after.store(number + 6);
  page.acts_done.store(number + 1);
}

TEST(PageReading, AFreshPageHasNoActsSampleOrDevices) {
  const PageReading page = reading_of([](wire::CountersPage&) {});
  EXPECT_EQ(page.backend, wire::Backend::kCpu);
  EXPECT_EQ(page.phase, wire::Phase::kUnmarked);
  EXPECT_EQ(page.tokens, 0u);
  EXPECT_EQ(page.requests, 0u);
  EXPECT_EQ(page.acts_done, 0u);
  EXPECT_TRUE(page.acts.empty());
  EXPECT_FALSE(page.sample);
  EXPECT_TRUE(page.devices.empty());
}

TEST(PageReading, MarksAndBackendAreRead) {
  const PageReading page = reading_of([](wire::CountersPage& into) {
    into.backend.store(static_cast<std::uint32_t>(wire::Backend::kMetal));
    into.phase.store(static_cast<std::uint32_t>(wire::Phase::kDecode));
    into.tokens.store(5);
    into.requests.store(6);
  });
  EXPECT_EQ(page.backend, wire::Backend::kMetal);
  EXPECT_EQ(page.phase, wire::Phase::kDecode);
  EXPECT_EQ(page.tokens, 5u);
  EXPECT_EQ(page.requests, 6u);
}

TEST(PageReading, EachSizeClassIsReadFromItsPlace) {
  const PageReading page = reading_of([](wire::CountersPage& into) {
    for (std::size_t i = 0; i < wire::kSizeClasses; ++i) {
      into.size_classes[i].allocations.store(100 + i);
      into.size_classes[i].hits.store(200 + i);
      into.size_classes[i].retained.store(300 + i);
      into.size_classes[i].last_allocation.store(400 + i);
    }
  });
  for (std::size_t i = 0; i < wire::kSizeClasses; ++i) {
    EXPECT_EQ(page.size_classes.at(i).allocations, 100 + i);
    EXPECT_EQ(page.size_classes.at(i).hits, 200 + i);
    EXPECT_EQ(page.size_classes.at(i).retained, static_cast<std::int64_t>(300 + i));
    EXPECT_EQ(page.size_classes.at(i).last_allocation, 400 + i);
  }
}

TEST(PageReading, AnActIsReadWithItsEffect) {
  const PageReading page = reading_of([](wire::CountersPage& into) { put_act(into, 0); });
  ASSERT_EQ(page.acts.size(), 1u);
  const ActReading& act = page.acts[0];
  EXPECT_EQ(act.time_ns, 0u);
  EXPECT_EQ(act.kind, wire::ActKind::kReturn);
  EXPECT_EQ(act.cause, wire::ActCause::kIdle);
  EXPECT_EQ(act.argument, 1u);
  EXPECT_EQ(act.released, 2);
  EXPECT_EQ(act.footprint_before, 3);
  EXPECT_EQ(act.footprint_after, 4);
  EXPECT_EQ(act.retained_before, 5);
  EXPECT_EQ(act.retained_after, 6);
}

TEST(PageReading, OfManyActsTheLatestStayOldestFirst) {
  constexpr std::uint64_t kDone = 3 * wire::kActs + 5;
  const PageReading page = reading_of([](wire::CountersPage& into) {
    for (std::uint64_t i = 0; i < kDone; ++i)
      put_act(into, i);
  });
  EXPECT_EQ(page.acts_done, kDone);
  ASSERT_EQ(page.acts.size(), wire::kActs);
  for (std::size_t i = 0; i < wire::kActs; ++i)
    EXPECT_EQ(page.acts[i].time_ns, kDone - wire::kActs + i);
}

TEST(PageReading, ASlotThatWasCountedAndNeverFilledIsPassedOver) {
  const PageReading page = reading_of([](wire::CountersPage& into) {
    put_act(into, 0);
    into.acts_done.store(2);
  });
  EXPECT_EQ(page.acts.size(), 1u);
}

TEST(PageReading, ASampleKeepsWhatIsUnknownAndWhatIsNegative) {
  const PageReading page = reading_of([](wire::CountersPage& into) {
    into.sampled_ns.store(7);
    into.sampled_heap_idle.store(wire::kUnknownBytes);
    into.sampled_identified.store(3);
    into.sampled_untouched.store(0);
    into.sampled_unexplained.store(-4);
  });
  ASSERT_TRUE(page.sample);
  EXPECT_EQ(page.sample->ns, 7u);
  EXPECT_EQ(page.sample->heap_idle, std::nullopt);
  EXPECT_EQ(page.sample->identified, 3);
  EXPECT_EQ(page.sample->untouched, 0);
  EXPECT_EQ(page.sample->unexplained, -4);
}

TEST(PageReading, EachDeviceIsARowWithANameFitForATerminal) {
  const PageReading page = reading_of([](wire::CountersPage& into) {
    into.devices.store(wire::kDevices);
    for (std::size_t i = 0; i < wire::kDevices; ++i) {
      into.device_rows[i].total.store(10 + i);
      into.device_rows[i].free.store(20 + i);
      into.device_rows[i].pool_reserved.store(30 + i);
      into.device_rows[i].pool_used.store(40 + i);
      std::memset(into.device_rows[i].name, 'x', sizeof into.device_rows[i].name);
    }
    std::strcpy(into.device_rows[1].name, "B\x1b[2J");
  });
  ASSERT_EQ(page.devices.size(), wire::kDevices);
  EXPECT_EQ(page.devices[0].name, std::string(32, 'x'));
  EXPECT_EQ(page.devices[1].name, "B?[2J");
  EXPECT_EQ(page.devices[15].total, 25);
  EXPECT_EQ(page.devices[15].free, 35);
  EXPECT_EQ(page.devices[15].pool_reserved, 45);
  EXPECT_EQ(page.devices[15].pool_used, 55);
}

TEST(PageReading, ImpossibleValuesAreRefusedByName) {
  constexpr std::uint64_t kImpossible = std::uint64_t{1} << 58;
  EXPECT_EQ(refusal_of([](wire::CountersPage& page) { page.retained.store(kImpossible - 1); }), "");
  EXPECT_THAT(refusal_of([](wire::CountersPage& page) { page.retained.store(kImpossible); }),
              HasSubstr("'retained': 288230376151711744"));
  EXPECT_THAT(refusal_of([](wire::CountersPage& page) { page.size_classes[39].retained.store(~0ull); }),
              HasSubstr("'size_classes'"));
  EXPECT_THAT(refusal_of([](wire::CountersPage& page) {
                put_act(page, 0);
                page.acts[0].released.store(kImpossible);
              }),
              HasSubstr("'released'"));
  EXPECT_THAT(refusal_of([](wire::CountersPage& page) {
                put_act(page, 0);
                page.acts[0].kind.store(8);
              }),
              HasSubstr("'kind': 8"));
  EXPECT_THAT(refusal_of([](wire::CountersPage& page) {
                put_act(page, 0);
                page.acts[0].cause.store(8);
              }),
              HasSubstr("'cause': 8"));
  EXPECT_THAT(refusal_of([](wire::CountersPage& page) {
                page.sampled_ns.store(1);
                page.sampled_unexplained.store(-static_cast<std::int64_t>(kImpossible));
              }),
              HasSubstr("'sample'"));
  EXPECT_THAT(refusal_of([](wire::CountersPage& page) { page.devices.store(17); }),
              HasSubstr("'devices': 17"));
  EXPECT_THAT(refusal_of([](wire::CountersPage& page) { page.backend.store(4); }), HasSubstr("backend"));
  EXPECT_THAT(refusal_of([](wire::CountersPage& page) { page.phase.store(7); }), HasSubstr("phase"));
  EXPECT_THAT(refusal_of([](wire::CountersPage& page) {
                page.devices.store(2);
                page.device_rows[1].free.store(kImpossible);
              }),
              HasSubstr("'device_rows'"));
}

}  // namespace
}  // namespace weir::ledger
