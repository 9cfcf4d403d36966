#include "ledger/shared_memory.h"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <algorithm>

namespace weir::ledger {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

bool is_page_name(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  constexpr std::string_view kEnding = ".page";
  if (!path.ends_with(kEnding)) return false;
  path.remove_suffix(kEnding.size());
  const std::size_t dash = path.find('-');
  return dash != std::string_view::npos && is_number(path.substr(0, dash)) &&
         is_number(path.substr(dash + 1));
}

bool SharedMemory::lies_in_memory(const std::string& name) {
  if (name == name_) return in_memory_;
  name_ = name;
  if (name.starts_with("/memfd:") || name.starts_with("/SYSV")) return in_memory_ = true;
  if (name.ends_with(kDeleted)) return in_memory_ = name.starts_with("/dev/shm/");
  struct statfs status {};
  return in_memory_ = ::statfs(name.c_str(), &status) == 0 && status.f_type == TMPFS_MAGIC;
}

void SharedMemory::add(const Mapping& mapping, ProcessParts& parts) {
  const std::int64_t pages = mapping.resident - mapping.anonymous;
  if (mapping.inode == 0 || pages <= 0 || !mapping.name.starts_with('/')) return;
  if (!lies_in_memory(mapping.name)) return;
  (is_page_name(mapping.name) ? parts.counters_page : parts.shared_files) += pages;
}

}  // namespace weir::ledger
