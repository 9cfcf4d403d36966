// A program that links MLX. `mlx_host threads N`: N threads call MLX for the first time at once, then each
// adds up its own arrays. `mlx_host memory`: asks the memory functions before anything else.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <mlx/mlx.h>

namespace {

namespace mx = mlx::core;

float sum_of_ones(int side) {
  const mx::Stream stream = mx::new_stream(mx::Device::cpu);
  return mx::sum(mx::matmul(mx::ones({side, side}, stream), mx::ones({side, 1}, stream), stream), stream)
      .item<float>();
}

int run_threads(int count) {
  std::atomic<int> ready{0};
  std::vector<float> sums(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < count)
        std::this_thread::yield();
      mx::reset_peak_memory();
      for (int round = 0; round < 20; ++round)
        sums[static_cast<std::size_t>(i)] += sum_of_ones(100 + i);
    });
  }
  for (auto& thread : threads)
    thread.join();
  for (int i = 0; i < count; ++i)
    std::printf("%.0f\n", static_cast<double>(sums[static_cast<std::size_t>(i)]));
  return 0;
}

int run_memory() {
  const std::size_t before = mx::get_active_memory();
  mx::set_cache_limit(std::size_t{1} << 20);
  mx::array ones = mx::ones({1000, 1000});
  ones.eval();
  std::printf("%zu %d\n", before, mx::get_active_memory() >= 4000000 ? 1 : 0);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "";
  if (mode == "threads" && count > 2) return run_threads(std::atoi(arguments[2]));
  if (mode == "memory") return run_memory();
  return 64;
}
