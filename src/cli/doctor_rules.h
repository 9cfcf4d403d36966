#pragma once

#include "cli/doctor.h"

/// The rules of `weir doctor`, by subject. Each adds what it finds; pure.
namespace weir::cli {

/// Variables that nothing reads, limits that do not parse.
void find_variables(const DoctorFacts& facts, Findings& findings);
/// BLAS and the model.
void find_libraries(const DoctorFacts& facts, Findings& findings);
/// Bounds below RAM that MLX's defaults do not see: cgroups, resource limits.
void find_bounds(const DoctorFacts& facts, Findings& findings);
/// Limits that say something else than their owner may think: percentages, values above a bound.
void find_denominators(const DoctorFacts& facts, Findings& findings);
/// Transparent huge pages, mappings, overcommit.
void find_kernel(const DoctorFacts& facts, Findings& findings);
/// Swap, pressure, locked memory.
void find_pressure(const DoctorFacts& facts, Findings& findings);
/// Others that rule over the same memory: allocators, weir itself, daemons that end processes.
void find_governors(const DoctorFacts& facts, Findings& findings);
/// The store, the folder of pages, what lies in it.
void find_places(const DoctorFacts& facts, Findings& findings);

/// What this process may hold at most, by anything but RAM.
struct Bound {
  std::int64_t bytes = 0;
  std::string who;  ///< "the cgroup of docker 3f2a9c1b44d0 (/sys/fs/cgroup/memory.max)".
};

/// The smallest of the cgroup's limit and `high`, RLIMIT_AS and RLIMIT_DATA; nullopt: none is below RAM.
[[nodiscard]] std::optional<Bound> smallest_bound(const DoctorFacts& facts);

/// "the cgroup of docker 3f2a9c1b44d0", "the cgroup of /box/one", "a cgroup".
[[nodiscard]] std::string cgroup_words(const ledger::CgroupName& name);

}  // namespace weir::cli
