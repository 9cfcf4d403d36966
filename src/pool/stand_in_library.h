#pragma once

namespace weir::pool {

/// Runs `body` on a thread that this library starts; its file name makes it look like MLX's.
void run_on_library_thread(void (*body)());

}  // namespace weir::pool
