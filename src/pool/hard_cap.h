#pragma once

#include <cstdint>
#include <new>

namespace weir::pool {

/// The sum behind a refusal.
struct Refusal {
  std::uint64_t requested = 0;
  std::uint64_t live = 0, retained = 0, padding = 0, overdraw = 0;
  std::uint64_t memory_limit = 0;  ///< kUnlimited: the kernel had no more.
};

/// Thrown by Pool::allocate. MLX hands it to its caller, Python shows it as MemoryError. The text is a sum:
///   weir: 536,870,912 bytes cannot be granted: live 1,021,313,024 + retained 0 + padding 1,204,224 + this
///   request = 1,559,388,160, over the memory limit of 1,073,741,824 bytes (--memory-limit); the process can
///   go on
/// Copying allocates nothing.
class OverLimit : public std::bad_alloc {
 public:
  explicit OverLimit(const Refusal& refusal) noexcept;
  [[nodiscard]] const char* what() const noexcept override { return text_; }
  [[nodiscard]] const Refusal& refusal() const noexcept { return refusal_; }

 private:
  Refusal refusal_;
  char text_[480];
};

}  // namespace weir::pool
