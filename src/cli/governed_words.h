#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ledger/layers.h"
#include "ledger/machine_memory.h"
#include "ledger/page_reading.h"

namespace weir::cli {

/// "cpu", "cuda", "metal", "none".
[[nodiscard]] const char* backend_word(wire::Backend backend) noexcept;

/// "load", "vision", "prefill", "decode", "idle", "unload"; "" for a program that marks none.
[[nodiscard]] const char* phase_word(wire::Phase phase) noexcept;

/// "starting", "governed", "off", "exited".
[[nodiscard]] const char* state_word(wire::PageState state) noexcept;

/// "trim", "return", "set-cache-limit", ….
[[nodiscard]] const char* act_word(wire::ActKind kind) noexcept;

/// "control", "request", "phase", "idle", "pressure", "neighbour", "window".
[[nodiscard]] const char* cause_word(wire::ActCause cause) noexcept;

/// Whether weir governs MLX's allocations there now, so that what the page counts is what the process does.
[[nodiscard]] bool is_counted(const ledger::PageReading& page) noexcept;

/// "165 MB"; "?" where unknown.
[[nodiscard]] std::string bytes_word(const ledger::Bytes& bytes);

/// "67.1 MB"; "none" for an unlimited one.
[[nodiscard]] std::string limit_word(std::uint64_t bytes);

/// The share of `hits` among hits and misses, 0 to 1; nullopt before the first of either.
[[nodiscard]] std::optional<double> reused_share(std::uint64_t hits, std::uint64_t misses) noexcept;
/// "99.8 %".
[[nodiscard]] std::string share_word(double share);

/// "99.8 %" of the allocations so far; "?" before the first one and where nobody counts.
[[nodiscard]] std::string hit_word(const ledger::PageReading& page);

/// "12 s", "3.5 min", "2.1 h", "4.0 d".
[[nodiscard]] std::string duration_word(double seconds);

/// "footprint 165 MB = live 115 MB + retained 27.3 MB + heap idle ? + identified 19.6 MB + unexplained 303
/// kB".
[[nodiscard]] std::string sum_sentence(const ledger::Layers& layers);

/// "machine 25.2 GB, 19.3 GB available · cgroup 8.00 GB, 3.10 GB used, 5.20 GB room".
[[nodiscard]] std::string machine_sentence(const ledger::MachineMemory& machine);

}  // namespace weir::cli
