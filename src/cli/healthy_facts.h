#pragma once

#include <algorithm>
#include <string_view>

#include "cli/doctor.h"

namespace weir::cli {

/// For tests: a machine on which nothing is wrong.
inline DoctorFacts healthy_facts() {
  ledger::MachineMemory memory;
  memory.total_bytes = 16'000'000'000;
  memory.available_bytes = 8'000'000'000;
  DoctorFacts facts{{},
                    limits::Resolved{},
                    {"OpenBLAS 0.3.21", false, "/usr/lib/libopenblas.so.0"},
                    memory,
                    std::filesystem::path("/models/smollm2.gguf")};
  facts.settings.limits.locked = 8'388'608;
  facts.settings.huge_pages = {"madvise", "madvise", 1, 511, false};
  facts.settings.swap.swappiness = 60;
  facts.settings.max_map_count = 65'530;
  facts.settings.overcommit = 0;
  facts.settings.commit_limit = 8'000'000'000;
  facts.settings.committed = 9'000'000'000;
  facts.places.runtime_folder = std::filesystem::path("/run/user/1000/weir");
  facts.places.runtime_free_bytes = 1'000'000'000;
  return facts;
}

/// The finding with this id; one with empty texts where there is none.
inline Finding finding(const DoctorFacts& facts, std::string_view id) {
  const Findings findings = find_faults(facts);
  const auto found =
      std::find_if(findings.begin(), findings.end(), [&](const Finding& each) { return each.id == id; });
  return found == findings.end() ? Finding{} : *found;
}

/// The ids of all that is found, joined by spaces.
inline std::string ids(const DoctorFacts& facts) {
  std::string joined;
  for (const Finding& each : find_faults(facts))
    joined += (joined.empty() ? "" : " ") + each.id;
  return joined;
}

}  // namespace weir::cli
