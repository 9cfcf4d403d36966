#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"

namespace weir::store {

/// Looks up an environment variable; injected, so that tests own it.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// The environment of this process.
[[nodiscard]] Environment process_environment();

/// The folder of the store: WEIR_STATE_DIR, else $XDG_STATE_HOME/weir, else $HOME/.local/state/weir;
/// absolute. An empty WEIR_STATE_DIR and a relative XDG_STATE_HOME are kUsage (an empty XDG_STATE_HOME counts
/// as unset, as its specification says); no HOME either is kEnvironment. Touches no file.
[[nodiscard]] Result<std::filesystem::path> state_dir(const Environment& environment);

/// "weir.db" inside it.
[[nodiscard]] std::filesystem::path store_path(const std::filesystem::path& state_folder);

/// Makes the folder and its missing parents, each 0700 whatever the umask; existing ones stay as they are.
/// A failure is kEnvironment (kNoRoom for a full disk) and names WEIR_STATE_DIR.
[[nodiscard]] Result<void> make_private_folders(const std::filesystem::path& folder);

}  // namespace weir::store
