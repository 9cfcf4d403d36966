#include "cli/ctl_request.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "cli/allocator_flag.h"
#include "cli/governed_target.h"
#include "limits/nearest_name.h"
#include "limits/size.h"

namespace weir::cli {
namespace {

constexpr const char* kWhere = "weir ctl";
constexpr double kLongestSeconds = 3600;

constexpr wire::Verb kVerbs[] = {wire::Verb::kSet, wire::Verb::kTrim, wire::Verb::kReturn,
                                 wire::Verb::kResetPeak, wire::Verb::kSample};

std::optional<wire::Verb> verb_of(const std::string& word) {
  for (const wire::Verb verb : kVerbs)
    if (word == wire::verb_name(verb)) return verb;
  return std::nullopt;
}

tl::unexpected<Error> unknown_verb(const std::string& process, const std::string& verb) {
  if (verb_of(process))
    return fail(
        ErrorKind::kUsage, kWhere,
        fmt::format("the process stands before the verb: weir ctl {} {}", limits::shown(verb), process));
  const auto& names = ctl_verbs();
  const auto near = limits::nearest_name(verb, {names.begin(), names.end()});
  const std::string hint = near.empty() ? "" : "did you mean " + std::string(near) + "? ";
  return fail(ErrorKind::kUsage, kWhere,
              fmt::format("unknown verb {}; {}write set, trim, return, reset-peak or sample",
                          limits::shown(verb), hint));
}

tl::unexpected<Error> not_hard(const ledger::PageReading& page, std::uint64_t bytes) {
  const std::string what = bytes == wire::kNoLimit
                               ? "there is none to lift"
                               : exact_bytes(static_cast<std::int64_t>(bytes)) + " cannot be kept";
  return fail(ErrorKind::kUsage, "--memory-limit",
              fmt::format("{} in {}: MLX's own allocator refuses nothing on this backend; start the program "
                          "with weir run --allocator weir (or mlx-policy)",
                          what, target_name(page)));
}

tl::unexpected<Error> no_auto(const char* flag) {
  return fail(
      ErrorKind::kUsage, flag,
      "auto needs the model, and which one a running process has nobody knows here; write a size such "
      "as 512MiB, unset or unlimited (weir limits MODEL --cache-limit auto says what auto would be)");
}

/// The value for the wire; a limit that is `unset` is none.
std::uint64_t wire_bytes(const limits::Setting& setting) {
  return setting.mode == limits::Mode::kBytes ? static_cast<std::uint64_t>(setting.bytes.value_or(0))
                                              : wire::kNoLimit;
}

Result<void> add_limits(const CtlOptions& options, const limits::Resolved& limits,
                        const ledger::PageReading& page, CtlRequest& into) {
  wire::ControlRequest& request = into.request;
  if (options.limits.cache_limit) {
    const limits::Setting& setting = limits.cache_limit;
    if (setting.mode == limits::Mode::kAuto) return no_auto("--cache-limit");
    const bool unset = setting.mode == limits::Mode::kUnset;
    request.flags |= unset ? wire::kUnsetsCacheLimit : wire::kSetsCacheLimit;
    if (!unset) request.cache_limit = wire_bytes(setting);
    into.echo.push_back("cache limit " + limits::echo(setting));
  }
  if (options.limits.memory_limit) {
    const limits::Setting& setting = limits.memory_limit;
    if (setting.mode == limits::Mode::kAuto) return no_auto("--memory-limit");
    request.flags |= wire::kSetsMemoryLimit;
    request.memory_limit = wire_bytes(setting);
    const bool keeps_none = page.allocator == wire::Allocator::kMlx && page.backend == wire::Backend::kCpu;
    if (keeps_none) return not_hard(page, request.memory_limit);
    into.echo.push_back("memory limit " + limits::echo(setting));
  }
  return {};
}

}  // namespace

const std::vector<std::string>& ctl_verbs() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const wire::Verb verb : kVerbs)
      all.emplace_back(wire::verb_name(verb));
    return all;
  }();
  return names;
}

Result<wire::Verb> ctl_verb(const CtlOptions& options) {
  const std::string word = options.verb.value_or("");
  const auto verb = verb_of(word);
  if (!verb) return unknown_verb(options.process.value_or(""), word);
  const bool has_limits = options.limits.cache_limit || options.limits.memory_limit;
  if (*verb == wire::Verb::kSet && !has_limits)
    return fail(ErrorKind::kUsage, kWhere,
                "set needs a limit; for example: weir ctl " + options.process.value_or("PID") +
                    " set --cache-limit 64MiB");
  if (*verb != wire::Verb::kSet && has_limits)
    return fail(ErrorKind::kUsage, options.limits.cache_limit ? "--cache-limit" : "--memory-limit",
                fmt::format("goes with the verb set, not with {}", word));
  return *verb;
}

Result<ledger::SettleOptions> ctl_patience(const CtlOptions& options) {
  ledger::SettleOptions patience;
  if (!options.timeout) return patience;
  if (!std::isfinite(*options.timeout) || *options.timeout < 0.001 || *options.timeout > kLongestSeconds)
    return fail(ErrorKind::kUsage, "--timeout", "not between 0.001 and 3600 seconds; write one such as 10");
  patience.patience = patience.settle =
      std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(*options.timeout * 1000)));
  return patience;
}

Result<CtlRequest> ctl_request(const CtlOptions& options, wire::Verb verb, const ledger::PageReading& page,
                               const limits::Denominators& denominators) {
  CtlRequest out;
  out.request.verb = static_cast<std::uint16_t>(verb);
  if (verb != wire::Verb::kSet) return out;
  limits::Inputs inputs;
  inputs.cache_limit_flag = options.limits.cache_limit;
  inputs.memory_limit_flag = options.limits.memory_limit;
  inputs.denominators = denominators;
  inputs.backend = &rules_of(page.allocator);
  const auto limits = limits::resolve(inputs);
  if (!limits) return tl::unexpected(limits.error());
  if (auto added = add_limits(options, *limits, page, out); !added)
    return tl::unexpected(std::move(added.error()));
  return out;
}

}  // namespace weir::cli
