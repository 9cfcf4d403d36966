#include "pool/hard_cap.h"

#include <cstddef>
#include <cstring>

#include "pool/pool.h"

namespace weir::pool {
namespace {

/// Puts a message together in a fixed buffer; what does not fit is cut.
class FixedText {
 public:
  FixedText(char* text, std::size_t bytes) noexcept : at_(text), end_(text + bytes - 1) { *at_ = '\0'; }

  FixedText& operator<<(const char* words) noexcept {
    while (*words != '\0')
      put(*words++);
    return *this;
  }
  /// With commas between thousands.
  FixedText& operator<<(std::uint64_t number) noexcept {
    char digits[32];
    int count = 0;
    do {
      if (count % 4 == 3) digits[count++] = ',';
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0)
      put(digits[--count]);
    return *this;
  }

 private:
  void put(char c) noexcept {
    if (at_ == end_) return;
    *at_++ = c;
    *at_ = '\0';
  }

  char* at_;
  char* end_;
};

}  // namespace

OverLimit::OverLimit(const Refusal& refusal) noexcept : refusal_(refusal) {
  FixedText text(text_, sizeof text_);
  text << "weir: " << refusal.requested << " bytes cannot be granted: live " << refusal.live << " + retained "
       << refusal.retained << " + padding " << refusal.padding;
  if (refusal.memory_limit == kUnlimited) {
    text << " are held and the kernel had no more memory for this process; the process can go on";
    return;
  }
  const std::uint64_t held = refusal.live + refusal.retained + refusal.padding;
  const std::uint64_t room = ~std::uint64_t{0} - held;
  const std::uint64_t sum = refusal.requested > room ? ~std::uint64_t{0} : held + refusal.requested;
  text << " + this request = " << sum << ", ";
  if (refusal.overdraw > 0) {
    text << refusal.overdraw << " of it overdrawn and not yet repaid, ";
  } else if (sum <= refusal.memory_limit) {
    text << "in whole granules of 2,097,152 ";
  }
  text << "over the memory limit of " << refusal.memory_limit
       << " bytes (--memory-limit); the process can go on";
}

}  // namespace weir::pool
