#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "limits/setting.h"

namespace weir::limits {

/// A bound as a scope asks for it, and as it is in force. `unset` asks for nothing; `unlimited` is a bound
/// above every number.
struct Bound {
  Mode mode = Mode::kUnset;           ///< kBytes, kUnset or kUnlimited.
  std::optional<std::int64_t> bytes;  ///< When mode is kBytes.

  bool operator==(const Bound&) const = default;

  [[nodiscard]] static Bound unset() { return {}; }
  [[nodiscard]] static Bound unlimited() { return {Mode::kUnlimited, std::nullopt}; }
  [[nodiscard]] static Bound of_bytes(std::int64_t bytes) { return {Mode::kBytes, bytes}; }
};

/// The bound of both together: the smaller number, `unset` giving way to anything.
[[nodiscard]] Bound minimum(const Bound& a, const Bound& b);

/// Nested bounds of one knob. In force is the minimum of all open scopes: an inner scope can tighten and
/// never loosen; leaving one restores what the others ask for, in whatever order they leave. With no open
/// scope, or only unset ones, the library's default is in force. For one thread; must outlive its scopes.
class LimitScopes {
 public:
  /// Called with the new bound whenever the one in force changes, and never else. It must not enter or leave
  /// scopes. When it throws as a scope is entered, that scope is not entered; as one leaves it must not
  /// throw.
  using Setter = std::function<void(const Bound&)>;

  /// One open scope; leaves on destruction. A moved-from scope is not open.
  class Scope {
   public:
    Scope(Scope&& other) noexcept;
    Scope& operator=(Scope&&) = delete;
    ~Scope();
    /// What was in force before this scope was entered.
    [[nodiscard]] const Bound& previous() const noexcept { return previous_; }

   private:
    friend class LimitScopes;
    Scope(LimitScopes* owner, std::uint64_t id, Bound previous)
        : owner_(owner), id_(id), previous_(previous) {}

    LimitScopes* owner_;
    std::uint64_t id_;
    Bound previous_;
  };

  explicit LimitScopes(Setter setter) : setter_(std::move(setter)) {}
  LimitScopes(const LimitScopes&) = delete;
  LimitScopes& operator=(const LimitScopes&) = delete;

  [[nodiscard]] Scope enter(const Bound& bound);
  [[nodiscard]] const Bound& in_force() const noexcept { return in_force_; }

 private:
  struct Open {
    std::uint64_t id;
    Bound bound;
  };

  void leave(std::uint64_t id) noexcept;

  Setter setter_;
  std::vector<Open> open_;
  Bound in_force_;
  std::uint64_t next_id_ = 0;
};

}  // namespace weir::limits
