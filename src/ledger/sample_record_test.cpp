#include <algorithm>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "ledger/control_client.h"
#include "ledger/layers_json.h"

#include <nlohmann/json.hpp>

namespace weir::ledger {
namespace {

using Random = std::mt19937_64;

std::int64_t any_bytes(Random& random) {
  return std::uniform_int_distribution<std::int64_t>(-(std::int64_t{1} << 50), std::int64_t{1} << 50)(random);
}

std::size_t up_to(Random& random, std::size_t most) {
  return std::uniform_int_distribution<std::size_t>(0, most)(random);
}

Layers any_layers(Random& random, std::size_t most_tags, std::size_t most_parts) {
  Layers layers;
  for (Bytes* value : {&layers.footprint, &layers.live, &layers.retained, &layers.untouched,
                       &layers.heap_idle, &layers.identified, &layers.unexplained, &layers.file,
                       &layers.resident, &layers.swap, &layers.overdraw, &layers.weights_file})
    if (up_to(random, 3) > 0) *value = any_bytes(random);
  layers.age_seconds = static_cast<double>(up_to(random, 5'000'000'000)) / 1e9;
  const std::size_t tags = up_to(random, most_tags);
  for (std::size_t i = 0; i < tags; ++i)
    layers.tags["tag " + std::to_string(i)] = any_bytes(random);
  const std::size_t parts = up_to(random, most_parts);
  for (std::size_t i = 0; i < parts; ++i)
    layers.identified_parts.push_back({"part " + std::to_string(i), any_bytes(random)});
  return layers;
}

std::int64_t sum_of_tags(const Layers& layers) {
  std::int64_t sum = 0;
  for (const auto& [name, bytes] : layers.tags)
    sum += bytes;
  return sum;
}

std::int64_t sum_of_parts(const Layers& layers) {
  std::int64_t sum = 0;
  for (const IdentifiedPart& part : layers.identified_parts)
    sum += part.bytes;
  return sum;
}

std::vector<IdentifiedPart> parts_of_sizes(std::size_t count) {
  std::vector<IdentifiedPart> parts;
  for (std::size_t i = 0; i < count; ++i)
    parts.push_back({"part " + std::to_string(i), static_cast<std::int64_t>(i)});
  return parts;
}

TEST(SampleRecord, WhatFitsComesBackAsItWas) {
  Random random(7);
  for (int round = 0; round < 2'000; ++round) {
    const Layers layers = any_layers(random, 24, 24);
    ASSERT_EQ(to_json(layers_of(sample_record(layers))), to_json(layers)) << "round " << round;
  }
}

TEST(SampleRecord, SumsHoldWhateverDoesNotFit) {
  Random random(8);
  for (int round = 0; round < 2'000; ++round) {
    const Layers layers = any_layers(random, 80, 200);
    const wire::SampleRecord record = sample_record(layers);
    ASSERT_LE(record.tags + record.identified_parts, wire::kSampleParts);
    const Layers back = layers_of(record);
    ASSERT_EQ(sum_of_tags(back), sum_of_tags(layers)) << "round " << round;
    ASSERT_EQ(sum_of_parts(back), sum_of_parts(layers)) << "round " << round;
  }
}

TEST(SampleRecord, TheLargestPartsStayInTheirOrderAndTheRestIsOther) {
  Layers layers;
  layers.identified_parts = parts_of_sizes(60);
  layers.identified_parts[3].bytes = -1'000;
  const Layers back = layers_of(sample_record(layers));
  ASSERT_EQ(back.identified_parts.size(), wire::kSampleParts);
  EXPECT_EQ(back.identified_parts[0].name, "part 3");
  EXPECT_EQ(back.identified_parts[1].name, "part 14");
  EXPECT_EQ(back.identified_parts.back().name, "other");
  EXPECT_EQ(back.identified_parts.back().bytes, 13 * 14 / 2 - 3);
}

TEST(SampleRecord, APartThatIsNamedOtherIsJoinedWithTheRest) {
  Layers layers;
  layers.identified_parts = parts_of_sizes(60);
  layers.identified_parts.push_back({"other", 5'000});
  const Layers back = layers_of(sample_record(layers));
  const auto others = std::count_if(back.identified_parts.begin(), back.identified_parts.end(),
                                    [](const IdentifiedPart& part) { return part.name == "other"; });
  EXPECT_EQ(others, 1);
  EXPECT_GT(back.identified_parts.back().bytes, 5'000);
}

TEST(SampleRecord, ManyPartsLeaveRoomForTheTags) {
  Layers layers;
  for (int i = 0; i < 8; ++i)
    layers.tags["tag " + std::to_string(i)] = 1;
  layers.identified_parts = parts_of_sizes(1'000);
  const wire::SampleRecord record = sample_record(layers);
  EXPECT_EQ(record.tags, 8u);
  EXPECT_EQ(record.identified_parts, 40u);
}

TEST(SampleRecord, LongNamesAreCutBetweenCharacters) {
  Layers layers;
  layers.identified_parts = {{std::string(54, 'a') + "é!", 1}, {std::string(200, 'b'), 2}, {"", 3}};
  const Layers back = layers_of(sample_record(layers));
  ASSERT_EQ(back.identified_parts.size(), 3u);
  EXPECT_EQ(back.identified_parts[0].name, std::string(54, 'a'));
  EXPECT_EQ(back.identified_parts[1].name, std::string(55, 'b'));
  EXPECT_EQ(back.identified_parts[2].name, "");
}

TEST(SampleRecord, AnyBytesAreReadWithinTheirBounds) {
  Random random(9);
  wire::SampleRecord record;
  for (int round = 0; round < 2'000; ++round) {
    auto* bytes = reinterpret_cast<unsigned char*>(&record);
    std::generate(bytes, bytes + sizeof record, [&] { return static_cast<unsigned char>(random()); });
    const Layers layers = layers_of(record);
    ASSERT_LE(layers.tags.size() + layers.identified_parts.size(), wire::kSampleParts);
    ASSERT_NO_THROW((void)to_json(layers).dump()) << "text is UTF-8";
  }
}

}  // namespace
}  // namespace weir::ledger
