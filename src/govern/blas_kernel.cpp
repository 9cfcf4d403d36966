#include "govern/blas_kernel.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "base/file.h"

namespace weir::govern {

namespace {

constexpr const char* kVariable = "OPENBLAS_CORETYPE";
constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
constexpr const char* kThreadsBefore = "WEIR_OPENBLAS_NUM_THREADS";  ///< Between two starts of one process.

template <class Function>
Function* exported(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

/// Kernels written for processors without AVX2.
bool is_old(std::string_view core) {
  static constexpr std::string_view kOld[] = {"Prescott", "Core2",       "Penryn",  "Dunnington", "Nehalem",
                                              "Atom",     "Sandybridge", "Unknown", "Katmai",     "Banias"};
  return std::find(std::begin(kOld), std::end(kOld), core) != std::end(kOld);
}

bool is_limited(__rlimit_resource resource) {
  rlimit space{};
  return ::getrlimit(resource, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
}

/// Same arguments, same PID; returns only where that failed.
void execute_anew() {
  const auto words = read_text("/proc/self/cmdline");
  if (!words || words->empty()) return;
  std::vector<char*> argv;
  std::string text = *words;
  for (std::size_t at = 0; at < text.size(); at += std::string_view(text.c_str() + at).size() + 1)
    argv.push_back(text.data() + at);
  argv.push_back(nullptr);
  ::execv("/proc/self/exe", argv.data());
}

}  // namespace

CpuFeatures cpu_features() noexcept {
  CpuFeatures features;
#if defined(__x86_64__)
  features.avx2_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  features.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512cd");
#endif
  return features;
}

std::string better_kernel(std::string_view core, const CpuFeatures& features) {
  if (!is_old(core)) return "";
  if (features.avx512) return "SKYLAKEX";
  return features.avx2_fma ? "HASWELL" : "";
}

std::string blas_kernel() {
  auto* const name = exported<char*()>("openblas_get_corename");
  return name == nullptr ? "" : name();
}

int blas_threads() {
  auto* const threads = exported<int()>("openblas_get_num_threads");
  return threads == nullptr ? 1 : threads();
}

void choose_blas_kernel() {
  if (std::getenv(kVariable) != nullptr) return;
  const std::string kernel = better_kernel(blas_kernel(), cpu_features());
  if (kernel.empty()) return;
  ::setenv(kVariable, kernel.c_str(), 1);
  execute_anew();
  ::unsetenv(kVariable);  // could not: run on with the slow kernel, which the start-up line names
}

void forgo_blas_threads() {
  if (const char* const before = std::getenv(kThreadsBefore); before != nullptr) {
    if (*before == '\0') {
      ::unsetenv(kThreads);
    } else {
      ::setenv(kThreads, before, 1);
    }
    ::unsetenv(kThreadsBefore);
    return;
  }
  if ((!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA)) || blas_threads() < 2) return;
  const char* const threads = std::getenv(kThreads);
  ::setenv(kThreadsBefore, threads == nullptr ? "" : threads, 1);
  ::setenv(kThreads, "1", 1);
  execute_anew();
  ::unsetenv(kThreadsBefore);
}

}  // namespace weir::govern
