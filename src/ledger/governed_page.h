#pragma once

#include <sys/types.h>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/owned_fd.h"
#include "ledger/page_reading.h"

namespace weir::ledger {

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
/// Removes pages whose process is gone and whose run is gone too, with their control sockets and those that
/// have no page any more; returns how many pages. A run's number is the pid of its `weir run`; 0 is no run.
/// Pages of other pid namespaces stay: their numbers say nothing here; all stay where /proc shows another
/// namespace than this process's own.
std::size_t remove_stale_pages(const std::filesystem::path& folder);
/// Removes the pages of one run, each with its control socket.
std::size_t remove_run_pages(const std::filesystem::path& folder, std::uint64_t run);

/// The name of a process's page file: "RUN-PID.page" (both decimal).
[[nodiscard]] std::string page_file_name(std::uint64_t run, pid_t pid);

}  // namespace weir::ledger
