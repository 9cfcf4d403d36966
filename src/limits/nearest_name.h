#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::limits {

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name` within `most` edits, the first of equals; "" when none is near. A name
/// that is one of the candidates answers itself.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            const std::vector<std::string_view>& candidates,
                                            std::size_t most = 2);

}  // namespace weir::limits
