#include <algorithm>
#include <thread>

#include "ledger/control_client.h"

namespace weir::ledger {
namespace {

using Clock = std::chrono::steady_clock;

Result<Layers> sample(ControlClient& client, std::chrono::milliseconds patience) {
  wire::ControlRequest request;
  request.verb = static_cast<std::uint16_t>(wire::Verb::kSample);
  auto answer = client.ask(request, patience);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  if (answer->layers) return std::move(*answer->layers);
  return fail(ErrorKind::kEnvironment, "sample", answer->text.empty() ? "no layers came" : answer->text);
}

bool agree(const Layers& one, const Layers& other) {
  return one.footprint == other.footprint && one.live == other.live && one.retained == other.retained;
}

/// Reads until two agree or time is up; the last reading is in `after`.
Result<bool> settle(ControlClient& client, const SettleOptions& options, Layers& after) {
  const auto end = Clock::now() + options.settle;
  for (bool first = true;; first = false) {
    auto layers = sample(client, options.patience);
    if (!layers) return tl::unexpected(std::move(layers.error()));
    const bool settled = !first && agree(after, *layers);
    after = std::move(*layers);
    if (settled) return true;
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(options.pause);
  }
}

}  // namespace

Result<ControlledChange> act_and_settle(ControlClient& client, const wire::ControlRequest& request,
                                        const SettleOptions& options) {
  const auto began = Clock::now();
  ControlledChange change;
  auto before = sample(client, options.patience);
  if (!before) return tl::unexpected(std::move(before.error()));
  change.before = change.after = std::move(*before);
  auto answer = client.ask(request, options.patience);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  change.answer = std::move(*answer);
  change.pending = change.answer.status == wire::ControlStatus::kPending;
  // What was refused has changed nothing that needs to settle.
  if (change.pending || change.answer.status == wire::ControlStatus::kDone ||
      change.answer.status == wire::ControlStatus::kFailed) {
    auto settled = settle(client, options, change.after);
    if (!settled) return tl::unexpected(std::move(settled.error()));
    change.settled = *settled;
  }
  change.seconds = std::chrono::duration<double>(Clock::now() - began).count();
  return change;
}

}  // namespace weir::ledger
