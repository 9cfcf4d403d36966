#include "ledger/peak.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>

#include "base/byte_text.h"
#include "base/owned_fd.h"

namespace weir::ledger {
namespace {

bool write_reset() noexcept {
  const OwnedFd fd(::open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), "5", 1) == 1;
}

std::int64_t own_counter_error() {
  return counter_error_bytes(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)), ::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::int64_t counter_error_bytes(std::int64_t cpus, std::int64_t page_bytes) {
  constexpr double kMovingCounters = 2;
  constexpr double kAllCounters = 3;
  const double batch = static_cast<double>(std::max<std::int64_t>(32, 2 * cpus));
  const double per_cpu_deviation = batch / std::sqrt(3.0);  // uniform in (−batch, batch)
  const double likely = 4 * per_cpu_deviation * std::sqrt(kMovingCounters * static_cast<double>(cpus));
  const double most = kAllCounters * batch * static_cast<double>(cpus);
  return static_cast<std::int64_t>(std::ceil(std::min(likely, most))) * page_bytes;
}

PeakWindow::PeakWindow(const ProcStatus& first) noexcept
    : smallest_file_(first.file),
      largest_file_(first.file),
      largest_footprint_(first.footprint()),
      largest_swap_(first.swap),
      high_water_(first.high_water) {}

void PeakWindow::add(const ProcStatus& status) noexcept {
  smallest_file_ = std::min(smallest_file_, status.file);
  largest_file_ = std::max(largest_file_, status.file);
  largest_footprint_ = std::max(largest_footprint_, status.footprint());
  largest_swap_ = std::max(largest_swap_, status.swap);
  high_water_ = std::max(high_water_, status.high_water);
}

PeakFootprint PeakWindow::bound(bool mark_was_reset, std::int64_t counter_error, FileMappings files) const {
  PeakFootprint peak;
  peak.high_bytes =
      std::max(high_water_ - smallest_file_ + largest_swap_ + counter_error, largest_footprint_);
  const bool from_mark = mark_was_reset && files == FileMappings::kStay;
  const std::int64_t lowest = std::max(largest_footprint_, from_mark ? high_water_ - largest_file_ : 0);
  peak.low_bytes = std::max<std::int64_t>(0, lowest - counter_error);
  peak.source =
      std::string("VmHWM ") +
      (mark_was_reset ? "reset at the start (clear_refs 5)" : "since process start (clear_refs refused)") +
      " less RssFile; low end from " +
      (from_mark ? "VmHWM less the largest RssFile seen" : "the largest footprint observed") + "; width " +
      exact_bytes(peak.high_bytes - peak.low_bytes) + ", of it " + exact_bytes(2 * counter_error) +
      " for inexact kernel counters and " + exact_bytes(largest_swap_) + " for swap";
  return peak;
}

PeakMeter PeakMeter::start(FileMappings files) {
  const bool written = write_reset();
  const ProcStatus first = value_or_throw(read_own_status());
  // Some sandboxes accept the write and do nothing. The mark of a real reset is the size of that moment.
  const bool was_reset = written && first.high_water <= first.resident() + 2 * own_counter_error();
  return PeakMeter(first, was_reset, files);
}

void PeakMeter::observe() {
  window_.add(value_or_throw(read_own_status()));
}

PeakFootprint PeakMeter::read() {
  observe();
  return window_.bound(was_reset_, own_counter_error(), files_);
}

}  // namespace weir::ledger
