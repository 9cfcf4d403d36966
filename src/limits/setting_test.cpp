#include "limits/setting.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "limits/setting_json.h"

namespace weir::limits {
namespace {

TEST(SettingJson, HasTheContractsKeysAndNullForWhatIsNot) {
  Setting setting;
  setting.effective_bytes = 33'554'432;
  setting.source = kLibraryDefault;
  const auto json = to_json(setting);
  EXPECT_EQ(json["mode"], "unset");
  EXPECT_TRUE(json["bytes"].is_null());
  EXPECT_EQ(json["effective_bytes"], 33'554'432);
  EXPECT_TRUE(json["denominator"].is_null());
  EXPECT_TRUE(json["denominator_bytes"].is_null());
  for (const char* key : {"source", "text", "rules"})
    EXPECT_TRUE(json[key].is_string()) << key;
}

TEST(SettingJson, HoldsBothKnobsAndTheWarnings) {
  Resolved resolved;
  resolved.cache_limit = {Mode::kBytes, 5, 5, "free", 50, "WEIR_CACHE_LIMIT", "10%free", "", ""};
  resolved.warnings = {{"MLX_CACHE_LIMIT", "nothing reads it"}};
  const auto json = to_json(resolved);
  EXPECT_EQ(json["cache_limit"]["bytes"], 5);
  EXPECT_EQ(json["cache_limit"]["denominator"], "free");
  EXPECT_EQ(json["cache_limit"]["denominator_bytes"], 50);
  EXPECT_EQ(json["memory_limit"]["mode"], "unset");
  EXPECT_EQ(json["warnings"][0]["name"], "MLX_CACHE_LIMIT");
}

TEST(Echo, WithoutItsSourceStillSaysWhatItMeans) {
  const Setting setting = {Mode::kBytes, 5, 5, "free", 50, "WEIR_CACHE_LIMIT", "10%free", "", ""};
  EXPECT_EQ(echo_value(setting), "10%free = 5 bytes (free is 50 bytes)");
  EXPECT_EQ(echo(setting), "10%free = 5 bytes (WEIR_CACHE_LIMIT; free is 50 bytes)");
}

}  // namespace
}  // namespace weir::limits
