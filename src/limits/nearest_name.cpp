#include "limits/nearest_name.h"

#include <algorithm>
#include <numeric>

namespace weir::limits {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Three rows of the optimal string alignment table: two back, one back, current.
  std::vector<std::size_t> older(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], older[j - 2] + 1);
    }
    older.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& candidates,
                              std::size_t most) {
  std::string_view best;
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    if (longer - std::min(name.size(), candidate.size()) > most) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance > most) continue;
    if (distance == 0) return candidate;
    best = candidate;
    most = distance - 1;
  }
  return best;
}

}  // namespace weir::limits
