#include "wire/reference_rows.h"

#include <fstream>
#include <regex>

#include <gtest/gtest.h>

namespace weir::wire {
namespace {

/// The rows "| offset | bytes | `name` |" of the reference from `after` to the next heading.
Fields listed(const std::string& document, const std::string& after) {
  std::ifstream reference(WEIR_SOURCE_DIR "/docs/reference/" + document);
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

}  // namespace

void expect_listed(const std::string& document, const std::string& after, const Fields& fields) {
  const Fields found = listed(document, after);
  EXPECT_EQ(found.size(), fields.size()) << after;
  for (const auto& [name, field] : fields) {
    ASSERT_TRUE(found.count(name)) << name;
    EXPECT_EQ(found.at(name).offset, field.offset) << name;
    EXPECT_EQ(found.at(name).bytes, field.bytes) << name;
  }
}

}  // namespace weir::wire
