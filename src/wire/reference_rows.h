#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace weir::wire {

/// For tests: where a field lies in its record.
struct Field {
  std::size_t offset = 0, bytes = 0;
};
using Fields = std::map<std::string, Field>;

/// For tests: expects the rows "| offset | bytes | `name` |" of docs/reference/`document`, from the heading
/// `after` to the next one, to be these fields, no more and no fewer.
void expect_listed(const std::string& document, const std::string& after, const Fields& fields);

}  // namespace weir::wire
