#pragma once

#include <string_view>

#include "base/error.h"
#include "lab/records.h"
#include "store/store.h"

namespace weir::price {

/// Everything that the store holds of one plan, finished or not. A payload that cannot be read is kBadData.
[[nodiscard]] Result<lab::Records> stored_records(const store::Store& store, std::string_view seal);

}  // namespace weir::price
