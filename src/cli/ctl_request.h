#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/limit_flags.h"
#include "ledger/control_client.h"
#include "ledger/page_reading.h"
#include "limits/resolve.h"
#include "wire/control.h"

namespace weir::cli {

/// The words of a `weir ctl`.
struct CtlOptions {
  std::optional<std::string> process, verb;
  LimitFlags limits;
  std::optional<double> timeout;
  bool parts = false;
  bool json = false;
};

/// The verbs that people may say, in the order of help and completion.
[[nodiscard]] const std::vector<std::string>& ctl_verbs();

/// The verb, once every flag fits it. kUsage names the word that does not.
[[nodiscard]] Result<wire::Verb> ctl_verb(const CtlOptions& options);

/// How long it waits for an answer, and as long again for two equal reads.
[[nodiscard]] Result<ledger::SettleOptions> ctl_patience(const CtlOptions& options);

/// What is asked of one process, and how each limit was understood.
struct CtlRequest {
  wire::ControlRequest request;
  std::vector<std::string> echo;  ///< "cache limit 64MiB = 67,108,864 bytes (--cache-limit)".
};

/// Sizes by the one grammar; no variable and no configuration file has a say. kUsage: a size outside it,
/// `auto` (nobody knows the process's model), and a memory limit where the allocator of `page` keeps none.
[[nodiscard]] Result<CtlRequest> ctl_request(const CtlOptions& options, wire::Verb verb,
                                             const ledger::PageReading& page,
                                             const limits::Denominators& denominators);

}  // namespace weir::cli
