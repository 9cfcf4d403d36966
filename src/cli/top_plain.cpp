#include "cli/top_plain.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/governed_json.h"
#include "cli/governed_words.h"
#include "cli/top_line.h"
#include "wire/agent_settings.h"

namespace weir::cli {
namespace {

/// Widths keep a person's eye on the column; a longer word pushes the rest.
constexpr const char* kForm =
    "{:<8} {:>7} {:<15} {:<10} {:<8} {:>9} {:>8} {:>8} {:>8} {:>9} {:>9} {:>6} {:>8} {:>8}\n";

/// One word, in ASCII.
std::string word(std::string text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.compare(i, 3, "−") == 0) {
      out += '-';
      i += 2;
      continue;
    }
    out += text[i];
  }
  return out.empty() ? "-" : out;
}

std::string name_word(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '_');
  return text.empty() ? "?" : text;
}

std::string rate_word(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.0f}", *rate) : "?";
}

nlohmann::json or_null(const std::optional<double>& rate) {
  return rate ? nlohmann::json(*rate) : nlohmann::json(nullptr);
}

}  // namespace

std::string plain_head() {
  return fmt::format(kForm, "time", "pid", "command", "allocator", "phase", "footprint", "resident", "live",
                     "retained", "cache_lim", "mem_lim", "reused", "alloc/s", "faults/s");
}

std::string plain_line(const WatchedProcess& process, const std::string& clock) {
  const ledger::PageReading& page = process.now.page;
  const ledger::Layers& layers = process.now.layers;
  const bool counted = is_counted(page);
  return fmt::format(
      kForm, clock, page.pid, name_word(page.command), wire::allocator_name(page.allocator),
      word(counted ? phase_word(page.phase) : state_word(page.state)), word(bytes_word(layers.footprint)),
      word(bytes_word(layers.resident)), word(bytes_word(layers.live)), word(bytes_word(layers.retained)),
      counted ? word(limit_word(page.cache_limit)) : "?", counted ? word(limit_word(page.memory_limit)) : "?",
      word(hit_word(page)), rate_word(process.allocations_per_second), rate_word(process.faults_per_second));
}

std::string json_line(const std::vector<WatchedProcess>& processes, double unix_seconds) {
  nlohmann::json list = nlohmann::json::array();
  for (const WatchedProcess& process : processes) {
    nlohmann::json row = to_json(process.now);
    row["allocations_per_second"] = or_null(process.allocations_per_second);
    row["faults_per_second"] = or_null(process.faults_per_second);
    row["tokens_per_second"] = or_null(process.tokens_per_second);
    list.push_back(std::move(row));
  }
  const nlohmann::json out = {{"time", unix_seconds}, {"processes", std::move(list)}};
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace weir::cli
