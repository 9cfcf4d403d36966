#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "place/placement.h"

namespace weir::place {

/// A placement whose every answer is checked against a simple model of memory, for tests: GoogleTest
/// failures, never a wrong answer unseen.
class CheckedPlacement {
 public:
  explicit CheckedPlacement(const Options& options = {}) : placement_(options) {}

  Placement& operator*() noexcept { return placement_; }
  Placement* operator->() noexcept { return &placement_; }

  /// Grants and does the actions; checks alignment, overlap, backing and that nothing idle was left over when
  /// `backed` grew.
  Grant grant(std::uint64_t bytes, Tick now = 0, std::uint64_t most_backed = kNoBound);
  /// Grants what must fit; its offset.
  Offset offset_of(std::uint64_t bytes, Tick now = 0);
  void free(Offset offset, Tick now = 0);
  void shrink(std::uint64_t most_retained);
  void shrink_older(Tick before);
  /// Compares the totals with the model.
  void check_totals() const;

  [[nodiscard]] std::uint64_t live_bytes() const noexcept { return live_bytes_; }
  [[nodiscard]] std::size_t live_blocks() const noexcept { return live_.size(); }
  /// What the last call that took actions gave.
  [[nodiscard]] const std::vector<Action>& actions() const noexcept { return actions_; }
  [[nodiscard]] const std::set<Granule>& backed() const noexcept { return backed_; }

 private:
  void check_new_block(Offset offset, std::uint64_t bytes) const;
  void follow();

  Placement placement_;
  std::vector<Action> actions_;
  std::set<Granule> backed_;
  std::map<Offset, std::uint64_t> live_;
  std::uint64_t live_bytes_ = 0;
};

}  // namespace weir::place
