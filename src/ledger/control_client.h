#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/owned_fd.h"
#include "ledger/governed_page.h"
#include "ledger/layers.h"
#include "wire/control.h"

namespace weir::ledger {

/// What a governed process answered.
struct ControlAnswer {
  wire::ControlStatus status = wire::ControlStatus::kFailed;
  std::string text;  ///< UTF-8 without control characters.
  std::int64_t released = 0, heap_released = 0, driver_released = 0, driver_kept = 0;
  std::uint64_t cache_limit = wire::kNoLimit, memory_limit = wire::kNoLimit;
  std::optional<Layers> layers;
};

/// A connection to one governed process. Not thread-safe.
class ControlClient {
 public:
  /// Checks the folder (runtime_folder), that the socket is ours and not a link, and that the process behind
  /// it is the page's (SO_PEERCRED: uid and pid; start ticks go with each request). kEnvironment: it has
  /// ended, has no socket, or is not ours; the message says which and what mends it.
  [[nodiscard]] static Result<ControlClient> connect(const std::filesystem::path& folder,
                                                     const PageReading& page);

  /// One verb and its answer. `magic`, `version`, `pid`, `start_ticks` are filled in here. kEnvironment: the
  /// process ended meanwhile or did not answer in time.
  [[nodiscard]] Result<ControlAnswer> ask(wire::ControlRequest request, std::chrono::milliseconds patience);

 private:
  ControlClient(OwnedFd socket, PageReading page) noexcept
      : socket_(std::move(socket)), page_(std::move(page)) {}

  OwnedFd socket_;
  PageReading page_;
};

/// A verb with what it did.
struct ControlledChange {
  Layers before, after;  ///< As `sample` reads them.
  ControlAnswer answer;
  bool settled = false;  ///< Two reads one after the other agreed.
  bool pending = false;
  double seconds = 0;
};

struct SettleOptions {
  std::chrono::milliseconds patience{5'000};  ///< For one answer.
  std::chrono::milliseconds settle{2'000};    ///< For two equal reads.
  std::chrono::milliseconds pause{20};        ///< Between two reads.
};

/// Samples, acts, and samples until two reads agree (footprint, live, retained) or time is up.
[[nodiscard]] Result<ControlledChange> act_and_settle(ControlClient& client,
                                                      const wire::ControlRequest& request,
                                                      const SettleOptions& options = {});

/// The one living governed process of this pid, or of this name (the program, or the base name of one of its
/// first two arguments). kUsage: none, or several: the message lists them.
[[nodiscard]] Result<PageReading> find_governed(const std::filesystem::path& folder,
                                                std::string_view pid_or_name);

/// Between the wire and the ledger; what does not fit (more parts than the record holds) is joined as
/// "other".
[[nodiscard]] wire::SampleRecord sample_record(const Layers& layers) noexcept;
[[nodiscard]] Layers layers_of(const wire::SampleRecord& record);

}  // namespace weir::ledger
