#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"
#include "ledger/control_client.h"
#include "ledger/page_reading.h"
#include "report/style.h"
#include "wire/control.h"

namespace weir::cli {

/// One verb, what it was asked of, and what it came to.
struct CtlOutcome {
  ledger::PageReading page;  ///< As it was before.
  wire::ControlRequest request;
  ledger::ControlledChange change;

  [[nodiscard]] wire::Verb verb() const noexcept { return static_cast<wire::Verb>(request.verb); }
};

/// The one sentence to quote: "returned 312 MB to the kernel; footprint 812 → 500 MB, settled after 0.1 s".
/// What is returned is counted by who returned it and never a difference, so it is never negative.
[[nodiscard]] std::string ctl_sentence(const CtlOutcome& outcome);

/// Who, a row for each layer, and the sentence; with `parts` the tags and identified parts under theirs.
[[nodiscard]] std::string ctl_text(const CtlOutcome& outcome, bool parts, const report::Style& style);

/// Keys in docs/reference/cli.md.
[[nodiscard]] nlohmann::json to_json(const CtlOutcome& outcome);

/// Nothing where the verb was done or is pending; else why not: kNoRoom for what was refused, failed, or
/// cannot be met, kEnvironment where the process speaks another version.
[[nodiscard]] Result<void> ctl_judged(const CtlOutcome& outcome);

/// "done", "pending", "refused", "bad request", "busy", "failed".
[[nodiscard]] const char* status_name(wire::ControlStatus status) noexcept;

}  // namespace weir::cli
