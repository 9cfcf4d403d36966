#pragma once

#include <cstddef>
#include <cstdint>

/// The system calls on memory that the pool makes, each in one place, so that a test can make any of them
/// fail.
namespace weir::pool::kernel {

enum class Call : std::uint8_t { kMap, kUnmap, kProtect, kDiscard, kMove };
inline constexpr unsigned kEveryCall = ~0u;
[[nodiscard]] constexpr unsigned only(Call call) noexcept {
  return 1u << static_cast<unsigned>(call);
}

/// Private anonymous memory, not charged where the kernel allows that; nullptr on failure.
[[nodiscard]] void* map(std::size_t bytes, int protection) noexcept;
/// The same over an existing mapping: its pages are gone, as is what mprotect and mremap did to it.
[[nodiscard]] bool map_over(void* at, std::size_t bytes, int protection) noexcept;
[[nodiscard]] bool unmap(void* at, std::size_t bytes) noexcept;
[[nodiscard]] bool make_usable(void* at, std::size_t bytes) noexcept;
/// Gives the pages back; the addresses stay and read zero.
[[nodiscard]] bool discard(void* at, std::size_t bytes) noexcept;

enum class Moved : std::uint8_t { kDone, kFailed, kUnsupported };
/// The pages behind `from` go to `to`, whose own are gone; `from` stays mapped and reads zero.
[[nodiscard]] Moved move_pages(void* from, void* to, std::size_t bytes) noexcept;

/// Hints; failing is no trouble.
void ask_huge_pages(void* at, std::size_t bytes) noexcept;
void name_for_maps(void* at, std::size_t bytes, const char* name) noexcept;

/// For tests: of the calls in `kinds` (only(...), added up), the next `pass` succeed and the `fail` after
/// those fail with ENOMEM. Any thread.
void fail_calls(unsigned kinds, std::int64_t pass, std::int64_t fail) noexcept;
/// For tests: calls of these kinds since fail_calls().
[[nodiscard]] std::int64_t calls_seen() noexcept;

}  // namespace weir::pool::kernel
