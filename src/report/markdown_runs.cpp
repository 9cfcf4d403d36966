#include "report/markdown_runs.h"

#include <fmt/format.h>

#include "base/byte_text.h"
#include "report/figures.h"
#include "report/markdown.h"
#include "report/markdown_table.h"

namespace weir::report {

namespace {

/// A whole number with commas, or "?".
std::string shown(const std::optional<std::int64_t>& number) {
  return number ? with_commas(*number) : "?";
}

std::string ratio_text(const std::map<std::string, double>& ratios, const char* metric) {
  const auto found = ratios.find(metric);
  return found == ratios.end() ? "?" : change(found->second);
}

/// What a speed value stands for.
const char* unit_of(const RunRecord& record) {
  return record.design == lab::Design::kBetween ? "block of starts" : "start";
}

}  // namespace

std::string order_section(const RunRecord& record) {
  if (record.speed.empty()) return "";
  std::string out = "## Run order\n\n";
  for (const SpeedStart& start : record.speed) {
    out += fmt::format("{}. {} {} ({}): ", &start - record.speed.data() + 1, unit_of(record), start.index + 1,
                       markdown_escaped(start.status));
    for (std::size_t block = 0; block < start.blocks.size(); ++block) {
      out += block == 0 ? "" : " — ";
      for (std::size_t turn = 0; turn < start.blocks[block].size(); ++turn)
        out += (turn == 0 ? "" : ", ") + markdown_escaped(start.blocks[block][turn]);
    }
    out += "\n";
  }
  return out + "\n";
}

std::string starts_section(const RunRecord& record) {
  MarkdownTable speeds({unit_of(record), "arm", "prefill", "decode"}, "rlrr");
  for (const SpeedStart& start : record.speed)
    for (const auto& [arm, ratios] : start.ratio)
      speeds.add({std::to_string(start.index + 1), arm, ratio_text(ratios, lab::kPrefill),
                  ratio_text(ratios, lab::kDecode)});
  MarkdownTable footprints({"start", "arm", "status", "footprint peak, bytes", "live peak, bytes",
                            "retained peak, bytes", "page faults"},
                           "rllrrrr");
  for (const FootprintStart& start : record.footprint) {
    const lab::Measured& measured = start.measured;
    footprints.add({std::to_string(start.index + 1), start.arm, start.status,
                    shown(measured.footprint_peak_bytes), shown(measured.live_peak_bytes),
                    shown(measured.retained_peak_bytes), shown(measured.page_faults)});
  }
  std::string out;
  if (!speeds.empty())
    out += fmt::format("## Each {}: speed against the baseline\n\n", unit_of(record)) + speeds.text() + "\n";
  if (!footprints.empty()) out += "## Each start: footprint\n\n" + footprints.text() + "\n";
  return out;
}

std::string environment_section(const lab::ExperimentResult& result, const RunRecord& record) {
  const lab::Environment& environment = result.environment;
  MarkdownTable table({"what", "value"}, "ll");
  table.add({"model", environment.model});
  table.add({"model SHA-256", environment.model_sha256});
  table.add({"model size", exact_bytes(environment.model_bytes)});
  table.add({"backend", environment.backend});
  table.add({"library", environment.library});
  table.add({"BLAS", environment.blas});
  table.add({"threads", std::to_string(environment.threads)});
  std::string cpus;
  for (const int cpu : environment.cpus)
    cpus += (cpus.empty() ? "" : ", ") + std::to_string(cpu);
  table.add({"pinned to CPUs", cpus.empty() ? "not pinned" : cpus});
  table.add({"machine", environment.machine});
  table.add({"weir SHA-256", environment.weir_sha256});
  for (const auto& [name, value] : record.variables)
    table.add({name, value});
  return "## Environment\n\n" + table.text() + "\n";
}

std::string again_section(const lab::ExperimentResult& result, const RunRecord& record) {
  if (record.command.empty()) return "";
  std::string fence = "```";
  while (record.command.find(fence) != std::string::npos)
    fence += "`";
  return "## Run it again\n\n" + fence + "sh\n" + record.command + "\n" + fence + "\n\n" +
         (result.complete ? "`--new` seals a new plan; without it a finished one is not run twice.\n"
                          : "The plan is unfinished: the same command goes on with it.\n");
}

}  // namespace weir::report
