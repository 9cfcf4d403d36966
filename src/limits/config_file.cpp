#include "limits/config_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/file.h"
#include "limits/size.h"
#include "limits/toml_text.h"

namespace weir::limits {
namespace {

constexpr std::size_t kMostBytes = 1u << 20;

std::string at_line(std::string_view path, std::size_t line) {
  return fmt::format("{}:{}", path, line);
}

Result<ConfigValue> value_of(const toml::node& node, std::string_view key, std::string where) {
  if (const auto* text = node.as_string()) return ConfigValue{text->get(), std::move(where)};
  if (const auto* number = node.as_integer())
    return ConfigValue{std::to_string(number->get()), std::move(where)};
  return fail(ErrorKind::kUsage, std::move(where),
              fmt::format("{} is neither an integer nor a string; write {} = \"512MiB\"", key, key));
}

Result<Config> config_of(const toml::table& table, std::string_view path) {
  Config config;
  for (auto&& [key, node] : table) {
    const std::string_view name = key.str();
    const std::string where = at_line(path, key.source().begin.line);
    if (name != "cache_limit" && name != "memory_limit") {
      return fail(ErrorKind::kUsage, where,
                  fmt::format("unknown key {}; the keys are cache_limit and memory_limit", shown(name)));
    }
    auto value = value_of(node, name, where);
    if (!value) return tl::unexpected(std::move(value.error()));
    (name == "cache_limit" ? config.cache_limit : config.memory_limit) = std::move(*value);
  }
  return config;
}

}  // namespace

std::optional<std::filesystem::path> config_path(const Variables& variables) {
  const auto absolute = [&](std::string_view name) -> std::optional<std::filesystem::path> {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second.empty() || found->second.front() != '/')
      return std::nullopt;
    return found->second;
  };
  if (const auto home = absolute("XDG_CONFIG_HOME")) return *home / "weir" / "config.toml";
  if (const auto home = absolute("HOME")) return *home / ".config" / "weir" / "config.toml";
  return std::nullopt;
}

Result<Config> parse_config(std::string_view text, std::string_view path) {
  if (const auto fault = toml_fault(text))
    return fail(ErrorKind::kUsage, at_line(path, fault->line), "not TOML: " + fault->what);
  try {
    return config_of(toml::parse(text), path);
  } catch (const toml::parse_error& error) {
    return fail(
        ErrorKind::kUsage, at_line(path, error.source().begin.line),
        fmt::format("not TOML: {}; write a line such as cache_limit = \"512MiB\"", error.description()));
  }
}

Result<Config> read_config(const std::filesystem::path& path) {
  std::error_code absent;
  const auto status = std::filesystem::status(path, absent);
  if (status.type() == std::filesystem::file_type::not_found) return Config{};
  auto text = read_text(path, kMostBytes);
  if (!text) return tl::unexpected(std::move(text.error()));
  return parse_config(*text, path.string());
}

}  // namespace weir::limits
