#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "cli/doctor_rules.h"

namespace weir::cli {
namespace {

constexpr std::int64_t kGranuleBytes = 2 << 20;
constexpr std::int64_t kUsualMapCount = 65'530;
constexpr std::int64_t kTightHeadroom = 256 << 20;
constexpr const char* kHugePages = "/sys/kernel/mm/transparent_hugepage";

std::string sysctl(const char* name, std::int64_t value) {
  return fmt::format("sudo sysctl -w {}={}", name, value);
}

std::string tee(const char* word, const char* file) {
  return fmt::format("echo {} | sudo tee {}/{}", word, kHugePages, file);
}

/// The pool asks for huge pages itself (madvise), so `madvise` is what suits it.
void find_huge_pages(const ledger::HugePages& pages, Findings& findings) {
  if (pages.disabled_here) {
    findings.push_back(
        {"huge-pages-off", "warning",
         "this process and what it starts get no huge pages (PR_SET_THP_DISABLE): each granule "
         "of 2 MiB that weir's pool backs faults 512 times instead of once",
         "start it from a shell without that setting (it is inherited)"});
  } else if (pages.enabled == "never") {
    findings.push_back({"huge-pages-off", "warning",
                        "transparent huge pages are off (never): weir's pool asks for them in vain, and each "
                        "granule of 2 MiB that it backs faults 512 times instead of once",
                        tee("madvise", "enabled")});
  } else if (pages.enabled == "always") {
    findings.push_back(
        {"huge-pages-always", "note",
         fmt::format(
             "every program gets huge pages, asked or not (always): heaps and stacks are rounded up "
             "to 2 MiB{}, which shows in the footprint as heap idle and identified; `--huge-pages "
             "off` then keeps nothing small",
             pages.largest_hole.value_or(0) > 0
                 ? fmt::format(" (khugepaged fills up to {} untouched pages of 512)", *pages.largest_hole)
                 : ""),
         tee("madvise", "enabled") + ": weir's pool asks for them by itself"});
  }
}

void find_defrag(const ledger::HugePages& pages, Findings& findings) {
  if (pages.enabled.empty() || pages.enabled == "never") return;
  if (pages.defrag == "always" && pages.enabled == "always") {
    findings.push_back({"huge-pages-stall", "note",
                        "a fault of any program may wait while the kernel compacts memory (defrag: always)",
                        tee("madvise", "defrag") + ": only who asks waits"});
  } else if (pages.defrag == "never" || pages.defrag == "defer") {
    const bool nobody = pages.defrag == "never" && pages.khugepaged_defrag == 0;
    findings.push_back(
        {"huge-pages-rare", "note",
         fmt::format("a fault gets a huge page only where one lies free (defrag: {}), and {}: on a machine "
                     "that has run for long, weir's pool gets small pages and faults more",
                     pages.defrag,
                     nobody ? "nobody makes any (khugepaged/defrag: 0)" : "others are made later, if at all"),
         tee("madvise", "defrag")});
  }
}

/// Each moved run of granules may become a mapping of its own; the pool stops at half of what the process
/// may have, and then returns granules and backs fresh ones instead.
void find_mappings(const DoctorFacts& facts, Findings& findings) {
  if (!facts.settings.max_map_count || !facts.memory) return;
  const std::optional<Bound> bound = smallest_bound(facts);
  const std::int64_t bytes = bound ? bound->bytes : facts.memory->total_bytes;
  const std::int64_t granules = bytes / kGranuleBytes;
  const std::int64_t most = *facts.settings.max_map_count / 2;
  if (most >= granules) return;
  const auto wanted = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(granules) * 2));
  const bool lowered = *facts.settings.max_map_count < kUsualMapCount;
  findings.push_back(
      {"few-mappings", lowered ? "warning" : "note",
       fmt::format("a process may have {} mappings (vm.max_map_count), of which weir's pool uses at most {} "
                   "for moves; {} hold {} granules, and at worst each is a mapping: moves then stop, and "
                   "granules are returned and faulted in anew",
                   with_commas(*facts.settings.max_map_count), with_commas(most), short_bytes(bytes),
                   with_commas(granules)),
       sysctl("vm.max_map_count", wanted)});
}

void find_overcommit(const ledger::MachineSettings& settings, Findings& findings) {
  if (settings.overcommit != 2) return;
  const bool known = settings.commit_limit && settings.committed;
  const std::int64_t room =
      known ? std::max<std::int64_t>(0, *settings.commit_limit - *settings.committed) : 0;
  findings.push_back(
      {"strict-overcommit", known && room < kTightHeadroom ? "error" : "warning",
       fmt::format(
           "the kernel promises no more than it has (vm.overcommit_memory=2): {}; above that MLX's own "
           "allocator gets a null buffer and crashes. weir's pool then makes memory writable as it is "
           "backed, and moves nothing",
           known ? fmt::format("{} of {} are promised, {} are left", exact_bytes(*settings.committed),
                               exact_bytes(*settings.commit_limit), exact_bytes(room))
                 : "how much is left cannot be read"),
       known && room >= kTightHeadroom ? fmt::format("weir run --memory-limit {} -- COMMAND, or {}",
                                                     room / 10 * 9, sysctl("vm.overcommit_memory", 0))
                                       : sysctl("vm.overcommit_memory", 0)});
}

}  // namespace

void find_kernel(const DoctorFacts& facts, Findings& findings) {
  find_huge_pages(facts.settings.huge_pages, findings);
  find_defrag(facts.settings.huge_pages, findings);
  find_mappings(facts, findings);
  find_overcommit(facts.settings, findings);
}

}  // namespace weir::cli
