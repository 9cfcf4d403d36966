#pragma once

#include <cstdint>

namespace weir::place {

/// For test programs that link failing_allocations.cpp, whose operator new counts: allocations of this thread
/// until the next one throws std::bad_alloc, and every one after it; negative: none does.
extern thread_local std::int64_t allocations_left;

}  // namespace weir::place
