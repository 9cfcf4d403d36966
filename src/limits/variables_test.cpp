#include "limits/variables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "limits/nearest_name.h"

namespace weir::limits {
namespace {

using ::testing::HasSubstr;

std::string warning_for(const std::string& name) {
  const auto warnings = unread_variables({{name, "1"}});
  return warnings.empty() ? "" : warnings.front().name + ": " + warnings.front().what;
}

TEST(UnreadVariables, WarnOfNamesThatOnlyFolkloreKnows) {
  for (const char* name : {"MLX_METAL_CACHE_LIMIT", "MLX_CACHE_LIMIT", "MLX_MEMORY_LIMIT",
                           "MLX_METAL_MEMORY_LIMIT", "MLX_BUFFER_CACHE_LIMIT", "MLX_SOME_NEW_LIMIT_GB"}) {
    EXPECT_THAT(warning_for(name), HasSubstr("neither MLX nor weir reads it")) << name;
    EXPECT_THAT(warning_for(name), HasSubstr("use WEIR_")) << name;
  }
}

TEST(UnreadVariables, WarnOfUnknownNamesOfOurs) {
  EXPECT_THAT(warning_for("WEIR_CACHE_LIMT"), HasSubstr("did you mean WEIR_CACHE_LIMIT?"));
  EXPECT_THAT(warning_for("WEIR_SPEED"), HasSubstr("WEIR_CACHE_LIMIT, WEIR_MEMORY_LIMIT, WEIR_STATE_DIR"));
  EXPECT_THAT(warning_for("OLLAMA_MLX_CACHE_LIMITS"), HasSubstr("did you mean OLLAMA_MLX_CACHE_LIMIT?"));
  EXPECT_THAT(warning_for("WEIR_\x1b[2J"), HasSubstr("\\x1b"));
}

TEST(UnreadVariables, LeaveReadAndForeignNamesAlone) {
  for (const WeirVariable& variable : weir_variables()) {
    EXPECT_EQ(warning_for(std::string(variable.name)), "");
  }
  for (const CompatibleName& name : compatible_names())
    EXPECT_EQ(warning_for(std::string(name.name)), "");
  for (const char* name :
       {"PATH", "HOME", "MLX_DISABLE_COMPILE", "MLX_BFS_MAX_WIDTH", "OLLAMA_HOST", "", "X"}) {
    EXPECT_EQ(warning_for(name), "") << name;
  }
}

TEST(NearestName, CountsEditsAndPrefersTheFirstOfEquals) {
  EXPECT_EQ(edit_distance("pirce", "price"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(nearest_name("pirce", {"price", "limits"}), "price");
  EXPECT_EQ(nearest_name("limit", {"price", "limits"}), "limits");
  EXPECT_EQ(nearest_name("xyzzy", {"price", "limits"}), "");
  EXPECT_EQ(nearest_name("ab", {"aa", "bb"}), "aa");
  EXPECT_EQ(nearest_name("a", {"b", "a"}), "a");
}

}  // namespace
}  // namespace weir::limits
