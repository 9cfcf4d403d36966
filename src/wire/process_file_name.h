#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::wire {

/// Room for the name of a process's file with its zero: two numbers of 20 digits, "-" and a suffix of five.
inline constexpr std::size_t kProcessFileNameBytes = 48;
inline constexpr std::size_t kProcessFileSuffixBytes = 5;

/// Writes "RUN-PID" (both decimal) and the suffix (".page", ".sock") with its terminating zero; returns its
/// length without it.
std::size_t print_process_file_name(std::uint64_t run, std::uint32_t pid,
                                    const char (&suffix)[kProcessFileSuffixBytes + 1],
                                    char (&name)[kProcessFileNameBytes]) noexcept;
/// False for anything but the exact form above; then nothing is written. Any bytes.
[[nodiscard]] bool parse_process_file_name(const char* name,
                                           const char (&suffix)[kProcessFileSuffixBytes + 1],
                                           std::uint64_t& run, std::uint32_t& pid) noexcept;

}  // namespace weir::wire
