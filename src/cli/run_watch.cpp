#include "cli/run_watch.h"

#include <unistd.h>
#include <algorithm>
#include <ctime>

#include "ledger/governed_layers.h"
#include "ledger/peak.h"
#include "wire/process_stat.h"

namespace weir::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{10};
constexpr milliseconds kPause{50};
constexpr milliseconds kLongestPause{5'000};
constexpr std::size_t kManyPages = 1'000;
constexpr std::chrono::seconds kFirstSeconds{2};
constexpr int kCostShare = 150;  // one part in so many

std::chrono::nanoseconds own_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::int64_t counter_error() {
  return ledger::counter_error_bytes(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)), ::sysconf(_SC_PAGESIZE));
}

}  // namespace

RunWatch::RunWatch(std::filesystem::path folder, std::uint64_t run, bool joined)
    : folder_(std::move(folder)),
      run_(run),
      joined_(joined),
      peak_(counter_error()),
      start_(std::chrono::steady_clock::now()) {
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  if (joined_) since_ns_ = static_cast<std::uint64_t>(now.count());
}

void RunWatch::keep(const ledger::PageReading& page) {
  const auto same = std::find_if(programs_.begin(), programs_.end(), [&](const GovernedProgram& program) {
    return program.page.same_process(page) && program.page.started_ns == page.started_ns;
  });
  if (same == programs_.end()) {
    programs_.push_back({page, page.state == wire::PageState::kOff});
  } else {
    same->was_off = same->was_off || page.state == wire::PageState::kOff;
    same->page = page;
  }
}

void RunWatch::remove_dead(const std::vector<ledger::PageReading>& pages) const {
  if (joined_ || pages.size() < kManyPages) return;
  std::error_code ignored;
  for (const ledger::PageReading& page : pages)
    if (!page.alive) std::filesystem::remove(folder_ / ledger::page_file_name(page.run, page.pid), ignored);
}

void RunWatch::sample() {
  if (folder_.empty()) return;
  const auto before = own_cpu_time();
  std::vector<ledger::GovernedSample> living;
  const auto pages = ledger::read_pages(folder_, run_);
  for (const ledger::PageReading& page : pages) {
    if (page.started_ns < since_ns_) continue;
    keep(page);
    if (!page.alive) continue;
    const auto status = ledger::read_process_status(page.pid);
    if (!status) continue;  // it has just ended
    living.push_back({page.pid, page.start_ticks, ledger::compute_governed_layers(page, *status), *status});
  }
  peak_.add(living);
  remove_dead(pages);
  cost_ = own_cpu_time() - before;
}

void RunWatch::settle() {
  for (GovernedProgram& program : programs_) {
    ledger::PageReading& page = program.page;
    const bool replaced = std::any_of(programs_.begin(), programs_.end(), [&](const GovernedProgram& other) {
      return other.page.same_process(page) && other.page.started_ns > page.started_ns;
    });
    page.alive = page.alive && !replaced && wire::is_alive(page.pid, page.start_ticks);
  }
}

milliseconds RunWatch::pause() const noexcept {
  const bool young = std::chrono::steady_clock::now() - start_ < kFirstSeconds;
  const auto affordable = std::chrono::ceil<milliseconds>(cost_ * kCostShare);
  return std::clamp(affordable, young ? kFirstPause : kPause, kLongestPause);
}

}  // namespace weir::cli
