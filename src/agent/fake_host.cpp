// A program that was linked without MLX. Its words in order: a path loads that library privately, `run` runs
// the one loaded last, `ask` calls what the global scope offers as get_active_memory, `core` tells whether
// weir's core is mapped.

#include <dlfcn.h>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

namespace {

void ask() {
  void* function = ::dlsym(RTLD_DEFAULT, "_ZN3mlx4core17get_active_memoryEv");
  if (function != nullptr) std::printf("asked %zu\n", reinterpret_cast<std::size_t (*)()>(function)());
}

void tell_core() {
  std::ifstream file("/proc/self/maps");
  const std::string maps{std::istreambuf_iterator<char>(file), {}};
  std::puts(maps.find("/libweir_core.so") == std::string::npos ? "no core" : "core");
}

void run(void* library) {
  void* function = library == nullptr ? nullptr : ::dlsym(library, "fake_run");
  if (function != nullptr) reinterpret_cast<void (*)()>(function)();
}

}  // namespace

int main(int count, char** words) {
  void* last = nullptr;
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "ask") == 0) {
      ask();
    } else if (std::strcmp(words[i], "run") == 0) {
      run(last);
    } else if (std::strcmp(words[i], "core") == 0) {
      tell_core();
    } else if (last = ::dlopen(words[i], RTLD_NOW | RTLD_LOCAL); last == nullptr) {
      std::printf("%s\n", ::dlerror());
      return 1;
    }
  }
  return 0;
}
