#include "ledger/faults.h"

#include <sys/resource.h>

namespace weir::ledger {

Faults own_faults() noexcept {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);  // cannot fail: a constant and a valid address
  return {.minor = usage.ru_minflt, .major = usage.ru_majflt};
}

}  // namespace weir::ledger
