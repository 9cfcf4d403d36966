#include "ledger/governed_page.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/file.h"
#include "wire/process_stat.h"

namespace weir::ledger {
namespace {

/// What one sequence guards: from it to `end`.
struct Section {
  std::size_t sequence_at, end;
};
constexpr Section kCounters{
    offsetof(wire::CountersPage, sequence),
    offsetof(wire::CountersPage, size_classes) + sizeof wire::CountersPage::size_classes};
constexpr Section kActs{offsetof(wire::CountersPage, acts_sequence),
                        offsetof(wire::CountersPage, device_rows) + sizeof wire::CountersPage::device_rows};

/// A writer is inside an update for some ten nanoseconds, or for as long as the scheduler leaves it there.
constexpr int kQuickTries = 100;
constexpr int kTries = kQuickTries + 200;
constexpr std::chrono::microseconds kPause{500};

/// Fills `into` with [offset, offset + count) of the file.
Result<void> fetch(int file, const std::string& where, char* into, std::size_t offset, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::pread(file, into, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(system_error(where, "read", errno));
    if (got == 0) return fail(ErrorKind::kBadData, where, "ends early: somebody cut the page short");
    into += got;
    offset += static_cast<std::size_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return {};
}

/// One try at a copy of a section between two equal even readings of its sequence; the system calls stand
/// between them, and the file's cache is the writer's mapping.
Result<bool> fetch_section(int file, const std::string& where, const Section& section, char* page) {
  std::uint64_t before = 0, after = 0;
  const std::size_t start = section.sequence_at;
  auto read = fetch(file, where, reinterpret_cast<char*>(&before), start, sizeof before);
  if (!read) return tl::unexpected(read.error());
  std::atomic_thread_fence(std::memory_order_seq_cst);
  read = fetch(file, where, page + start, start, section.end - start);
  if (!read) return tl::unexpected(read.error());
  std::atomic_thread_fence(std::memory_order_seq_cst);
  read = fetch(file, where, reinterpret_cast<char*>(&after), start, sizeof after);
  if (!read) return tl::unexpected(read.error());
  return before == after && before % 2 == 0;
}

/// A section into `page`; true where all of it is of one update.
Result<bool> settle(int file, const std::string& where, const Section& section, char* page) {
  for (int i = 0; i < kTries; ++i) {
    const Result<bool> whole = fetch_section(file, where, section, page);
    if (!whole || *whole) return whole;
    if (i < kQuickTries) continue;
    const auto reading = parse_page({page, wire::kPageBytes}, where);
    if (reading && !wire::is_alive(reading->pid, reading->start_ticks)) break;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace

Result<GovernedPage> GovernedPage::open(const std::filesystem::path& file) {
  const std::string where = file.string();
  OwnedFd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd && errno == ELOOP) return fail(ErrorKind::kBadData, where, "a symbolic link, not a counters page");
  if (!fd) return tl::unexpected(system_error(file, "open", errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return tl::unexpected(system_error(file, "look at", errno));
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::kBadData, where, "not a regular file");
  if (status.st_uid != ::geteuid()) return fail(ErrorKind::kBadData, where, "belongs to another user");
  if (status.st_size != static_cast<off_t>(wire::kPageBytes))
    return fail(ErrorKind::kBadData, where,
                "not a counters page: " + std::to_string(status.st_size) + " bytes long instead of 8,192");
  char page[wire::kPageBytes];
  if (auto read = fetch(fd.get(), where, page, 0, sizeof page); !read) return tl::unexpected(read.error());
  if (const char* trouble = trouble_of_head({page, sizeof page}))
    return fail(ErrorKind::kBadData, where, trouble);
  return GovernedPage(std::move(fd), where);
}

Result<PageReading> GovernedPage::read_last() const {
  char page[wire::kPageBytes] = {};
  auto head = fetch(file_.get(), path_, page, 0, kCounters.sequence_at);
  if (!head) return tl::unexpected(head.error());
  const Result<bool> counters = settle(file_.get(), path_, kCounters, page);
  if (!counters) return tl::unexpected(counters.error());
  const Result<bool> acts = settle(file_.get(), path_, kActs, page);
  if (!acts) return tl::unexpected(acts.error());
  Result<PageReading> reading = parse_page({page, sizeof page}, path_);
  if (!reading) return reading;
  reading->torn = !*counters || !*acts;
  reading->alive = wire::is_alive(reading->pid, reading->start_ticks);
  return reading;
}

Result<PageReading> GovernedPage::read() const {
  Result<PageReading> reading = read_last();
  if (reading && reading->torn)
    return fail(ErrorKind::kBadData, path_,
                "no consistent copy: process " + std::to_string(reading->pid) +
                    (reading->alive ? " stands still inside an update" : " died inside an update"));
  return reading;
}

}  // namespace weir::ledger
