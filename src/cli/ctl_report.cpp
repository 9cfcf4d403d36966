#include "cli/ctl_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/byte_text.h"
#include "cli/governed_json.h"
#include "cli/governed_target.h"
#include "cli/governed_words.h"
#include "ledger/layers_json.h"
#include "report/text_table.h"
#include "wire/agent_settings.h"

namespace weir::cli {
namespace {

using nlohmann::json;

/// One layer as a row; the sign says what it does in the sum.
struct LayerRow {
  const char* name;
  ledger::Bytes ledger::Layers::*bytes;
  bool only_where_any;  ///< Left out where it is 0 or unknown.
};

constexpr LayerRow kRows[] = {
    {"footprint", &ledger::Layers::footprint, false},
    {"= live", &ledger::Layers::live, false},
    {"+ retained", &ledger::Layers::retained, false},
    {"− untouched", &ledger::Layers::untouched, false},
    {"+ heap idle", &ledger::Layers::heap_idle, false},
    {"+ identified", &ledger::Layers::identified, false},
    {"+ unexplained", &ledger::Layers::unexplained, false},
    {"file", &ledger::Layers::file, false},
    {"of it weights", &ledger::Layers::weights_file, true},
    {"resident", &ledger::Layers::resident, false},
    {"swap", &ledger::Layers::swap, true},
    {"overdraw", &ledger::Layers::overdraw, true},
};

/// "−312 MB", "+4.10 kB"; "" where nothing changed or nobody knows.
std::string change_cell(const ledger::Bytes& before, const ledger::Bytes& after) {
  if (!before || !after || *before == *after) return "";
  return (*after < *before ? "−" : "+") + short_bytes(std::abs(*after - *before));
}

std::string share_cell(const ledger::Bytes& part, const ledger::Bytes& whole) {
  if (!part || whole.value_or(0) <= 0) return "";
  const double percent = 100.0 * static_cast<double>(*part) / static_cast<double>(*whole);
  return fmt::format("{}{:.{}f} %", percent < 0 ? "−" : "", std::fabs(percent),
                     std::fabs(percent) < 9.95 ? 1 : 0);
}

std::string limit_cell(std::uint64_t bytes) {
  return bytes == wire::kNoLimit ? "none" : short_bytes(static_cast<std::int64_t>(bytes));
}

/// The parts below one layer, by name.
std::map<std::string, std::int64_t> parts_of(const ledger::Layers& layers, const LayerRow& row) {
  if (row.bytes == &ledger::Layers::live) return layers.tags;
  std::map<std::string, std::int64_t> parts;
  if (row.bytes == &ledger::Layers::identified)
    for (const ledger::IdentifiedPart& part : layers.identified_parts)
      parts[part.name] += part.bytes;
  return parts;
}

/// The rows of one outcome: two readings and their difference, or of `sample` one reading and its share.
class LayerTable {
 public:
  LayerTable(const CtlOutcome& outcome, const report::Style& style)
      : outcome_(outcome), table_(style), single_(outcome.verb() == wire::Verb::kSample) {
    table_.add_column("layer", report::Align::kLeft);
    if (!single_) table_.add_column("before", report::Align::kRight);
    if (!single_) table_.add_column("", report::Align::kLeft, 1);
    table_.add_column(single_ ? "bytes" : "after", report::Align::kRight);
    table_.add_column(single_ ? "share" : "change", report::Align::kRight);
  }

  void add_layers(bool parts) {
    for (const LayerRow& row : kRows) {
      const ledger::Bytes& before = before_().*row.bytes;
      const ledger::Bytes& after = after_().*row.bytes;
      if (row.only_where_any && before.value_or(0) == 0 && after.value_or(0) == 0) continue;
      add(row.name, before, after);
      if (parts) add_parts(row);
    }
  }

  void add_limits() {
    const ledger::ControlAnswer& answer = outcome_.change.answer;
    table_.add_row(
        {"cache limit", limit_cell(outcome_.page.cache_limit), "→", limit_cell(answer.cache_limit), ""});
    table_.add_row(
        {"memory limit", limit_cell(outcome_.page.memory_limit), "→", limit_cell(answer.memory_limit), ""});
  }

