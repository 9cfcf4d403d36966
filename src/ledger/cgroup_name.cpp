#include <algorithm>
#include <array>
#include <cctype>

#include "base/file.h"
#include "ledger/cgroup.h"
#include "ledger/cgroup_tree.h"
#include "ledger/outside_text.h"

namespace weir::ledger {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWholeId = 64;  // hexadecimal digits of a container's id
constexpr std::size_t kShownId = 12;

struct Recognised {
  std::string manager, instance;
};

bool is_id(std::string_view text) {
  return text.size() == kWholeId && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::optional<std::string_view> between(std::string_view text, std::string_view prefix,
                                        std::string_view suffix) {
  if (text.size() <= prefix.size() + suffix.size() || !text.starts_with(prefix) || !text.ends_with(suffix))
    return std::nullopt;
  return text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
}

/// Folders that a manager names PREFIX-ID.scope; without systemd some leave out the suffix.
struct ScopePrefix {
  std::string_view prefix, manager;
};
constexpr std::array kScopes = {
    ScopePrefix{"docker-", "docker"},
    ScopePrefix{"libpod-", "podman"},
    ScopePrefix{"cri-containerd-", "containerd"},
    ScopePrefix{"nerdctl-", "containerd"},
    ScopePrefix{"crio-", "cri-o"},
};

std::optional<Recognised> recognise_container(std::string_view component, std::string_view parent) {
  for (const ScopePrefix& scope : kScopes) {
    for (const std::string_view suffix : {std::string_view(".scope"), std::string_view()})
      if (const auto id = between(component, scope.prefix, suffix); id && is_id(*id))
        return Recognised{std::string(scope.manager), std::string(id->substr(0, kShownId))};
  }
  if (is_id(component))
    return Recognised{parent == "docker" ? "docker" : "container",
                      std::string(component.substr(0, kShownId))};
  return std::nullopt;
}

std::optional<Recognised> recognise(std::string_view component, std::string_view parent) {
  if (auto container = recognise_container(component, parent)) return container;
  if (const auto name = between(component, "lxc.payload.", "")) return Recognised{"lxc", std::string(*name)};
  if (parent == "lxc" || parent == "lxc.payload") return Recognised{"lxc", std::string(component)};
  if (const auto job = between(component, "job_", "")) return Recognised{"slurm", "job " + std::string(*job)};
  if (between(component, "", ".service") || between(component, "", ".scope"))
    return Recognised{"systemd", std::string(component)};
  return std::nullopt;
}

/// The uid of "pod1234-…" or "kubepods-burstable-pod1234_….slice"; as Kubernetes writes it.
std::optional<std::string> pod_of(std::string_view component) {
  if (const auto inner = between(component, "kubepods-", ".slice")) component = *inner;
  const std::size_t at = component.rfind("pod");
  if (at == std::string_view::npos || (at != 0 && component[at - 1] != '-')) return std::nullopt;
  std::string uid(component.substr(at + 3));
  if (uid.empty() || !std::isxdigit(static_cast<unsigned char>(uid.front()))) return std::nullopt;
  std::replace(uid.begin(), uid.end(), '_', '-');
  return uid;
}

std::vector<std::string_view> components_of(std::string_view path) {
  std::vector<std::string_view> components;
  while (!path.empty())
    if (const std::string_view word = cgroup_tree::take(path, '/'); !word.empty()) components.push_back(word);
  return components;
}

std::optional<Recognised> recognise_pod(const std::vector<std::string_view>& components) {
  std::optional<std::string> pod;
  for (auto at = components.rbegin(); at != components.rend(); ++at) {
    const std::string_view parent = at + 1 == components.rend() ? std::string_view() : *(at + 1);
    if (const auto container = recognise_container(*at, parent))
      return Recognised{"kubernetes", container->instance};
    if (!pod) pod = pod_of(*at);
  }
  return Recognised{"kubernetes", pod ? "pod " + *pod : ""};
}

/// Whether the folder at the mount point is one that the machine's top does not have: v2's top has no limit,
/// v1's top alone has `release_agent`.
bool is_top_hidden(const fs::path& root, const cgroup_tree::Place& place) {
  if (place.outside || place.mount.root != "/") return true;
  const fs::path top = root / fs::path(place.mount.point).relative_path();
  std::error_code ignored;
  if (place.mount.v2) return fs::exists(top / "memory.max", ignored);
  return fs::exists(top / "cgroup.procs", ignored) && !fs::exists(top / "release_agent", ignored);
}

/// What tells this process that it is in a container, where its cgroup path says nothing.
std::string manager_by_marks(const fs::path& root) {
  std::error_code ignored;
  if (fs::exists(root / "var/run/secrets/kubernetes.io", ignored)) return "kubernetes";
  if (fs::exists(root / ".dockerenv", ignored)) return "docker";
  if (fs::exists(root / "run/.containerenv", ignored)) return "podman";
  if (const auto text = read_text(root / "run/systemd/container", 64)) {
    std::string_view rest = *text;
    return std::string(cgroup_tree::take(rest, '\n'));
  }
  return "";
}

}  // namespace

std::string CgroupName::label() const {
  if (!manager.empty()) return fit_for_output(manager + (instance.empty() ? "" : " " + instance));
  return path == "/" ? "" : fit_for_output(path);
}

CgroupName name_cgroup(std::string_view path) {
  CgroupName name;
  name.path = path;
  const std::vector<std::string_view> components = components_of(path);
  std::optional<Recognised> found;
  const bool kubernetes = std::any_of(components.begin(), components.end(),
                                      [](std::string_view c) { return c.starts_with("kubepods"); });
  if (kubernetes) found = recognise_pod(components);
  for (auto at = components.rbegin(); !found && at != components.rend(); ++at)
    found = recognise(*at, at + 1 == components.rend() ? std::string_view() : *(at + 1));
  if (found) {
    name.manager = std::move(found->manager);
    name.instance = std::move(found->instance);
  }
  return name;
}

CgroupName process_cgroup(pid_t pid, const fs::path& root) {
  const auto place = cgroup_tree::find_place(pid, root);
  if (!place) return {};
  CgroupName name = name_cgroup(place->path);
  name.v2 = place->mount.v2;
  name.hidden = is_top_hidden(root, *place);
  if (pid == 0 && name.hidden && name.manager.empty()) name.manager = manager_by_marks(root);
  return name;
}

}  // namespace weir::ledger
