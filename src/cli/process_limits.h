#pragma once

#include <sys/types.h>
#include <optional>

#include "ledger/page_reading.h"
#include "limits/setting.h"
#include "wire/agent_settings.h"

namespace weir::cli {

/// Both limits as they are in force in one governed process. Who asked for them is said as far as the page's
/// acts, its counts, and what the process was started with (nullopt: not known) tell: "process 26219: weir
/// run", "… ctl", "… program", "… library default", or two of them where only their minimum is known. Pure.
[[nodiscard]] limits::Resolved limits_in_force(const ledger::PageReading& page,
                                               const std::optional<wire::AgentSettings>& started);

/// What `weir run` told the process, from the environment that the kernel keeps of its start; nullopt where
/// it was told nothing, or the kernel does not let us look. Disturbs nobody.
[[nodiscard]] std::optional<wire::AgentSettings> settings_at_start(pid_t pid);

}  // namespace weir::cli
