#include "cli/ctl.h"

#include <unistd.h>
#include <chrono>
#include <memory>

#include <nlohmann/json.hpp>

#include "cli/ctl_report.h"
#include "cli/ctl_request.h"
#include "cli/governed_target.h"

namespace weir::cli {
namespace {

using Clock = std::chrono::steady_clock;

bool agree(const ledger::Layers& a, const ledger::Layers& b) {
  return a.footprint == b.footprint && a.live == b.live && a.retained == b.retained;
}

Result<ledger::Layers> sample(ledger::ControlClient& client, std::chrono::milliseconds patience,
                              ledger::ControlAnswer& answer) {
  wire::ControlRequest request;
  request.verb = static_cast<std::uint16_t>(wire::Verb::kSample);
  auto got = client.ask(request, patience);
  if (!got) return tl::unexpected(std::move(got.error()));
  answer = std::move(*got);
  return answer.layers.value_or(ledger::Layers{});
}

/// Reads until two readings agree, which says that the process is at rest, and three times at most: the very
/// first one makes the process touch memory of its own.
Result<ledger::ControlledChange> sample_at_rest(ledger::ControlClient& client,
                                                const ledger::SettleOptions& patience) {
  constexpr int kMostReadings = 3;
  const auto start = Clock::now();
  ledger::ControlledChange change;
  for (int reading = 0; reading < kMostReadings && !change.settled; ++reading) {
    auto now = sample(client, patience.patience, change.answer);
    if (!now) return tl::unexpected(std::move(now.error()));
    change.settled = reading > 0 && agree(change.after, *now);
    if (reading == 0) change.before = *now;
    change.after = std::move(*now);
    if (change.answer.status != wire::ControlStatus::kDone) break;
  }
  change.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return change;
}

Result<CtlOutcome> act(const GovernedTarget& target, const CtlRequest& request,
                       const ledger::SettleOptions& patience) {
  auto client = ledger::ControlClient::connect(target.folder, target.page);
  if (!client) return tl::unexpected(std::move(client.error()));
  CtlOutcome outcome{target.page, request.request, {}};
  auto change = outcome.verb() == wire::Verb::kSample
                    ? sample_at_rest(*client, patience)
                    : ledger::act_and_settle(*client, request.request, patience);
  if (!change) return tl::unexpected(std::move(change.error()));
  outcome.change = std::move(*change);
  return outcome;
}

Result<int> run_ctl(const CtlOptions& options, const Invocation& invocation) {
  const auto verb = ctl_verb(options);
  if (!verb) return tl::unexpected(verb.error());
  const auto patience = ctl_patience(options);
  if (!patience) return tl::unexpected(patience.error());
  const auto target = governed_target(options.process.value_or(""));
  if (!target) return tl::unexpected(target.error());
  const auto request =
      ctl_request(options, *verb, target->page, limit_inputs(options.limits, std::nullopt).denominators);
  if (!request) return tl::unexpected(request.error());
  for (const std::string& line : request->echo)
    note(invocation, line);
  const auto outcome = act(*target, *request, *patience);
  if (!outcome) return tl::unexpected(outcome.error());
  const auto judged = ctl_judged(*outcome);
  const bool happened = judged || outcome->change.answer.status == wire::ControlStatus::kDone;
  if (options.json) {
    print_result(to_json(*outcome).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else if (happened) {
    print_result(ctl_text(*outcome, options.parts, report::style_of(STDOUT_FILENO)));
  }
  if (!judged) return tl::unexpected(judged.error());
  return 0;
}

std::vector<Flag> ctl_flags(CtlOptions& options) {
  std::vector<Flag> flags = {
      {"--cache-limit", "SIZE",
       "With set: bound on freed buffers kept for reuse: 512MiB, 10%free, 0, unset, unlimited",
       &options.limits.cache_limit},
      {"--memory-limit", "SIZE",
       "With set: hard cap on live and retained bytes together: 8GiB, 50%total, unlimited",
       &options.limits.memory_limit},
      {"--parts", "", "Show what live and identified consist of", &options.parts},
      {"--timeout", "SECONDS", "Wait so long for the answer (5), and for two equal readings (2)",
       &options.timeout},
      {"--json", "", "Print JSON", &options.json},
  };
  return flags;
}

}  // namespace

Subcommand ctl_subcommand() {
  const auto options = std::make_shared<CtlOptions>();
  Subcommand subcommand;
  subcommand.name = "ctl";
  subcommand.summary = "Act on a governed process: set limits, trim, return, reset-peak, sample";
  subcommand.example =
      "  weir ctl 26219 return\n  weir ctl mlx_lm.server set --cache-limit 64MiB --memory-limit 8GiB\n"
      "  weir ctl python3.11 sample --parts";
  subcommand.positionals = {
      {"PROCESS",
       "Its pid, or the name of its program or script; weir ps lists them",
       &options->process,
       true,
       {}},
      {"VERB",
       "set: limits from now on; trim: drop what is retained; return: trim, then give heap and driver memory "
       "back; reset-peak: peaks begin anew; sample: read every layer (stalls it for a moment)",
       &options->verb, true, ctl_verbs()},
  };
  subcommand.flags = ctl_flags(*options);
  subcommand.run = [options](const Invocation& invocation) { return run_ctl(*options, invocation); };
  return subcommand;
}

}  // namespace weir::cli
