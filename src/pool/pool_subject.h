#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "pool/pool.h"

namespace weir::pool {

/// A pool with these options; small, so that tests stay quick under sanitizers.
[[nodiscard]] std::unique_ptr<Pool> open_pool(Options options = {});
[[nodiscard]] std::unique_ptr<Pool> open_pool(Policy policy);

/// Bytes of [start, start + bytes) that are in memory.
[[nodiscard]] std::uint64_t resident_bytes(const void* start, std::uint64_t bytes);

/// Runs `body` in a forked child; its result is the exit code, or 128 + the signal that ended it. Bounded: a
/// child that hangs is ended after a minute.
[[nodiscard]] int in_child(const std::function<int()>& body);

/// Calls fail_calls(0, …) when a test ends, however it ends.
struct KernelFaults {
  ~KernelFaults();
};

/// "kWeir" and "kMlx" for test names.
[[nodiscard]] std::string policy_name(const ::testing::TestParamInfo<Policy>& info);

}  // namespace weir::pool
