#include "wire/control.h"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "wire/counters_page.h"

namespace weir::wire {
namespace {

ControlRequest request(Verb verb, std::uint32_t flags = 0) {
  ControlRequest made;
  made.verb = static_cast<std::uint16_t>(verb);
  made.flags = flags;
  made.pid = 7;
  return made;
}

bool is_taken(const ControlRequest& made) {
  ControlRequest into;
  return parse_control_request(&made, sizeof made, into);
}

bool is_taken(const ControlReply& made) {
  ControlReply into;
  return parse_control_reply(&made, sizeof made, into);
}

TEST(ControlRequest, EveryVerbIsTakenApart) {
  for (const Verb verb : {Verb::kSample, Verb::kTrim, Verb::kReturn, Verb::kResetPeak, Verb::kNeed}) {
    const ControlRequest made = request(verb);
    ControlRequest into;
    ASSERT_TRUE(parse_control_request(&made, sizeof made, into)) << verb_name(verb);
    EXPECT_EQ(into.verb, made.verb);
    EXPECT_EQ(into.pid, 7u);
  }
  EXPECT_FALSE(is_taken(request(static_cast<Verb>(0))));
  EXPECT_FALSE(is_taken(request(static_cast<Verb>(7))));
}

TEST(ControlRequest, AnotherLengthMagicVersionOrReservedByteIsNone) {
  ControlRequest into = request(Verb::kTrim);
  const std::string before(reinterpret_cast<const char*>(&into), sizeof into);
  const std::string longer(2 * sizeof(ControlRequest), '\0');
  ControlRequest good = request(Verb::kTrim);
  EXPECT_FALSE(parse_control_request(&good, sizeof good - 1, into));
  EXPECT_FALSE(parse_control_request(longer.data(), longer.size(), into));
  EXPECT_FALSE(parse_control_request(&good, 0, into));
  EXPECT_FALSE(parse_control_request(&good, std::size_t{1} << 30, into)) << "not a byte of it is read";
  good.magic ^= 1;
  EXPECT_FALSE(is_taken(good));
  good = request(Verb::kTrim);
  good.version = 2;
  EXPECT_FALSE(is_taken(good));
  good = request(Verb::kTrim);
  good.reserved[1] = 1;
  EXPECT_FALSE(is_taken(good));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(&into), sizeof into), before) << "untouched";
}

TEST(ControlRequest, FlagsStandWithTheirValuesAndWithSetAlone) {
  EXPECT_TRUE(is_taken(request(Verb::kSet, kSetsCacheLimit)));
  EXPECT_TRUE(is_taken(request(Verb::kSet, kUnsetsCacheLimit | kSetsMemoryLimit)));
  EXPECT_FALSE(is_taken(request(Verb::kSet))) << "sets nothing";
  EXPECT_FALSE(is_taken(request(Verb::kSet, kSetsCacheLimit | kUnsetsCacheLimit)));
  EXPECT_FALSE(is_taken(request(Verb::kSet, kSetsCacheLimit | 8)));
  EXPECT_FALSE(is_taken(request(Verb::kTrim, kSetsCacheLimit)));
  ControlRequest made = request(Verb::kSet, kSetsCacheLimit);
  made.cache_limit = kNoLimit;
  EXPECT_TRUE(is_taken(made));
  made.memory_limit = 5;
  EXPECT_FALSE(is_taken(made)) << "a value that nothing asks for";
  made = request(Verb::kTrim);
  made.bytes = 5;
  EXPECT_FALSE(is_taken(made));
  made.verb = static_cast<std::uint16_t>(Verb::kNeed);
  EXPECT_TRUE(is_taken(made));
}

TEST(ControlReply, WhatEveryReaderMayTrustIsChecked) {
  ControlReply good;
  good.verb = static_cast<std::uint16_t>(Verb::kSample);
  good.has_sample = 1;
  good.sample.tags = 1;
  good.sample.identified_parts = kSampleParts - 1;
  ASSERT_TRUE(is_taken(good));
  const auto spoilt = [&](auto&& spoil) {
    ControlReply bad = good;
    spoil(bad);
    return !is_taken(bad);
  };
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.magic = 0; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.version = 0; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.status = 6; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.verb = 7; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.has_sample = 2; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.reserved = 1; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.released = std::uint64_t{1} << 57; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { std::memset(reply.text, 'x', sizeof reply.text); }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.sample.tags = kSampleParts + 1; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.sample.identified_parts = kSampleParts; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.sample.identified_parts = ~0U; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.sample.live = INT64_MAX; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) { reply.sample.parts[5].bytes = INT64_MIN + 1; }));
  EXPECT_TRUE(spoilt([](ControlReply& reply) {
    std::memset(reply.sample.parts[kSampleParts - 1].name, 'x', kSampleNameBytes);
  }));
  EXPECT_FALSE(spoilt([](ControlReply& reply) { reply.sample.overdraw = kUnknownBytes; }));
  EXPECT_FALSE(spoilt([](ControlReply& reply) { reply.verb = 0; })) << "of a request that nobody could read";
}

TEST(SocketName, IsPrintedAsItIsParsed) {
  char name[kSocketNameBytes];
  EXPECT_EQ(std::string(name, print_socket_name(81923, 4711, name)), "81923-4711.sock");
  std::uint64_t run = 0;
  std::uint32_t pid = 0;
  const std::size_t longest = print_socket_name(~std::uint64_t{0}, 0x7fffffff, name);
  EXPECT_EQ(longest, std::strlen(name));
  EXPECT_TRUE(parse_socket_name(name, run, pid));
  EXPECT_EQ(run, ~std::uint64_t{0});
  EXPECT_EQ(pid, 0x7fffffffU);
  for (const char* bad :
       {"", "-", "1-2", "1-2.page", "1-2.sockx", "01-2.sock", "1-99999999999.sock", "1.sock"})
    EXPECT_FALSE(parse_socket_name(bad, run, pid)) << bad;
}

}  // namespace
}  // namespace weir::wire