  [[nodiscard]] std::string text() const { return table_.text(); }

 private:
  [[nodiscard]] const ledger::Layers& before_() const { return outcome_.change.before; }
  [[nodiscard]] const ledger::Layers& after_() const { return outcome_.change.after; }

  void add(const std::string& name, const ledger::Bytes& before, const ledger::Bytes& after) {
    if (single_) {
      table_.add_row({name, bytes_word(after), share_cell(after, after_().footprint)});
    } else {
      table_.add_row({name, bytes_word(before), "→", bytes_word(after), change_cell(before, after)});
    }
  }

  /// The biggest first.
  void add_parts(const LayerRow& row) {
    const auto before = parts_of(before_(), row), after = parts_of(after_(), row);
    std::map<std::string, std::int64_t> all = before;
    for (const auto& [name, bytes] : after)
      all[name] = std::max(all[name], bytes);
    std::vector<std::pair<std::string, std::int64_t>> ordered(all.begin(), all.end());
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& left, const auto& right) { return left.second > right.second; });
    const auto of = [](const auto& parts, const std::string& name) {
      const auto found = parts.find(name);
      return ledger::Bytes(found == parts.end() ? 0 : found->second);
    };
    for (const auto& [name, most] : ordered)
      if (most != 0) add("    " + name, of(before, name), of(after, name));
  }

  const CtlOutcome& outcome_;
  report::TextTable table_;
  bool single_;
};

json limits_json(std::uint64_t cache_limit, std::uint64_t memory_limit) {
  return {{"cache_limit", limit_bytes_json(cache_limit)}, {"memory_limit", limit_bytes_json(memory_limit)}};
}

}  // namespace

const char* status_name(wire::ControlStatus status) noexcept {
  switch (status) {
    case wire::ControlStatus::kDone:
      return "done";
    case wire::ControlStatus::kPending:
      return "pending";
    case wire::ControlStatus::kRefused:
      return "refused";
    case wire::ControlStatus::kBadRequest:
      return "bad request";
    case wire::ControlStatus::kBusy:
      return "busy";
    case wire::ControlStatus::kFailed:
      break;
  }
  return "failed";
}

std::string ctl_text(const CtlOutcome& outcome, bool parts, const report::Style& style) {
  LayerTable table(outcome, style);
  table.add_layers(parts);
  if (outcome.verb() == wire::Verb::kSet) table.add_limits();
  const std::string head =
      fmt::format("{} · {} · {}", target_name(outcome.page), wire::allocator_name(outcome.page.allocator),
                  wire::verb_name(outcome.verb()));
  std::string sentence = ctl_sentence(outcome);
  // What a pending verb waits for is in the sentence itself.
  if (!outcome.change.pending && !outcome.change.answer.text.empty())
    sentence = outcome.change.answer.text + "\n" + report::spelled(sentence, style);
  else
    sentence = report::spelled(sentence, style);
  return report::spelled(head, style) + "\n\n" + table.text() + "\n" + sentence + "\n";
}

json to_json(const CtlOutcome& outcome) {
  const ledger::ControlledChange& change = outcome.change;
  const ledger::ControlAnswer& answer = change.answer;
  return {
      {"verb", wire::verb_name(outcome.verb())},
      {"pid", outcome.page.pid},
      {"command", outcome.page.command},
      {"allocator", wire::allocator_name(outcome.page.allocator)},
      {"status", status_name(answer.status)},
      {"text", answer.text},
      {"sentence", ctl_sentence(outcome)},
      {"before", ledger::to_json(change.before)},
      {"after", ledger::to_json(change.after)},
      {"settled", change.settled},
      {"pending", change.pending},
      {"seconds", change.seconds},
      {"released", answer.released},
      {"heap_released", answer.heap_released},
      {"driver_released", answer.driver_released},
      {"driver_kept", answer.driver_kept},
      {"limits",
       {{"before", limits_json(outcome.page.cache_limit, outcome.page.memory_limit)},
        {"after", limits_json(answer.cache_limit, answer.memory_limit)}}},
  };
}

}  // namespace weir::cli
