#include "govern/pressure.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "ledger/cgroup.h"
#include "ledger/cgroup_tree.h"

namespace weir::govern {
namespace {

namespace fs = std::filesystem;

/// Microseconds of waiting within a window. The kernel wants the zero at the end.
constexpr char kTrigger[] = "some 150000 2000000";
constexpr char kLevel[] = "medium";

/// Reading also arms the file: the kernel tells its news to who has read the last.
std::optional<std::int64_t> times_met(int fd) {
  char text[1024];
  const ssize_t length = ::pread(fd, text, sizeof text, 0);
  if (length < 0) return std::nullopt;
  const auto events = ledger::parse_cgroup_events({text, static_cast<std::size_t>(length)});
  return events.high.value_or(0) + events.max.value_or(0);
}

}  // namespace

void PressureSources::add(Kind kind, const fs::path& path, OwnedFd fd, std::int64_t met) {
  GuestSocket kept(fd.release());
  if (kept) sources_.push_back({kind, path.string(), std::move(kept), met});
}

void PressureSources::add_stall(const fs::path& path) {
  OwnedFd fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!fd || ::write(fd.get(), kTrigger, sizeof kTrigger) != static_cast<ssize_t>(sizeof kTrigger)) return;
  add(Kind::kStall, path, std::move(fd));
}

void PressureSources::add_events(const fs::path& path) {
  OwnedFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return;
  const auto met = times_met(fd.get());
  if (met) add(Kind::kEvents, path, std::move(fd), *met);
}

void PressureSources::add_level(const fs::path& cgroup) {
  const OwnedFd level(::open((cgroup / "memory.pressure_level").c_str(), O_RDONLY | O_CLOEXEC));
  const OwnedFd control(::open((cgroup / "cgroup.event_control").c_str(), O_WRONLY | O_CLOEXEC));
  OwnedFd bell(level && control ? ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1);
  if (!bell) return;
  char text[64];
  const int length = std::snprintf(text, sizeof text, "%d %d %s", bell.get(), level.get(), kLevel);
  if (::write(control.get(), text, static_cast<std::size_t>(length)) != length) return;
  add(Kind::kLevel, cgroup / "memory.pressure_level", std::move(bell));
}

PressureSources PressureSources::open(const fs::path& root) {
  PressureSources sources;
  sources.add_stall(root / "proc/pressure/memory");
  if (const auto place = ledger::cgroup_tree::find_place(0, root)) {
    const fs::path cgroup = root / fs::path(place->mount.point).relative_path() / place->below;
    if (place->mount.v2) {
      sources.add_stall(cgroup / "memory.pressure");
      sources.add_events(cgroup / "memory.events");
    } else {
      sources.add_level(cgroup);
    }
  }
  return sources;
}

std::vector<std::string> PressureSources::names() const {
  std::vector<std::string> names;
  for (const Source& source : sources_)
    names.push_back(source.name);
  return names;
}

void PressureSources::add_descriptors(std::vector<pollfd>& into) const {
  for (const Source& source : sources_)
    into.push_back({source.fd.get(), static_cast<short>(source.kind == Kind::kLevel ? POLLIN : POLLPRI), 0});
}

bool PressureSources::has_spoken(Source& source) {
  if (source.kind == Kind::kStall) return true;
  if (source.kind == Kind::kLevel) {
    std::uint64_t times = 0;
    return ::read(source.fd.get(), &times, sizeof times) == static_cast<ssize_t>(sizeof times) && times > 0;
  }
  const auto met = times_met(source.fd.get());
  if (!met) return false;
  return *met > std::exchange(source.met, *met);
}

bool PressureSources::take(const std::vector<pollfd>& ready) {
  bool spoken = false;
  for (const pollfd& one : ready) {
    if (one.revents == 0) continue;
    const auto source = std::find_if(sources_.begin(), sources_.end(),
                                     [&](const Source& known) { return known.fd.get() == one.fd; });
    if (source == sources_.end()) continue;
    const bool has_news = (one.revents & (POLLPRI | POLLIN)) != 0;
    if (has_news && source->fd.is_ours()) {
      spoken = has_spoken(*source) || spoken;
    } else {
      sources_.erase(source);  // not ours any more, or its cgroup is gone: it would be ready for ever
    }
  }
  return spoken;
}

}  // namespace weir::govern
