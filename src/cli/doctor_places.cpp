#include "cli/doctor_places.h"

#include <sys/statvfs.h>

#include "base/file.h"
#include "ledger/governed_page.h"
#include "ledger/proc_status.h"
#include "store/state_dir.h"
#include "store/store.h"
#include "wire/process_stat.h"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;

Result<void> try_store() {
  const Result<fs::path> folder = store::state_dir(store::process_environment());
  if (!folder) return tl::unexpected(folder.error());
  const auto opened = store::Store::open_existing(store::store_path(*folder));
  if (!opened) return tl::unexpected(opened.error());
  return {};
}

std::int64_t locked_bytes(pid_t pid) {
  const auto text = read_text("/proc/" + std::to_string(pid) + "/status", 1u << 16);
  return text ? ledger::kilobyte_line(*text, "VmLck").value_or(0) : 0;
}

/// Stale as remove_stale_pages counts it: neither the process nor its run lives, in this pid namespace.
bool is_stale(const ledger::PageReading& page) {
  if (page.alive || (page.pid_namespace != 0 && page.pid_namespace != wire::own_pid_namespace()))
    return false;
  return page.run == 0 || page.run > INT32_MAX || !wire::is_alive(static_cast<pid_t>(page.run), 0);
}

GovernedGlance glance_at(const ledger::PageReading& page) {
  GovernedGlance glance;
  glance.pid = page.pid;
  glance.command = page.command;
  glance.troubles = page.troubles;
  glance.over_pool = page.allocator != wire::Allocator::kMlx;
  glance.off = page.state == wire::PageState::kOff;
  glance.locked_bytes = locked_bytes(page.pid);
  return glance;
}

void look_at_pages(const fs::path& folder, Places& places) {
  for (const ledger::PageReading& page : ledger::read_pages(folder, std::nullopt)) {
    if (is_stale(page)) places.stale_pages.push_back(ledger::page_file_name(page.run, page.pid));
    if (!page.alive) continue;
    if (!places.governed.empty() && places.governed.back().pid == page.pid)  // read_pages sorts by pid
      ++places.governed.back().pages;
    else
      places.governed.push_back(glance_at(page));
  }
}

}  // namespace

Places places_here() {
  Places places;
  places.store = try_store();
  places.runtime_folder = ledger::runtime_folder();
  if (!places.runtime_folder) return places;
  struct statvfs space {};
  if (::statvfs(places.runtime_folder->c_str(), &space) == 0)
    places.runtime_free_bytes = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
  look_at_pages(*places.runtime_folder, places);
  return places;
}

}  // namespace weir::cli
