#pragma once

#include <sys/types.h>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ledger/layers.h"
#include "ledger/page_reading.h"

namespace weir::ledger {

/// One living governed process as anybody may see it: its page and /proc, nothing that stops or perturbs it.
struct GovernedProcess {
  PageReading page;
  Layers layers;  ///< Without maps; heap_idle, untouched and identified as of the page's latest sample
                  ///< where it has one (age_seconds says how old).
  std::string command_line;  ///< UTF-8 without control characters, arguments joined by spaces, at most 4,096
                             ///< bytes; "" unreadable.
  std::string cgroup;        ///< Its memory cgroup for people (CgroupName::label); "" at the root or unknown.
  std::uint64_t faults = 0;  ///< Page faults so far, minor and major.
  double since_seconds = 0;  ///< How long it has been governed.
};

/// Minor and major page faults so far in the text of /proc/PID/stat; nullopt where it is none. Any bytes.
/// Pure.
[[nodiscard]] std::optional<std::uint64_t> parse_faults(std::string_view stat);

/// The arguments of /proc/PID/cmdline joined by spaces, as `GovernedProcess::command_line`. Any bytes. Pure.
[[nodiscard]] std::string parse_command_line(std::string_view text);

/// The layers without maps, with what the page's latest sample counted. The sums of layers.h hold; what has
/// changed since the sample falls into `unexplained`. `now_ns` is CLOCK_REALTIME. Pure.
[[nodiscard]] Layers with_latest_sample(Layers layers, const PageReading& page, std::uint64_t now_ns);

/// Reads all that live, again and again. Each time it costs two small reads of /proc for each process, and
/// none that takes a lock of its address space; the command line and the cgroup are read once. Not
/// thread-safe.
class ProcessTable {
 public:
  explicit ProcessTable(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// By run and pid: one `weir run` is one group. A process that execs has one row, of its last program.
  [[nodiscard]] std::vector<GovernedProcess> read();

 private:
  /// pid, start_ticks, started_ns: one program of one process.
  using Who = std::tuple<pid_t, std::uint64_t, std::uint64_t>;
  struct Names {
    std::string command_line, cgroup;
  };
  const Names& names_of(const PageReading& page, std::map<Who, Names>& known);

  std::filesystem::path folder_;
  std::map<Who, Names> names_;
};

/// `ProcessTable::read`, once.
[[nodiscard]] std::vector<GovernedProcess> governed_processes(const std::filesystem::path& folder);

}  // namespace weir::ledger
