#include "limits/variables.h"

#include <unistd.h>
#include <optional>

#include "limits/nearest_name.h"
#include "limits/size.h"

namespace weir::limits {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

constexpr CompatibleName kCompatible[] = {
    {"OLLAMA_MLX_CACHE_LIMIT", Knob::kCacheLimit, 1, true},
    {"QWISP_LANE_MLX_CACHE_MB", Knob::kCacheLimit, kMiB, false},
    {"QWISP_PREFILL_MLX_CACHE_MB", Knob::kCacheLimit, kMiB, false},
    {"OLLAMA_MLX_MEMORY_LIMIT", Knob::kMemoryLimit, 1, true},
};

constexpr WeirVariable kWeir[] = {
    {"WEIR_CACHE_LIMIT", "bound on freed buffers kept for reuse"},
    {"WEIR_MEMORY_LIMIT", "bound on live and retained bytes together"},
    {"WEIR_STATE_DIR", "where the store and traces are kept"},
    {"WEIR_RUNTIME_DIR", "where sockets and shared pages are kept"},
    {"WEIR_AGENT", "set by weir run for the processes it governs"},
    {"WEIR_AGENT_PAGES", "the same"},
};

/// Names that are passed around for MLX and that MLX does not read. `instead` is what does the job.
struct UnreadName {
  std::string_view name;
  std::string_view instead;
};

constexpr std::string_view kCacheInstead = "WEIR_CACHE_LIMIT or --cache-limit";
constexpr std::string_view kMemoryInstead = "WEIR_MEMORY_LIMIT or --memory-limit";
constexpr UnreadName kUnread[] = {
    {"MLX_BUFFER_CACHE_LIMIT", kCacheInstead},
    {"MLX_CACHE_LIMIT", kCacheInstead},
    {"MLX_CACHE_LIMIT_GB", kCacheInstead},
    {"MLX_CACHE_LIMIT_MB", kCacheInstead},
    {"MLX_CACHE_SIZE", kCacheInstead},
    {"MLX_CUDA_CACHE_LIMIT", kCacheInstead},
    {"MLX_METAL_CACHE_LIMIT", kCacheInstead},
    {"MLX_METAL_CACHE_LIMIT_GB", kCacheInstead},
    {"MLX_CUDA_MEMORY_LIMIT", kMemoryInstead},
    {"MLX_GPU_MEMORY_LIMIT", kMemoryInstead},
    {"MLX_MAX_MEMORY", kMemoryInstead},
    {"MLX_MEMORY_LIMIT", kMemoryInstead},
    {"MLX_MEMORY_LIMIT_GB", kMemoryInstead},
    {"MLX_METAL_MEMORY_LIMIT", kMemoryInstead},
    {"MLX_METAL_MEMORY_LIMIT_GB", kMemoryInstead},
    {"MLX_METAL_WIRED_LIMIT", kMemoryInstead},
    {"MLX_WIRED_LIMIT", kMemoryInstead},
};

constexpr bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::vector<std::string_view> names_read() {
  std::vector<std::string_view> names;
  for (const WeirVariable& variable : kWeir)
    names.push_back(variable.name);
  for (const CompatibleName& name : kCompatible)
    names.push_back(name.name);
  return names;
}

std::string all_weir_names() {
  std::string names;
  for (const WeirVariable& variable : kWeir)
    names += (names.empty() ? "" : ", ") + std::string(variable.name);
  return names;
}

std::optional<std::string> folklore(std::string_view name) {
  for (const UnreadName& unread : kUnread) {
    if (unread.name != name) continue;
    return "set, but neither MLX nor weir reads it: it bounds nothing; use " + std::string(unread.instead);
  }
  if (starts_with(name, "MLX_") && name.find("LIMIT") != std::string_view::npos) {
    return "set, but neither MLX nor weir reads it: it bounds nothing; use " + std::string(kCacheInstead) +
           ", or " + std::string(kMemoryInstead);
  }
  return std::nullopt;
}

/// Why nothing reads `name`, or nullopt when it is read or is no business of ours.
std::optional<std::string> unread(std::string_view name, const std::vector<std::string_view>& read) {
  const std::string_view near = nearest_name(name, read);
  if (near == name) return std::nullopt;
  if (auto known = folklore(name)) return known;
  if (!near.empty()) return "set, but nothing reads it; did you mean " + std::string(near) + "?";
  if (!starts_with(name, "WEIR_")) return std::nullopt;
  return "set, but weir reads no variable of this name; it reads " + all_weir_names();
}

/// Names come from outside: what is not plain text is escaped, as in messages.
std::string printable(std::string_view name) {
  const std::string quoted = shown(name);
  return quoted.size() == name.size() + 2 ? std::string(name) : quoted;
}

}  // namespace

Variables own_variables() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
  }
  return variables;
}

std::span<const CompatibleName> compatible_names() noexcept {
  return kCompatible;
}

std::span<const WeirVariable> weir_variables() noexcept {
  return kWeir;
}

std::vector<Warning> unread_variables(const Variables& variables) {
  const std::vector<std::string_view> read = names_read();
  std::vector<Warning> warnings;
  for (const auto& [name, value] : variables) {
    if (auto what = unread(name, read)) warnings.push_back({printable(name), std::move(*what)});
  }
  return warnings;
}

}  // namespace weir::limits
