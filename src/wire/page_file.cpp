#include "wire/page_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <new>

#include "wire/kept_errno.h"
#include "wire/process_stat.h"
#include "wire/wall_clock.h"

namespace weir::wire {
namespace {

constexpr char kSuffix[] = ".page";

/// The page of a process that can map nothing.
alignas(CountersPage) char last_resort[kPageBytes];

/// Closes on leaving.
struct Descriptor {
  int fd;
  explicit Descriptor(int opened) noexcept : fd(opened) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// Null where the folder is as it must be.
const char* trouble_of_folder(int folder) noexcept {
  struct stat status {};
  if (::fstat(folder, &status) != 0) return "cannot look at the folder for pages";
  if (status.st_uid != ::geteuid()) return "the folder for pages belongs to another user";
  if ((status.st_mode & 0777) != 0700) return "the folder for pages has another mode than 0700";
  return nullptr;
}

int open_folder(const char* folder) noexcept {
  if (folder == nullptr || *folder == '\0') return -1;
  return ::open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/// Whether the file is a page from another pid namespace, where this number may be a living process's.
bool is_foreign(int folder, const char* name) noexcept {
  const Descriptor file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  std::uint64_t magic = 0, space = 0;
  if (::pread(file.fd, &magic, sizeof magic, offsetof(CountersPage, magic)) != sizeof magic) return false;
  if (::pread(file.fd, &space, sizeof space, offsetof(CountersPage, pid_namespace)) != sizeof space)
    return false;
  return magic == kPageMagic && space != 0 && space != own_pid_namespace();
}

/// A file of this name is left over: in its pid namespace only this process has its number now.
int make_file(int folder, const char* name) noexcept {
  constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const int fd = ::openat(folder, name, kFlags, 0600);
  if (fd >= 0 || errno != EEXIST) return fd;
  if (is_foreign(folder, name) || ::unlinkat(folder, name, 0) != 0) return -1;
  return ::openat(folder, name, kFlags, 0600);
}

/// Blocks behind the whole page, because a write to a page without one kills the host (SIGBUS).
const char* back_file(int file) noexcept {
  // A file above the limit of `ulimit -f` would kill the host too (SIGXFSZ).
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < kPageBytes)
    return "the limit on file sizes (ulimit -f) is below 8,192 bytes";
  int error = EINTR;
  while (error == EINTR)
    error = ::posix_fallocate(file, 0, kPageBytes);
  if (error != 0) return "no room for a page in the folder for pages";
  if (::fchmod(file, 0600) != 0) return "cannot set the mode of the page's file";  // whatever the umask took
  return nullptr;
}

void* map(int flags, int file) noexcept {
  void* memory = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, flags, file, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// The mapped file, or null and the reason.
void* map_file(const char* folder, const char* name, const char*& trouble) noexcept {
  const Descriptor directory(open_folder(folder));
  if (directory.fd < 0) {
    trouble = "no folder for pages that can be opened";
    return nullptr;
  }
  trouble = trouble_of_folder(directory.fd);
  if (trouble != nullptr) return nullptr;
  const Descriptor file(make_file(directory.fd, name));
  if (file.fd < 0) {
    trouble = "cannot make a file in the folder for pages";
    return nullptr;
  }
  trouble = back_file(file.fd);
  void* memory = trouble == nullptr ? map(MAP_SHARED, file.fd) : nullptr;
  if (memory != nullptr) return memory;
  if (trouble == nullptr) trouble = "cannot map a page";
  ::unlinkat(directory.fd, name, 0);
  return nullptr;
}

void* map_private() noexcept {
  void* memory = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
  return memory != nullptr ? memory : last_resort;
}

template <std::size_t N>
void copy_text(char (&to)[N], const char* from, std::size_t length) noexcept {
  if (length > N - 1) length = N - 1;
  std::memcpy(to, from, length);
  std::memset(to + length, 0, N - length);
}

void set_command(CountersPage& page) noexcept {
  constexpr char kDeleted[] = " (deleted)";
  constexpr std::size_t kDeletedLength = sizeof kDeleted - 1;
  char path[4096];
  const ssize_t got = ::readlink("/proc/self/exe", path, sizeof path);
  std::size_t length = got > 0 ? static_cast<std::size_t>(got) : 0;
  if (length > kDeletedLength && std::memcmp(path + length - kDeletedLength, kDeleted, kDeletedLength) == 0)
    length -= kDeletedLength;
  std::size_t base = length;
  while (base > 0 && path[base - 1] != '/')
    --base;
  copy_text(page.command, path + base, length - base);
}

void fill(CountersPage& page, const PageFacts& facts) noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  ProcessStat stat;
  page.version.store(kPageVersion, kRelaxed);
  page.state.store(static_cast<std::uint32_t>(PageState::kStarting), kRelaxed);
  page.pid.store(static_cast<std::uint32_t>(::getpid()), kRelaxed);
  page.allocator.store(static_cast<std::uint32_t>(facts.allocator), kRelaxed);
  page.start_ticks.store(read_process_stat(0, stat) ? stat.start_ticks : 0, kRelaxed);
  page.run.store(facts.run, kRelaxed);
  page.started_ns.store(wall_clock_ns(), kRelaxed);
  copy_text(page.library, facts.library, std::strlen(facts.library));
  set_command(page);
  page.cache_limit.store(kNoLimit, kRelaxed);
  page.memory_limit.store(kNoLimit, kRelaxed);
  page.forks.store(facts.forked ? 1 : 0, kRelaxed);
  page.backend.store(static_cast<std::uint32_t>(facts.backend), kRelaxed);
  page.pid_namespace.store(own_pid_namespace(), kRelaxed);
  page.magic.store(kPageMagic, std::memory_order_release);
}

}  // namespace

std::size_t print_page_name(std::uint64_t run, std::uint32_t pid, char (&name)[kPageNameBytes]) noexcept {
  return print_process_file_name(run, pid, kSuffix, name);
}

bool parse_page_name(const char* name, std::uint64_t& run, std::uint32_t& pid) noexcept {
  return parse_process_file_name(name, kSuffix, run, pid);
}

CountersPage* make_page(const char* folder, const PageFacts& facts, const char** trouble) noexcept {
  const KeptErrno kept;
  char name[kPageNameBytes];
  print_page_name(facts.run, static_cast<std::uint32_t>(::getpid()), name);
  const char* reason = nullptr;
  void* memory = map_file(folder, name, reason);
  if (memory == nullptr) memory = map_private();
  if (trouble != nullptr) *trouble = reason;
  auto* page = ::new (memory) CountersPage{};
  fill(*page, facts);
  return page;
}

void unmake_page(CountersPage* page, const char* folder) noexcept {
  const KeptErrno kept;
  const auto own = static_cast<std::uint32_t>(::getpid());
  if (page == nullptr || page->pid.load(std::memory_order_relaxed) != own) return;
  page->state.store(static_cast<std::uint32_t>(PageState::kExited), std::memory_order_release);
  const Descriptor directory(open_folder(folder));
  if (directory.fd < 0 || trouble_of_folder(directory.fd) != nullptr) return;
  char name[kPageNameBytes];
  print_page_name(page->run.load(std::memory_order_relaxed), own, name);
  if (!is_foreign(directory.fd, name)) ::unlinkat(directory.fd, name, 0);
}

void leave_page(CountersPage* page) noexcept {
  const KeptErrno kept;
  if (page != nullptr && static_cast<void*>(page) != last_resort) ::munmap(page, kPageBytes);
}

}  // namespace weir::wire
