#include "report/golden_file.h"

#include <gtest/gtest.h>
#include <cstdlib>

#include "base/file.h"

namespace weir::report {

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(WEIR_SOURCE_DIR) + "/src/report/golden/" + name;
  if (std::getenv("WEIR_UPDATE_GOLDEN") != nullptr) {
    value_or_throw(write_atomically(path, text, 0644));
    return;
  }
  const Result<std::string> golden = read_text(path);
  ASSERT_TRUE(golden) << describe(golden.error()) << " (tools/update_golden writes it)";
  EXPECT_EQ(*golden, text) << "differs from " << path << "; tools/update_golden writes it anew";
}

}  // namespace weir::report
