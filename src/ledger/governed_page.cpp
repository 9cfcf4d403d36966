#include "ledger/governed_page.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "ledger/outside_text.h"
#include "wire/process_stat.h"

namespace weir::ledger {
namespace {

constexpr std::size_t kSequenceAt = offsetof(wire::CountersPage, sequence);
constexpr std::size_t kUsedBytes = sizeof(wire::CountersPage);
constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 58;
/// A writer is inside an update for some ten nanoseconds, or for as long as the scheduler leaves it there.
constexpr int kQuickTries = 100;
constexpr int kTries = kQuickTries + 200;
constexpr std::chrono::microseconds kPause{500};

template <class T>
T value_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

#define WEIR_PAGE_VALUE(name) \
  value_at<decltype(wire::CountersPage::name)::value_type>(bytes, offsetof(wire::CountersPage, name))

struct SizeField {
  std::int64_t PageReading::*into;
  std::size_t offset;
  const char* name;
};
#define WEIR_PAGE_FIELD(name) \
  { &PageReading::name, offsetof(wire::CountersPage, name), #name }

constexpr SizeField kSizes[] = {
    WEIR_PAGE_FIELD(live),          WEIR_PAGE_FIELD(retained),    WEIR_PAGE_FIELD(padding),
    WEIR_PAGE_FIELD(backed),        WEIR_PAGE_FIELD(overdraw),    WEIR_PAGE_FIELD(live_peak),
    WEIR_PAGE_FIELD(retained_peak), WEIR_PAGE_FIELD(backed_peak), WEIR_PAGE_FIELD(overdraw_peak)};

struct CountField {
  std::uint64_t PageReading::*into;
  std::size_t offset;
};
#define WEIR_PAGE_COUNT(name) \
  { &PageReading::name, offsetof(wire::CountersPage, name) }

constexpr CountField kCounts[] = {
    WEIR_PAGE_COUNT(start_ticks), WEIR_PAGE_COUNT(run),          WEIR_PAGE_COUNT(started_ns),
    WEIR_PAGE_COUNT(cache_limit), WEIR_PAGE_COUNT(memory_limit), WEIR_PAGE_COUNT(allocations),
    WEIR_PAGE_COUNT(frees),       WEIR_PAGE_COUNT(hits),         WEIR_PAGE_COUNT(misses),
    WEIR_PAGE_COUNT(refusals),    WEIR_PAGE_COUNT(overdraws),    WEIR_PAGE_COUNT(host_clears),
    WEIR_PAGE_COUNT(host_limits), WEIR_PAGE_COUNT(returned),     WEIR_PAGE_COUNT(moved),
    WEIR_PAGE_COUNT(troubles),    WEIR_PAGE_COUNT(forks),        WEIR_PAGE_COUNT(pool_start),
    WEIR_PAGE_COUNT(pool_end),    WEIR_PAGE_COUNT(pid_namespace)};

std::string text_at(std::string_view bytes, std::size_t offset, std::size_t room) {
  const std::string_view field = bytes.substr(offset, room);
  return fit_for_output(field.substr(0, field.find('\0')));
}

/// Null where the head is one of a page that this version can read.
const char* trouble_of_head(std::string_view bytes) {
  if (WEIR_PAGE_VALUE(magic) != wire::kPageMagic) return "not a counters page, or not yet finished";
  if (WEIR_PAGE_VALUE(version) != wire::kPageVersion) return "a counters page of another version of weir";
  if (WEIR_PAGE_VALUE(state) > static_cast<std::uint32_t>(wire::PageState::kExited)) return "no known state";
  if (WEIR_PAGE_VALUE(allocator) > static_cast<std::uint32_t>(wire::Allocator::kWeir))
    return "no known allocator";
  if (WEIR_PAGE_VALUE(pid) == 0 || WEIR_PAGE_VALUE(pid) > 0x7fffffff) return "no process number";
  if (WEIR_PAGE_VALUE(pool_start) > WEIR_PAGE_VALUE(pool_end)) return "the pool ends before it starts";
  return nullptr;
}

/// Fills [offset, offset + count) of the page from the file.
Result<void> fetch(int file, const std::string& where, char* page, std::size_t offset, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::pread(file, page + offset, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(system_error(where, "read", errno));
    if (got == 0) return fail(ErrorKind::kBadData, where, "ends early: somebody cut the page short");
    offset += static_cast<std::size_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return {};
}

/// One try at a copy of all counters between two equal even readings of the sequence; the system calls stand
/// between them, and the file's cache is the writer's mapping.
Result<bool> fetch_counters(int file, const std::string& where, char* page) {
  std::uint64_t before = 0, after = 0;
  auto read = fetch(file, where, page, kSequenceAt, sizeof before);
  if (!read) return tl::unexpected(read.error());
  std::memcpy(&before, page + kSequenceAt, sizeof before);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  read = fetch(file, where, page, kSequenceAt, kUsedBytes - kSequenceAt);
  if (!read) return tl::unexpected(read.error());
  std::atomic_thread_fence(std::memory_order_seq_cst);
  char again[kSequenceAt + sizeof after];
  read = fetch(file, where, again, kSequenceAt, sizeof after);
  if (!read) return tl::unexpected(read.error());
  std::memcpy(&after, again + kSequenceAt, sizeof after);
  return before == after && before % 2 == 0;
}

/// Counters into `page`; true where they are of one update.
Result<bool> settle(int file, const std::string& where, char* page) {
  for (int i = 0; i < kTries; ++i) {
    const Result<bool> whole = fetch_counters(file, where, page);
    if (!whole || *whole) return whole;
    if (i < kQuickTries) continue;
    const auto reading = parse_page({page, wire::kPageBytes}, where);
    if (reading && !wire::is_alive(reading->pid, reading->start_ticks)) break;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

}  // namespace

Result<PageReading> parse_page(std::string_view bytes, const std::string& where) {
  if (bytes.size() != wire::kPageBytes) return fail(ErrorKind::kBadData, where, "not 4,096 bytes long");
  if (const char* trouble = trouble_of_head(bytes)) return fail(ErrorKind::kBadData, where, trouble);
  PageReading reading;
  reading.pid = static_cast<pid_t>(WEIR_PAGE_VALUE(pid));
  reading.state = static_cast<wire::PageState>(WEIR_PAGE_VALUE(state));
  reading.allocator = static_cast<wire::Allocator>(WEIR_PAGE_VALUE(allocator));
  reading.library = text_at(bytes, offsetof(wire::CountersPage, library), sizeof wire::CountersPage::library);
  reading.command = text_at(bytes, offsetof(wire::CountersPage, command), sizeof wire::CountersPage::command);
  for (const CountField& field : kCounts)
    reading.*field.into = value_at<std::uint64_t>(bytes, field.offset);
  for (const SizeField& field : kSizes) {
    const auto size = value_at<std::uint64_t>(bytes, field.offset);
    if (size >= kLargestSize)
      return fail(
          ErrorKind::kBadData, where,
          std::string("no possible number of bytes in '") + field.name + "': " + std::to_string(size));
    reading.*field.into = static_cast<std::int64_t>(size);
  }
  return reading;
}

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
                "not a counters page: " + std::to_string(status.st_size) + " bytes long instead of 4,096");
  char page[wire::kPageBytes];
  if (auto read = fetch(fd.get(), where, page, 0, sizeof page); !read) return tl::unexpected(read.error());
  if (const char* trouble = trouble_of_head({page, sizeof page}))
    return fail(ErrorKind::kBadData, where, trouble);
  return GovernedPage(std::move(fd), where);
}

Result<PageReading> GovernedPage::read_last() const {
  char page[wire::kPageBytes] = {};
  if (auto head = fetch(file_.get(), path_, page, 0, kSequenceAt); !head) return tl::unexpected(head.error());
  const Result<bool> whole = settle(file_.get(), path_, page);
  if (!whole) return tl::unexpected(whole.error());
  Result<PageReading> reading = parse_page({page, sizeof page}, path_);
  if (!reading) return reading;
  reading->torn = !*whole;
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
