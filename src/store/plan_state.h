#pragma once

#include <filesystem>
#include <string_view>

#include "store/database.h"
#include "store/rows.h"

namespace weir::store {

/// Private to the library: how the state of a plan stands in its column.
[[nodiscard]] std::string_view word(PlanState state);

/// Inside the caller's transaction; throws kInternal when there is no such plan.
void update_plan_state(Database& database, const std::filesystem::path& path, std::string_view seal,
                       PlanState state);

}  // namespace weir::store
