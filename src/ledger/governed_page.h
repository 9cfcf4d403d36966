#pragma once

#include <sys/types.h>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/owned_fd.h"
#include "wire/counters_page.h"

namespace weir::ledger {

/// A page copied at one moment, all counters from one update.
struct PageReading {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0, run = 0, started_ns = 0;
  wire::PageState state = wire::PageState::kStarting;
  wire::Allocator allocator = wire::Allocator::kMlx;
  std::string library, command;  ///< As UTF-8 without control characters; "?" stands for any other byte.
  std::uint64_t cache_limit = wire::kNoLimit, memory_limit = wire::kNoLimit;
  std::int64_t live = 0, retained = 0, padding = 0, backed = 0, overdraw = 0;
  std::int64_t live_peak = 0, retained_peak = 0, backed_peak = 0, overdraw_peak = 0;
  std::uint64_t allocations = 0, frees = 0, hits = 0, misses = 0, refusals = 0, overdraws = 0;
  std::uint64_t host_clears = 0, host_limits = 0, returned = 0, moved = 0, troubles = 0, forks = 0;
  std::uint64_t pool_start = 0, pool_end = 0;
  std::uint64_t pid_namespace = 0;
  bool alive = false;  ///< A process with this pid and start time exists, and is no zombie.
  bool torn = false;   ///< No copy came from one update: each value is right, their sums may not be.

  /// Who this is, also after the kernel has given the pid to another process.
  [[nodiscard]] bool same_process(const PageReading& other) const noexcept {
    return pid == other.pid && start_ticks == other.start_ticks && run == other.run;
  }
};

/// The values in the bytes of a page, whatever its `sequence` says; `alive` and `torn` stay false. kBadData:
/// another length than a page, another magic or version, unknown states, impossible sizes. Every size is
/// below 2^58, so that sums of a few cannot overflow. Pure.
[[nodiscard]] Result<PageReading> parse_page(std::string_view bytes, const std::string& where);

/// The folder for pages, sockets and the like of this user: $WEIR_RUNTIME_DIR, $XDG_RUNTIME_DIR/weir, or
/// /tmp/weir-UID; made 0700 where absent. A symbolic link, another owner, or a mode that lets others in is
/// refused (kEnvironment) with the command that mends it; so is a path that cannot be made.
[[nodiscard]] Result<std::filesystem::path> runtime_folder();

/// A page of this user's governed processes, open for reading. Never stops or perturbs its writer: it reads
/// the file and maps nothing, so a page that somebody cuts short while it is open is an error, no signal.
class GovernedPage {
 public:
  /// Refuses what is no page of this version, not ours, not regular, or of another length (kBadData).
  [[nodiscard]] static Result<GovernedPage> open(const std::filesystem::path& file);
  /// A consistent copy; kBadData where none can be had, because the writer died or stopped inside an update.
  [[nodiscard]] Result<PageReading> read() const;
  /// The same, with the last values and `torn` where `read` finds no consistent copy.
  [[nodiscard]] Result<PageReading> read_last() const;

 private:
  GovernedPage(OwnedFd file, std::string path) noexcept : file_(std::move(file)), path_(std::move(path)) {}

  OwnedFd file_;
  std::string path_;
};

/// Every readable page in the folder, of one run or of all (nullopt), by pid; `torn` where its writer died
/// inside an update. Files that are no pages, or whose name is not the one of their page, are passed over.
/// Bounded: at most 100,000 files are looked at.
[[nodiscard]] std::vector<PageReading> read_pages(const std::filesystem::path& folder,
                                                  std::optional<std::uint64_t> run);
/// Removes pages whose process is gone and whose run is gone too; returns how many. A run's number is the pid
/// of its `weir run`; 0 is no run. Pages of other pid namespaces stay: their numbers say nothing here; all
/// stay where /proc shows another namespace than this process's own.
std::size_t remove_stale_pages(const std::filesystem::path& folder);
/// Removes the pages of one run.
std::size_t remove_run_pages(const std::filesystem::path& folder, std::uint64_t run);

/// The name of a process's page file: "RUN-PID.page" (both decimal).
[[nodiscard]] std::string page_file_name(std::uint64_t run, pid_t pid);

}  // namespace weir::ledger
