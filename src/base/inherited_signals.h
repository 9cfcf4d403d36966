#pragma once

namespace weir {

/// Notes which signals this process was started with ignored (`nohup`, a shell's background job, Python's
/// SIGPIPE). To be called first of all, before anything sets a handler.
void note_inherited_signals() noexcept;

/// Whether `signal` was ignored then: a program started on somebody's behalf is to ignore it too.
[[nodiscard]] bool inherited_ignored(int signal) noexcept;

}  // namespace weir
