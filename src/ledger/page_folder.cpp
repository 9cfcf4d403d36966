#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <functional>
#include <memory>

#include "ledger/governed_page.h"
#include "wire/control.h"
#include "wire/page_file.h"
#include "wire/process_stat.h"

namespace weir::ledger {
namespace {

constexpr std::size_t kMostFiles = 100'000;

struct PageName {
  std::string file;
  std::uint64_t run = 0;
  std::uint32_t pid = 0;
};

/// An open folder; none where it is no directory of its own (a link to one is not followed).
class Folder {
 public:
  explicit Folder(const std::filesystem::path& path) : listing_(nullptr, &::closedir) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    listing_.reset(::fdopendir(fd));
    if (!listing_) ::close(fd);
  }

  /// The files that are named as pages are.
  [[nodiscard]] std::vector<PageName> names() const { return names(&wire::parse_page_name); }
  /// Control sockets without a page beside them: a page was lost, or goes just now.
  [[nodiscard]] std::vector<PageName> lone_sockets() const {
    std::vector<PageName> found = names(&wire::parse_socket_name);
    std::erase_if(found, [this](const PageName& name) {
      char page[wire::kPageNameBytes];
      wire::print_page_name(name.run, name.pid, page);
      return ::faccessat(::dirfd(listing_.get()), page, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    });
    return found;
  }
  /// With the control socket beside it, which a killed process leaves too.
  [[nodiscard]] bool remove(const PageName& name) const {
    char socket[wire::kSocketNameBytes];
    wire::print_socket_name(name.run, name.pid, socket);
    ::unlinkat(::dirfd(listing_.get()), socket, 0);
    return ::unlinkat(::dirfd(listing_.get()), name.file.c_str(), 0) == 0;
  }

 private:
  using ParseName = bool (*)(const char* name, std::uint64_t& run, std::uint32_t& pid) noexcept;

  [[nodiscard]] std::vector<PageName> names(ParseName parse) const {
    std::vector<PageName> found;
    if (!listing_) return found;
    ::rewinddir(listing_.get());
    for (std::size_t looked = 0; looked < kMostFiles; ++looked) {
      const dirent* entry = ::readdir(listing_.get());
      if (entry == nullptr) break;
      PageName name;
      if (!parse(entry->d_name, name.run, name.pid)) continue;
      name.file = entry->d_name;
      found.push_back(std::move(name));
    }
    return found;
  }

  std::unique_ptr<DIR, int (*)(DIR*)> listing_;
};

/// How many pages went.
std::size_t remove_where(const std::filesystem::path& path, const std::function<bool(const PageName&)>& goes,
                         const std::function<bool(const PageName&)>& socket_goes) {
  const Folder folder(path);
  const std::vector<PageName> names = folder.names();
  const auto removed = std::count_if(names.begin(), names.end(),
                                     [&](const PageName& name) { return goes(name) && folder.remove(name); });
  for (const PageName& name : folder.lone_sockets())
    if (socket_goes(name)) (void)folder.remove(name);
  return static_cast<std::size_t>(removed);
}

Result<PageReading> read_page(const std::filesystem::path& folder, const PageName& name) {
  const Result<GovernedPage> page = GovernedPage::open(folder / name.file);
  if (!page) return tl::unexpected(page.error());
  return page->read_last();
}

/// A living process with this number that is not younger than what it started.
bool is_run_alive(std::uint64_t run, std::uint64_t started_before) {
  wire::ProcessStat stat;
  if (run == 0 || run > 0x7fffffff || !wire::read_process_stat(static_cast<pid_t>(run), stat)) return false;
  return !stat.is_dead() && stat.start_ticks <= started_before;
}

/// Whether the numbers in /proc are those that this process and its pages count in.
bool is_proc_ours() {
  wire::ProcessStat stat;
  return wire::read_process_stat(0, stat) && stat.pid == static_cast<std::uint32_t>(::getpid());
}

bool is_stale(const std::filesystem::path& folder, const PageName& name, std::uint64_t pid_namespace) {
  const Result<PageReading> page = read_page(folder, name);
  if (page && page->pid_namespace != 0 && page->pid_namespace != pid_namespace) return false;
  // What cannot be read may be a page that its process is just making.
  const bool alive = page ? page->alive : wire::is_alive(static_cast<pid_t>(name.pid), 0);
  return !alive && !is_run_alive(name.run, page && page->start_ticks != 0 ? page->start_ticks : ~0ull);
}

}  // namespace

std::vector<PageReading> read_pages(const std::filesystem::path& folder, std::optional<std::uint64_t> run) {
  std::vector<PageReading> pages;
  for (const PageName& name : Folder(folder).names()) {
    if (run && name.run != *run) continue;
    Result<PageReading> page = read_page(folder, name);
    if (!page || page->run != name.run || page->pid != static_cast<pid_t>(name.pid)) continue;
    pages.push_back(std::move(*page));
  }
  std::sort(pages.begin(), pages.end(), [](const PageReading& left, const PageReading& right) {
    return std::pair(left.pid, left.run) < std::pair(right.pid, right.run);
  });
  return pages;
}

std::size_t remove_stale_pages(const std::filesystem::path& folder) {
  if (!is_proc_ours()) return 0;
  const std::uint64_t own = wire::own_pid_namespace();
  return remove_where(
      folder, [&](const PageName& name) { return is_stale(folder, name, own); },
      [](const PageName& name) {
        return !wire::is_alive(static_cast<pid_t>(name.pid), 0) && !is_run_alive(name.run, ~0ULL);
      });
}

std::size_t remove_run_pages(const std::filesystem::path& folder, std::uint64_t run) {
  const auto is_of_run = [run](const PageName& name) { return name.run == run; };
  return remove_where(folder, is_of_run, is_of_run);
}

std::string page_file_name(std::uint64_t run, pid_t pid) {
  char name[wire::kPageNameBytes];
  return {name, wire::print_page_name(run, static_cast<std::uint32_t>(pid), name)};
}

}  // namespace weir::ledger
