#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/top_history.h"
#include "cli/top_line.h"

namespace weir::cli {

/// A size that nobody asked for during so many allocations is dead: what is kept of it only costs.
inline constexpr std::uint64_t kDeadAfter = 10'000;

/// What became of the requests of one size, for people.
struct WhyRow {
  std::size_t size_class = 0;  ///< wire::size_class.
  std::uint64_t allocations = 0, hits = 0, misses = 0;
  ledger::Bytes retained;              ///< nullopt: the allocator does not keep by size, or does not tell.
  std::uint64_t since_allocation = 0;  ///< Allocations of any size since its latest one.
  bool dead = false;                   ///< Retained, or once asked for, and not during kDeadAfter.
};

/// Why freed buffers are not reused, of one process.
struct WhyReport {
  std::vector<WhyRow> rows;  ///< Sizes that were asked for or are retained, smallest first.
  std::uint64_t allocations = 0, hits = 0, misses = 0;
  ledger::Bytes retained, dead_retained;  ///< dead_retained: nullopt as WhyRow::retained.
  std::size_t dead_sizes = 0;
  double misses_per = 0;         ///< Per token where tokens are marked, else per 1,000 allocations.
  bool per_token = false;        ///< Which of both.
  std::optional<double> lately;  ///< The same over the looks that are remembered; nullopt: nothing happened.
  std::string sentence;          ///< The likeliest reason, in plain words.
};

/// Pure.
[[nodiscard]] WhyReport why_not_reused(const WatchedProcess& process);

/// The report as at most `frame.height` lines: totals, the reason, and a row for each size from `first_row`
/// on, or from further up where the last rows would leave room. Pure.
[[nodiscard]] std::vector<TopLine> why_lines(const WatchedProcess& process, std::size_t first_row,
                                             const TopFrame& frame);

}  // namespace weir::cli
