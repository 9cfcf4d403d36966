#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "place/span.h"
#include "place/units.h"

namespace weir::place {

/// A span cut into equal slots of one size class; remembers each block's requested size.
struct Slab {
  static constexpr std::uint32_t kMostSlots = 256;

  Span* span = nullptr;
  Slab* before = nullptr;  ///< Among the slabs of its class with a free and a taken slot.
  Slab* after = nullptr;
  Tick empty_since = 0;
  std::uint32_t size_class = 0;
  std::uint32_t taken = 0;
  std::array<std::uint64_t, kMostSlots / 64> free_slots{};
  std::vector<std::uint16_t> sizes;  ///< By slot; kept when the slab is used again.
};

/// Blocks below kSmallBytes: size classes in steps of about an eighth of an octave, multiples of 64 bytes.
/// One empty slab a class stays for the next block. Not thread-safe; only reserve() may throw
/// (std::bad_alloc, nothing changed).
class SlabMap {
 public:
  SlabMap() = default;
  SlabMap(const SlabMap&) = delete;
  SlabMap& operator=(const SlabMap&) = delete;

  [[nodiscard]] static std::uint32_t class_of(std::uint64_t bytes) noexcept;
  [[nodiscard]] static std::uint32_t class_count() noexcept;
  [[nodiscard]] static std::uint64_t slot_bytes(std::uint32_t size_class) noexcept;
  /// How long a slab of this class is.
  [[nodiscard]] static Page pages(std::uint32_t size_class) noexcept;

  [[nodiscard]] bool has_room(std::uint32_t size_class) const noexcept {
    return partial_[size_class] || empty_[size_class];
  }
  /// Makes the next add() to this class safe.
  void reserve(std::uint32_t size_class);
  /// A new slab, empty, on that span.
  void add(Span& span, std::uint32_t size_class) noexcept;
  /// A block; the class must have room.
  [[nodiscard]] Offset take(std::uint32_t size_class, std::uint64_t bytes) noexcept;

  /// The slot of the block that starts there in this slab's span; nullopt when none does.
  [[nodiscard]] static std::optional<std::uint32_t> slot_at(const Span& span, Offset offset) noexcept;
  /// Ends the block in that slot. True when its span is no slab any more and goes to its owner.
  [[nodiscard]] bool free(const Span& span, std::uint32_t slot, Tick now) noexcept;
  /// The span of an empty slab that has been so since before `before`, no slab any more; nullptr when none
  /// is.
  [[nodiscard]] Span* drop_empty(Tick before) noexcept;

  [[nodiscard]] static std::uint64_t granted_bytes(const Slab& slab) noexcept;
  /// Checks this slab and its place in the lists; aborts with both values.
  void check_laws(const Slab& slab) const;

 private:
  static constexpr std::uint32_t kClasses = 64;

  void link(Slab& slab) noexcept;
  void unlink(Slab& slab) noexcept;

  std::array<Slab*, kClasses> partial_{};
  std::array<Slab*, kClasses> empty_{};
  std::uint32_t empty_count_ = 0;
  std::vector<std::unique_ptr<Slab>> all_;
  std::vector<Slab*> spare_;  ///< Its capacity covers all_.
};

}  // namespace weir::place
