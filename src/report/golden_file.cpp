#include "report/golden_file.h"

#include "base/golden_file.h"

namespace weir::report {

void expect_golden(const std::string& name, const std::string& text) {
  expect_golden_file("src/report/golden/" + name, text);
}

}  // namespace weir::report
