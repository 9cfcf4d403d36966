#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace weir::pool::contract {

/// An allocator under test.
class ISubject {
 public:
  virtual ~ISubject() = default;
  [[nodiscard]] virtual void* allocate(std::uint64_t bytes) = 0;
  virtual void free(void* block) = 0;
  [[nodiscard]] virtual std::uint64_t capacity(const void* block) = 0;
  [[nodiscard]] virtual std::uint64_t live() = 0;
  [[nodiscard]] virtual std::uint64_t retained() = 0;
  virtual void set_cache_limit(std::uint64_t bytes) = 0;
  virtual void trim() = 0;
  [[nodiscard]] virtual std::uint64_t alignment() const = 0;
  virtual void check_laws() {}
};
using OpenSubject = std::unique_ptr<ISubject> (*)();

/// Blocks filled with their own pattern: an overlap, or memory given away too early, shows as a broken one.
class PatternedBlocks {
 public:
  PatternedBlocks(ISubject& subject, unsigned seed) : subject_(subject), random_(seed) {}

  void add(std::uint64_t bytes) {
    auto* const block = static_cast<unsigned char*>(subject_.allocate(bytes));
    ASSERT_NE(block, nullptr);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % subject_.alignment(), 0u);
    const std::uint64_t capacity = subject_.capacity(block);
    ASSERT_GE(capacity, bytes);
    const auto pattern = static_cast<unsigned char>(random_());
    std::memset(block, pattern, capacity);
    blocks_.push_back({block, capacity, pattern});
    bytes_ += capacity;
  }
  void remove(std::size_t index) {
    const Block block = std::exchange(blocks_[index], blocks_.back());
    blocks_.pop_back();
    ASSERT_EQ(subject_.capacity(block.start), block.bytes);
    ASSERT_EQ(first_broken_byte(block), block.bytes);
    subject_.free(block.start);
    bytes_ -= block.bytes;
  }
  void remove_all() {
    while (!blocks_.empty())
      remove(blocks_.size() - 1);
  }
  /// Mostly small, some of megabytes, as models do; about `most` bytes at a time.
  void run(int steps, std::uint64_t most) {
    for (int step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
      const std::uint64_t bytes = random_() % (std::uint64_t{1} << (random_() % 23));
      if (!blocks_.empty() && (bytes_ + bytes > most || random_() % 100 < 45)) {
        remove(random_() % blocks_.size());
      } else {
        add(bytes);
      }
    }
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  struct Block {
    unsigned char* start;
    std::uint64_t bytes;
    unsigned char pattern;
  };
  static std::uint64_t first_broken_byte(const Block& block) {
    // Whole blocks agree with themselves shifted by one byte, and with their pattern at the start.
    if (block.bytes == 0) return 0;
    if (block.start[0] != block.pattern) return 0;
    return std::memcmp(block.start, block.start + 1, block.bytes - 1) == 0 ? block.bytes : 1;
  }

  ISubject& subject_;
  std::mt19937_64 random_;
  std::vector<Block> blocks_;
  std::uint64_t bytes_ = 0;
};

}  // namespace weir::pool::contract
