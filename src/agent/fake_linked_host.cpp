// A program linked with MLX in a library by another name, as one that has MLX built in: asks it from the
// program itself first.

#include <cstddef>
#include <cstdio>

namespace mlx::core {
std::size_t get_active_memory();
}
extern "C" void fake_run();

int main() {
  std::printf("asked %zu\n", mlx::core::get_active_memory());
  fake_run();
  return 0;
}
