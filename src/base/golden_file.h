#pragma once

#include <gtest/gtest.h>
#include <cstdlib>
#include <string>

#include "base/file.h"

namespace weir {

/// For tests: compares `text` with `file` below the source folder; with WEIR_UPDATE_GOLDEN set in the
/// environment it writes the file instead.
inline void expect_golden_file(const std::string& file, const std::string& text) {
  const std::string path = std::string(WEIR_SOURCE_DIR) + "/" + file;
  if (std::getenv("WEIR_UPDATE_GOLDEN") != nullptr) {
    value_or_throw(write_atomically(path, text, 0644));
    return;
  }
  const Result<std::string> golden = read_text(path);
  ASSERT_TRUE(golden) << describe(golden.error()) << " (tools/update_golden writes it)";
  EXPECT_EQ(*golden, text) << "differs from " << path << "; tools/update_golden writes it anew";
}

}  // namespace weir
