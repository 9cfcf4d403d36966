#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "cli/ctl_report.h"
#include "cli/governed_target.h"

namespace weir::cli {
namespace {

/// "812 → 500 MB", "1.88 GB → 500 MB"; one figure where both read the same.
std::string from_to(std::int64_t before, std::int64_t after) {
  const std::string from = short_bytes(before), to = short_bytes(after);
  if (from == to) return to;
  const auto from_unit = from.find(' '), to_unit = to.find(' ');
  const bool same_unit = from.substr(from_unit) == to.substr(to_unit);
  return (same_unit ? from.substr(0, from_unit) : from) + " → " + to;
}

std::string footprint_text(const ledger::ControlledChange& change) {
  if (!change.after.footprint) return "footprint ?";
  return "footprint " +
         from_to(change.before.footprint.value_or(*change.after.footprint), *change.after.footprint);
}

std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f} s", seconds, seconds < 0.095 ? 2 : 1);
}

std::string settled_text(const ledger::ControlledChange& change) {
  if (change.settled) return "settled after " + seconds_text(change.seconds);
  return "not settled after " + seconds_text(change.seconds) + ": the process is at work";
}

/// "returned 312 MB to the kernel (pool 280 MB, C heap 32 MB)"; "" where nothing was.
std::string returned_text(const ledger::ControlAnswer& answer) {
  const std::int64_t pool = std::max<std::int64_t>(answer.released, 0);
  const std::int64_t heap = std::max<std::int64_t>(answer.heap_released, 0);
  std::string text;
  if (pool + heap > 0) text = "returned " + short_bytes(pool + heap) + " to the kernel";
  if (pool > 0 && heap > 0)
    text += fmt::format(" (pool {}, C heap {})", short_bytes(pool), short_bytes(heap));
  if (answer.driver_released > 0)
    text += (text.empty() ? "returned " : ", ") + short_bytes(answer.driver_released) + " to the driver";
  if (answer.driver_kept > 0)
    text += (text.empty() ? "" : ", ") + ("the driver keeps " + short_bytes(answer.driver_kept));
  return text;
}

std::string limit_text(std::uint64_t bytes) {
  return bytes == wire::kNoLimit ? "unlimited" : exact_bytes(static_cast<std::int64_t>(bytes));
}

/// "cache limit unlimited → 67,108,864 bytes".
std::string changed_limit(const char* name, std::uint64_t before, std::uint64_t after) {
  if (before == after) return fmt::format("{} {} as before", name, limit_text(after));
  return fmt::format("{} {} → {}", name, limit_text(before), limit_text(after));
}

std::string set_text(const CtlOutcome& outcome) {
  const wire::ControlRequest& request = outcome.request;
  const ledger::ControlAnswer& answer = outcome.change.answer;
  std::string text;
  if ((request.flags & (wire::kSetsCacheLimit | wire::kUnsetsCacheLimit)) != 0)
    text = changed_limit("cache limit", outcome.page.cache_limit, answer.cache_limit);
  if ((request.flags & wire::kSetsMemoryLimit) != 0)
    text += (text.empty() ? "" : ", ") +
            changed_limit("memory limit", outcome.page.memory_limit, answer.memory_limit);
  return text;
}

std::string done_text(const CtlOutcome& outcome) {
  const std::string returned = returned_text(outcome.change.answer);
  switch (outcome.verb()) {
    case wire::Verb::kSet:
      return set_text(outcome) + (returned.empty() ? "" : "; " + returned);
    case wire::Verb::kResetPeak:
      return "peaks begin again at what is held now";
    case wire::Verb::kTrim:
      return returned.empty() ? "nothing retained to drop" : returned;
    case wire::Verb::kReturn:
    case wire::Verb::kSample:
    case wire::Verb::kNeed:
      break;
  }
  return returned.empty() ? "nothing to return" : returned;
}

std::string pending_text(const CtlOutcome& outcome) {
  std::string text = std::string(wire::verb_name(outcome.verb())) + " is pending: ";
  text += outcome.change.answer.text.empty()
              ? "only the program's own thread may do it, at its next call of MLX"
              : outcome.change.answer.text;
  const std::string returned = returned_text(outcome.change.answer);
  return text + (returned.empty() ? "" : "; " + returned);
}

std::string sample_sentence(const ledger::ControlledChange& change) {
  const ledger::Layers& now = change.after;
  std::string text = "footprint " + (now.footprint ? short_bytes(*now.footprint) : "?");
  if (now.unexplained && now.footprint.value_or(0) > 0)
    text += fmt::format(", {:.1f} % unexplained", 100.0 * std::abs(static_cast<double>(*now.unexplained)) /
                                                      static_cast<double>(*now.footprint));
  return text + (change.settled ? "; at rest: two readings agree"
                                : "; at work: two readings one after the other differ");
}

}  // namespace

std::string ctl_sentence(const CtlOutcome& outcome) {
  const ledger::ControlledChange& change = outcome.change;
  if (outcome.verb() == wire::Verb::kSample) return sample_sentence(change);
  const std::string text = change.pending ? pending_text(outcome) : done_text(outcome);
  return text + "; " + footprint_text(change) + ", " + settled_text(change);
}

Result<void> ctl_judged(const CtlOutcome& outcome) {
  const ledger::ControlAnswer& answer = outcome.change.answer;
  const std::string where = target_name(outcome.page);
  const std::string verb = wire::verb_name(outcome.verb());
  const std::string why = answer.text.empty() ? "it gives no reason" : answer.text;
  switch (answer.status) {
    case wire::ControlStatus::kRefused:
      return fail(ErrorKind::kNoRoom, where, verb + " is refused: " + why);
    case wire::ControlStatus::kFailed:
      return fail(ErrorKind::kNoRoom, where, verb + " failed: " + why);
    case wire::ControlStatus::kBusy:
      return fail(ErrorKind::kNoRoom, where, "busy with another verb: " + why + "; try again");
    case wire::ControlStatus::kBadRequest:
      return fail(
          ErrorKind::kEnvironment, where,
          "does not know this request: another version of weir governs it; use that one, or start the "
          "program again");
    case wire::ControlStatus::kDone:
    case wire::ControlStatus::kPending:
      break;
  }
  const std::int64_t live = outcome.change.after.live.value_or(0);
  const bool sets_cap = (outcome.request.flags & wire::kSetsMemoryLimit) != 0 && !outcome.change.pending;
  if (sets_cap && static_cast<std::uint64_t>(live) > answer.memory_limit)
    return fail(ErrorKind::kNoRoom, "--memory-limit",
                fmt::format("{} is in force and cannot be met: live is {}; until that falls every allocation "
                            "that needs memory fails; set a higher one, or unlimited",
                            limit_text(answer.memory_limit), exact_bytes(live)));
  return {};
}

}  // namespace weir::cli
