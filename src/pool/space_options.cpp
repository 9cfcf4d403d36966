#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>

#include "base/owned_fd.h"
#include "pool/address_space.h"
#include "pool/kernel_calls.h"

namespace weir::pool {
namespace {

constexpr std::uint64_t kTimesMemory = 4;
constexpr long kUsualOvercommit = 0;
constexpr long kStrictOvercommit = 2;
constexpr long kUsualMapCount = 65'530;

long kernel_setting(const char* path, long fallback) noexcept {
  const OwnedFd file(::open(path, O_RDONLY | O_CLOEXEC));
  char text[24] = {};
  if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return fallback;
  return std::strtol(text, nullptr, 10);
}

std::uint64_t machine_bytes() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  return pages > 0 ? static_cast<std::uint64_t>(pages) * place::kPageBytes : 16ULL << 30;
}

std::uint64_t limit_of(__rlimit_resource resource) noexcept {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return place::kNoBound;
  return limit.rlim_cur;
}

/// After mlockall(MCL_FUTURE) every new writable mapping is filled at once.
bool new_memory_is_locked() noexcept {
  void* const page = kernel::map(place::kPageBytes, PROT_READ | PROT_WRITE);
  if (page == nullptr) return false;
  unsigned char resident = 0;
  const bool locked = ::mincore(page, place::kPageBytes, &resident) == 0 && (resident & 1) != 0;
  static_cast<void>(kernel::unmap(page, place::kPageBytes));
  return locked;
}

}  // namespace

SpaceOptions space_options_here(std::uint64_t reserve_bytes, bool huge_pages, bool move) noexcept {
  SpaceOptions options;
  options.huge_pages = huge_pages;
  options.move = move;
  const long mappings = kernel_setting("/proc/sys/vm/max_map_count", kUsualMapCount);
  options.most_mappings = static_cast<std::uint32_t>(std::clamp(mappings / 2, 0L, 1L << 30));
  const std::uint64_t data_limit = limit_of(RLIMIT_DATA);
  const bool strict =
      kernel_setting("/proc/sys/vm/overcommit_memory", kUsualOvercommit) == kStrictOvercommit ||
      data_limit != place::kNoBound || new_memory_is_locked();
  options.charging = strict ? Charging::kByGranule : Charging::kOnTouch;
  if (reserve_bytes != 0) {
    options.reserve_bytes = reserve_bytes;
  } else if (limit_of(RLIMIT_AS) == place::kNoBound) {
    // Books of what is reserved are charged at once where the kernel is strict: a 512th of it.
    options.reserve_bytes = strict ? std::min(machine_bytes(), data_limit) : kTimesMemory * machine_bytes();
  }
  return options;
}

}  // namespace weir::pool
