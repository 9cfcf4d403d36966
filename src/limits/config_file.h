#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "limits/setting.h"
#include "limits/variables.h"

namespace weir::limits {

/// A value of the config file as text, and where it stands ("/home/u/.config/weir/config.toml:2").
struct ConfigValue {
  std::string text;
  std::string where;
};

struct Config {
  std::optional<ConfigValue> cache_limit;
  std::optional<ConfigValue> memory_limit;

  [[nodiscard]] const std::optional<ConfigValue>& value(Knob knob) const noexcept {
    return knob == Knob::kCacheLimit ? cache_limit : memory_limit;
  }
};

/// `$XDG_CONFIG_HOME/weir/config.toml`, else `$HOME/.config/weir/config.toml`; nullopt without either. A
/// relative XDG_CONFIG_HOME counts as unset, as its specification demands.
[[nodiscard]] std::optional<std::filesystem::path> config_path(const Variables& variables);

/// Keys `cache_limit` and `memory_limit`, each an integer (bytes) or a string (a size). Bad TOML, another key
/// or another type is kUsage with "file:line". Sizes are not judged here.
[[nodiscard]] Result<Config> parse_config(std::string_view text, std::string_view path);

/// The file parsed; an absent file is an empty Config, an unreadable one is an Error.
[[nodiscard]] Result<Config> read_config(const std::filesystem::path& path);

}  // namespace weir::limits
