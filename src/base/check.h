#pragma once

#include <sstream>

#include "base/error.h"

namespace weir::internal {

[[noreturn]] void check_failed(const char* file, int line, const char* expression, const std::string& values);

template <class A, class B>
[[noreturn]] void check_failed_on(const char* file, int line, const char* expression, const A& a,
                                  const B& b) {
  std::ostringstream values;
  values << a << " against " << b;
  check_failed(file, line, expression, values.str());
}

}  // namespace weir::internal

/// An invariant of ours. Always on; throws a Failure of kind kInternal that carries both values. Input must
/// never reach one: bad input is an Error.
#define WEIR_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::weir::internal::check_failed(__FILE__, __LINE__, #condition, ""))
#define WEIR_CHECK_OP(op, a, b)      \
  (((a)op(b)) ? static_cast<void>(0) \
              : ::weir::internal::check_failed_on(__FILE__, __LINE__, #a " " #op " " #b, (a), (b)))
#define WEIR_CHECK_EQ(a, b) WEIR_CHECK_OP(==, a, b)
#define WEIR_CHECK_LT(a, b) WEIR_CHECK_OP(<, a, b)
#define WEIR_CHECK_LE(a, b) WEIR_CHECK_OP(<=, a, b)
