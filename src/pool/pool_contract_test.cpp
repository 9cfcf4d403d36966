#include "pool/allocator_contract.h"
#include "pool/pool_subject.h"

namespace weir::pool::contract {
namespace {

class PoolSubject final : public ISubject {
 public:
  explicit PoolSubject(const Options& options) : pool_(open_pool(options)) {}
  void* allocate(std::uint64_t bytes) override { return pool_->allocate(bytes); }
  void free(void* block) override { pool_->free(block); }
  std::uint64_t capacity(const void* block) override { return pool_->capacity(block); }
  std::uint64_t live() override { return pool_->counters().live; }
  std::uint64_t retained() override { return pool_->counters().retained; }
  void set_cache_limit(std::uint64_t bytes) override { pool_->set_cache_limit(bytes); }
  void trim() override { pool_->trim(); }
  std::uint64_t alignment() const override { return 64; }
  void check_laws() override { pool_->check_laws(); }

 private:
  std::unique_ptr<Pool> pool_;
};

std::unique_ptr<ISubject> open_weir() {
  return std::make_unique<PoolSubject>(Options{});
}
std::unique_ptr<ISubject> open_mlx_policy() {
  Options options;
  options.policy = Policy::kMlx;
  return std::make_unique<PoolSubject>(options);
}
std::unique_ptr<ISubject> open_capped() {
  Options options;
  options.memory_limit = 256 << 20;
  return std::make_unique<PoolSubject>(options);
}
std::unique_ptr<ISubject> open_without_moves_and_huge_pages() {
  Options options;
  options.move = false;
  options.huge_pages = false;
  return std::make_unique<PoolSubject>(options);
}

INSTANTIATE_TEST_SUITE_P(Weir, AllocatorContract, ::testing::Values(&open_weir));
INSTANTIATE_TEST_SUITE_P(MlxPolicy, AllocatorContract, ::testing::Values(&open_mlx_policy));
INSTANTIATE_TEST_SUITE_P(Capped, AllocatorContract, ::testing::Values(&open_capped));
INSTANTIATE_TEST_SUITE_P(Plain, AllocatorContract, ::testing::Values(&open_without_moves_and_huge_pages));

}  // namespace
}  // namespace weir::pool::contract
