#include <fmt/format.h>

#include "base/byte_text.h"
#include "cli/doctor_rules.h"
#include "wire/counters_page.h"

namespace weir::cli {
namespace {

/// Pages for this many processes should fit.
constexpr std::int64_t kRoomForPages = 16 * static_cast<std::int64_t>(wire::kPageBytes);

void find_store(const DoctorFacts& facts, Findings& findings) {
  if (facts.places.store) return;
  const Error& error = facts.places.store.error();
  const bool damaged = error.kind == ErrorKind::kBadData;
  findings.push_back(
      {damaged ? "store-damaged" : "store-unusable", "error", describe(error),
       damaged ? fmt::format("mv '{0}' '{0}.damaged': the next weir price begins a new one, without the "
                             "verdicts of the old",
                             error.where)
               : "export WEIR_STATE_DIR=FOLDER, with a folder of your own: until then price and auto do not "
                 "work"});
}

void find_runtime_folder(const DoctorFacts& facts, Findings& findings) {
  const Places& places = facts.places;
  if (!places.runtime_folder) {
    findings.push_back({"runtime-folder", "error", describe(places.runtime_folder.error()),
                        "do what it says, or export WEIR_RUNTIME_DIR=FOLDER: without it nobody sees what is "
                        "governed, and ps, top and ctl find nothing"});
  } else if (places.runtime_free_bytes && *places.runtime_free_bytes < kRoomForPages) {
    findings.push_back(
        {"runtime-folder-full", "error",
         fmt::format("{} of disk or memory are free for pages in {}; each process that is governed takes {}",
                     exact_bytes(*places.runtime_free_bytes), places.runtime_folder->string(),
                     exact_bytes(wire::kPageBytes)),
         "free some space there, or export WEIR_RUNTIME_DIR=FOLDER elsewhere"});
  }
}

void find_stale(const DoctorFacts& facts, Findings& findings) {
  const std::vector<std::string>& stale = facts.places.stale_pages;
  if (stale.empty() || !facts.places.runtime_folder) return;
  findings.push_back(
      {"stale-pages", "note",
       fmt::format("{} page{} of processes that ended without removing {} lie{} in {} ({}{})", stale.size(),
                   stale.size() == 1 ? "" : "s", stale.size() == 1 ? "it" : "them",
                   stale.size() == 1 ? "s" : "", facts.places.runtime_folder->string(), stale.front(),
                   stale.size() == 1 ? "" : ", …"),
       "weir run -- true: each weir run removes them; until then ps and top pass over them"});
}

void find_troubles(const DoctorFacts& facts, Findings& findings) {
  for (const GovernedGlance& process : facts.places.governed) {
    if (process.troubles > 0)
      findings.push_back(
          {"troubles", "warning",
           fmt::format(
               "{} (pid {}): {} times the kernel refused to take memory back or to move it, or a free "
               "was of no block; some memory may stay until it ends",
               process.command, process.pid, process.troubles),
           fmt::format("weir ctl {} return, and see whether backed falls; weir run --allocator mlx otherwise",
                       process.pid)});
    if (process.off)
      findings.push_back({"ungoverned", "warning",
                          fmt::format("weir stays out of {} (pid {}); its line on stderr says why",
                                      process.command, process.pid),
                          "use an MLX that weir knows (docs/guide/governing-a-program.md)"});
  }
}

}  // namespace

void find_places(const DoctorFacts& facts, Findings& findings) {
  find_store(facts, findings);
  find_runtime_folder(facts, findings);
  find_stale(facts, findings);
  find_troubles(facts, findings);
}

}  // namespace weir::cli
