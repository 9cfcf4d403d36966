#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "place/units.h"

namespace weir::place {

/// A freed block that the rule keeps.
struct KeptBlock {
  Offset offset = 0;
  std::uint64_t capacity = 0;
};

/// MLX's own retention on a CPU (0.32.0 to 0.32.4), as a state machine over blocks that somebody else owns:
///   reuse  the smallest kept capacity >= size, if it is < min(2 × size, size + 2 × 4,096); of equal ones the
///          oldest kept
///   keep   a freed block of capacity > 0 if kept + capacity <= limit, else it is dropped
///   limit  lowering it drops least recently kept first until what is kept fits; if at least 0.9 of what is
///          kept must go, all of it goes
/// Not thread-safe; may throw std::bad_alloc and then has changed nothing.
class MlxRule {
 public:
  static constexpr std::uint64_t kDefaultLimit = 32ULL << 20;

  explicit MlxRule(std::uint64_t limit = kDefaultLimit);
  MlxRule(MlxRule&&) noexcept;
  MlxRule& operator=(MlxRule&&) noexcept;
  ~MlxRule();

  /// A kept block for this request, no longer kept from now on.
  [[nodiscard]] std::optional<KeptBlock> reuse(std::uint64_t size) noexcept;
  /// Whether the freed block is kept; otherwise its owner drops it.
  [[nodiscard]] bool keep(const KeptBlock& block);
  /// Sets the limit (kNoBound: unlimited), appends what is dropped; returns the previous limit.
  std::uint64_t set_limit(std::uint64_t limit, std::vector<KeptBlock>& dropped);
  /// Drops everything.
  void clear(std::vector<KeptBlock>& dropped);

  [[nodiscard]] std::uint64_t kept_bytes() const noexcept;
  [[nodiscard]] std::uint64_t limit() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::place
