// Pairs of allocate and free through MLX's own entry, for bench/agent.py:
//   weir_agent_pairs PATTERN THREADS PAIRS ROUNDS
// PATTERN: a size in bytes (each block freed at once), `mix` (64 B to 1 MiB, 256 blocks held at a time) or
// `token` (636 blocks of a decoded token's sizes, then all freed). Prints nanoseconds per pair, a line a
// round.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mlx/allocator.h"

namespace {

namespace allocator = mlx::core::allocator;

struct Pattern {
  std::vector<std::size_t> sizes;  ///< Of one block after the other, from the start again at the end.
  std::size_t held = 1;            ///< Blocks in use at a time.
  bool together = false;           ///< All held blocks are freed before the next one is asked for.
};

Pattern mixed() {
  Pattern pattern{{}, 256, false};
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(6, 20);  // 64 B to 1 MiB
  for (int i = 0; i < 4096; ++i)
    pattern.sizes.push_back(
        static_cast<std::size_t>(std::exp2(std::min(exponent(random), exponent(random)))));
  return pattern;
}

/// A layer of a small model, token by token: a few sizes again and again.
Pattern token() {
  Pattern pattern{{}, 636, true};
  constexpr std::size_t kLayer[] = {2304, 2304, 768, 768, 2304, 36, 4, 6144, 6144, 6144, 2304};
  for (std::size_t i = 0; i < pattern.held; ++i)
    pattern.sizes.push_back(kLayer[i % std::size(kLayer)]);
  return pattern;
}

Pattern pattern_of(const std::string& name) {
  if (name == "mix") return mixed();
  if (name == "token") return token();
  return {{std::strtoull(name.c_str(), nullptr, 10)}, 1, false};
}

/// The first byte is written, as MLX's kernels would.
allocator::Buffer take(allocator::Allocator& from, std::size_t bytes) {
  allocator::Buffer block = from.malloc(bytes);
  *static_cast<volatile char*>(block.raw_ptr()) = 1;
  return block;
}

void run_pairs(const Pattern& pattern, std::uint64_t pairs) {
  allocator::Allocator& from = allocator::allocator();
  std::vector<allocator::Buffer> held(pattern.held, allocator::Buffer(nullptr));
  for (std::uint64_t i = 0; i < pairs; ++i) {
    const std::size_t slot = i % held.size();
    if (pattern.together && slot == 0) {
      for (allocator::Buffer& block : held)
        if (block.ptr() != nullptr) from.free(std::exchange(block, allocator::Buffer(nullptr)));
    }
    if (held[slot].ptr() != nullptr) from.free(held[slot]);
    held[slot] = take(from, pattern.sizes[i % pattern.sizes.size()]);
  }
  for (const allocator::Buffer& block : held)
    if (block.ptr() != nullptr) from.free(block);
}

double round_ns(const Pattern& pattern, int threads, std::uint64_t pairs) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i)
    others.emplace_back([&] { run_pairs(pattern, pairs); });
  run_pairs(pattern, pairs);
  for (std::thread& other : others)
    other.join();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(pairs);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: weir_agent_pairs PATTERN THREADS PAIRS ROUNDS\n");
    return 64;
  }
  const Pattern pattern = pattern_of(argv[1]);
  const int threads = std::atoi(argv[2]);
  const std::uint64_t pairs = std::strtoull(argv[3], nullptr, 10);
  run_pairs(pattern, std::min<std::uint64_t>(pairs, 10'000));
  for (int round = 0; round < std::atoi(argv[4]); ++round)
    std::printf("%.3f\n", round_ns(pattern, threads, pairs));
  return 0;
}
