#include "cli/top_view.h"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "cli/governed_words.h"
#include "cli/top_panel.h"
#include "cli/top_table.h"
#include "cli/top_why.h"
#include "ledger/governed_peak.h"

namespace weir::cli {
namespace {

/// Below this height there is no panel below the table.
constexpr int kPanelFromHeight = 14;
constexpr int kMachineFromHeight = 6;
constexpr std::size_t kLeastRows = 3;

using Lines = std::vector<TopLine>;

std::string count_text(const TopModel& model) {
  std::set<std::uint64_t> runs;
  for (const WatchedProcess& process : model.processes())
    if (process.now.page.run != 0) runs.insert(process.now.page.run);
  const std::size_t count = model.processes().size();
  return fmt::format("{} process{} in {} run{}", count, count == 1 ? "" : "es", runs.size(),
                     runs.size() == 1 ? "" : "s");
}

Lines header_lines(const TopModel& model, const TopHeader& header, const TopFrame& frame) {
  Lines lines;
  lines.push_back(TopLine("weir top ", Ink::kStrong)
                      .add(fmt::format(" {} · {} · every {} · by {}", header.clock, count_text(model),
                                       header.every, sort_word(model.sort()))));
  if (frame.height < kMachineFromHeight) return lines;
  if (header.machine) lines.push_back(TopLine(machine_sentence(*header.machine)));
  if (model.processes().size() > 1) {
    ledger::Layers sum = model.processes().front().now.layers;
    for (std::size_t i = 1; i < model.processes().size(); ++i)
      sum = ledger::add_layers(sum, model.processes()[i].now.layers);
    lines.push_back(TopLine(fmt::format("all: footprint {} · live {} · retained {} · resident {}",
                                        bytes_word(sum.footprint), bytes_word(sum.live),
                                        bytes_word(sum.retained), bytes_word(sum.resident))));
  }
  return lines;
}

TopLine key_line(const TopModel& model) {
  TopLine line;
  const auto key = [&](const char* name, const char* what) {
    line.add(name, Ink::kHead).add(std::string(" ") + what + "  ");
  };
  key("q", "quit");
  const bool in_panel = model.panel() != TopPanel::kDetails;
  key("up/down", in_panel ? "scroll" : "select");
  key("w", model.panel() == TopPanel::kWhy ? "back" : "why not reused");
  if (!in_panel) key("s", "sort");
  key("?", model.panel() == TopPanel::kHelp ? "back" : "help");
  return line;
}

/// The rows around the selected one that fit.
Lines table_lines(const TopModel& model, std::size_t room, const TopFrame& frame) {
  Lines lines;
  if (room == 0) return lines;
  const auto& processes = model.processes();
  if (processes.empty()) return {TopLine("no governed process lives; start one with: weir run -- COMMAND")};
  const TopTable table(processes, frame);
  lines.push_back(table.head());
  const std::size_t rows = std::min(processes.size(), room - 1);
  const std::size_t first = model.selected() < rows ? 0 : model.selected() - rows + 1;
  for (std::size_t i = first; i < first + rows; ++i) {
    lines.push_back(table.row(processes[i]));
    lines.back().is_selected = i == model.selected();
  }
  return lines;
}

/// `lines` from `from` on, no more than there is room for, and at least the last one.
Lines scrolled(Lines lines, std::size_t from, std::size_t room) {
  const std::size_t last_start = lines.size() > room ? lines.size() - room : 0;
  lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(std::min(from, last_start)));
  if (lines.size() > room) lines.resize(room);
  return lines;
}

Lines body_lines(const TopModel& model, std::size_t room, const TopFrame& frame) {
  const WatchedProcess* selected = model.selected_process();
  if (model.panel() == TopPanel::kHelp) return scrolled(help_lines(frame), model.scrolled(), room);
  if (model.panel() == TopPanel::kWhy && selected != nullptr)
    return why_lines(*selected, model.scrolled(), {frame.width, static_cast<int>(room), frame.unicode});
  if (selected == nullptr || frame.height < kPanelFromHeight) return table_lines(model, room, frame);
  Lines panel = details_lines(*selected, frame);
  const std::size_t needed = std::min(model.processes().size(), kLeastRows) + 2;  // the head and a blank line
  const std::size_t for_panel = std::min(panel.size(), room > needed ? room - needed : 0);
  panel.resize(for_panel);
  Lines lines = table_lines(model, room - for_panel - 1, frame);
  lines.resize(room - for_panel);
  lines.insert(lines.end(), std::make_move_iterator(panel.begin()), std::make_move_iterator(panel.end()));
  return lines;
}

}  // namespace

std::vector<TopLine> top_screen_lines(const TopModel& model, const TopHeader& header, const TopFrame& frame) {
  if (frame.width <= 0 || frame.height <= 0) return {};
  const auto height = static_cast<std::size_t>(frame.height);
  Lines lines = header_lines(model, header, frame);
  if (height > 4) lines.push_back(TopLine());
  const std::size_t used = std::min(height, lines.size() + 1);
  Lines body = body_lines(model, height - used, frame);
  body.resize(height - used);
  lines.insert(lines.end(), std::make_move_iterator(body.begin()), std::make_move_iterator(body.end()));
  lines.push_back(key_line(model));
  lines.resize(std::min(lines.size(), height));
  for (TopLine& line : lines)
    line = line.fitted(frame);
  return lines;
}

}  // namespace weir::cli
