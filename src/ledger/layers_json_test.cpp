#include "ledger/layers_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace weir::ledger {
namespace {

using ::testing::HasSubstr;

Layers example() {
  Layers layers;
  layers.footprint = 1000;
  layers.live = 600;
  layers.retained = 100;
  layers.heap_idle = 50;
  layers.identified = 270;
  layers.unexplained = -20;
  layers.file = 30;
  layers.resident = 1030;
  layers.swap = 0;
  layers.age_seconds = 0.25;
  layers.tags = {{"weights", 500}, {"kv", 100}};
  layers.identified_parts = {{"main stack", 20}, {"thread stacks", 250}};
  return layers;
}

TEST(LayersJson, HasEveryKeyAndNullForUnknown) {
  const nlohmann::json json = to_json(example());
  for (const char* key :
       {"footprint", "live", "retained", "untouched", "heap_idle", "identified", "unexplained", "file",
        "resident", "swap", "overdraw", "weights_file", "age_seconds", "tags", "identified_parts"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json.size(), 15u);
  EXPECT_TRUE(json["untouched"].is_null());
  EXPECT_EQ(json["swap"], 0) << "known to be none is not unknown";
  EXPECT_EQ(json["unexplained"], -20);
  EXPECT_EQ(json["tags"]["kv"], 100);
  EXPECT_EQ(json["identified_parts"][1]["name"], "thread stacks");
}

TEST(LayersJson, EmptyTagsAreAnObject) {
  EXPECT_TRUE(to_json(Layers{})["tags"].is_object());
}

TEST(LayersJson, ComesBackAsItWas) {
  const auto back = layers_from_json(nlohmann::json::parse(to_json(example()).dump()));
  ASSERT_TRUE(back) << describe(back.error());
  EXPECT_EQ(to_json(*back), to_json(example()));
  EXPECT_EQ(back->untouched, std::nullopt);
  EXPECT_EQ(back->unexplained, -20);
}

TEST(LayersJson, MissingKeysAreUnknownAndNewOnesAreSkipped) {
  const auto layers = layers_from_json(nlohmann::json::parse(R"({"live": 5, "later": [1]})"));
  ASSERT_TRUE(layers);
  EXPECT_EQ(layers->live, 5);
  EXPECT_EQ(layers->footprint, std::nullopt);
}

TEST(LayersJson, WrongKindsNameTheirKey) {
  const std::pair<const char*, const char*> kCases[] = {
      {"[]", "layers"},
      {R"({"live": "5"})", "live"},
      {R"({"live": 1.5})", "live"},
      {R"({"live": 18446744073709551615})", "live"},
      {R"({"age_seconds": null})", "age_seconds"},
      {R"({"tags": []})", "tags"},
      {R"({"tags": {"kv": null}})", "tags.kv"},
      {R"({"identified_parts": {}})", "identified_parts"},
      {R"({"identified_parts": [1]})", "identified_parts"},
      {R"({"identified_parts": [{"name": 1, "bytes": 1}]})", "identified_parts.name"},
      {R"({"identified_parts": [{"name": "a", "bytes": "1"}]})", "identified_parts.bytes"},
  };
  for (const auto& [text, key] : kCases) {
    const auto layers = layers_from_json(nlohmann::json::parse(text));
    ASSERT_FALSE(layers) << text;
    EXPECT_EQ(layers.error().kind, ErrorKind::kBadData);
    EXPECT_THAT(layers.error().message, HasSubstr("'" + std::string(key) + "'")) << text;
  }
}

}  // namespace
}  // namespace weir::ledger
