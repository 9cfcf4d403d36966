#include "pool/pool_subject.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <vector>

#include "place/units.h"
#include "pool/kernel_calls.h"

namespace weir::pool {

std::unique_ptr<Pool> open_pool(Options options) {
  return value_or_throw(Pool::open(options));
}

std::unique_ptr<Pool> open_pool(Policy policy) {
  Options options;
  options.policy = policy;
  return open_pool(options);
}

std::uint64_t resident_bytes(const void* start, std::uint64_t bytes) {
  std::vector<unsigned char> pages(bytes / place::kPageBytes);
  if (::mincore(const_cast<void*>(start), bytes, pages.data()) != 0) return ~std::uint64_t{0};
  const auto resident =
      std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; });
  return static_cast<std::uint64_t>(resident) * place::kPageBytes;
}

int in_child(const std::function<int()>& body) {
  constexpr unsigned kMostSeconds = 60;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kMostSeconds);
    ::_exit(body());
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

KernelFaults::~KernelFaults() {
  kernel::fail_calls(0, 0, 0);
}

std::string policy_name(const ::testing::TestParamInfo<Policy>& info) {
  return info.param == Policy::kMlx ? "kMlx" : "kWeir";
}

}  // namespace weir::pool
