#pragma once

#include <string>

#include "base/error.h"
#include "wire/agent_settings.h"

namespace weir::govern {

/// weir's own programs govern themselves by the code that the agent preloads into others: interpose.cpp
/// answers MLX in the executable and starts govern_process at MLX's first call.

/// What this program wants to be governed by. Settings of a `weir run` around it (WEIR_AGENT) go before, and
/// then this changes nothing. kInternal once MLX has allocated. `pages_folder`: where the counters page goes;
/// "": a page nobody else sees.
[[nodiscard]] Result<void> configure_process(const wire::AgentSettings& settings,
                                             const std::string& pages_folder = "");
/// Where a program shows its page outside of a `weir run`: the user's runtime folder, rid of pages whose
/// process is gone; "" where it cannot be had.
[[nodiscard]] std::string own_pages_folder();

/// What MLX's first call starts from.
struct OwnStart {
  wire::AgentSettings settings;
  std::string pages_folder;
  bool from_run = false;  ///< WEIR_AGENT says so.
};

/// WEIR_AGENT and WEIR_AGENT_PAGES, else what was configured. A WEIR_AGENT that is none costs one line on
/// stderr and is passed over. From this call on `configure_process` refuses.
[[nodiscard]] OwnStart take_own_start();

/// Whether MLX has asked this program for its allocator, so that `take_own_start` was called.
[[nodiscard]] bool own_start_taken();

/// What `take_own_start` would answer now.
[[nodiscard]] OwnStart own_start();

/// Lets MLX evaluate something small and sees whether it allocated through us. kInternal where it did not
/// (the interposing object is not linked), kEnvironment where the pool could not be had.
[[nodiscard]] Result<void> require_governed();

}  // namespace weir::govern
