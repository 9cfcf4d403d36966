#include "base/check.h"

#include <cstring>

namespace weir::internal {

void check_failed(const char* file, int line, const char* expression, const std::string& values) {
  const char* slash = std::strrchr(file, '/');
  std::string message = std::string("broken invariant: ") + expression;
  if (!values.empty()) message += ": " + values;
  throw Failure({ErrorKind::kInternal, std::string(slash ? slash + 1 : file) + ":" + std::to_string(line),
                 message + "; this is a bug in weir"});
}

}  // namespace weir::internal
