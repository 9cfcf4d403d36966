#pragma once

#include <unistd.h>
#include <filesystem>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lab/experiment.h"
#include "lab/fake_executor.h"

namespace weir::lab {

inline constexpr std::int64_t kMiB = 1 << 20;

/// A folder of its own for each test, removed with its store.
class Experiment : public testing::Test {
 protected:
  Experiment() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-lab-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    store_.emplace(value_or_throw(store::Store::open(folder_ / "weir.db")));
    request_.cell.name = "fake";
    request_.cell.text = "text";
    request_.cell.sha256 = std::string(64, 'c');
    request_.cell.shortest_prompt_tokens = 100;
    request_.cell.longest_prompt_tokens = 300;
    request_.cell.measured_per_turn = 1;
    for (int i = 0; i < 6; ++i)
      request_.cell.footprint.push_back({"fake/f" + std::to_string(i), 100 + 37 * i, 8});
    request_.arms = {make_arm(ArmLimit::unlimited()), make_arm(ArmLimit::of(64 * kMiB)),
                     make_arm(ArmLimit::of(0))};
    request_.baseline = "unlimited";
    request_.weir_sha256 = std::string(64, 'b');
    request_.seed = 11;
  }
  ~Experiment() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  Outcome run(FakeBehaviour behaviour = {}) {
    FakeExecutor executor(clock_, std::move(behaviour));
    executor.before_request = before_request_;
    auto out = run_experiment(request_, {executor, *store_, clock_, {}, {}, interrupted_});
    requests_ = executor.requests;
    started_on_ = executor.started_on;
    return value_or_throw(std::move(out));
  }

  static const ArmResult& arm(const Outcome& outcome, const std::string& name) {
    for (const auto& arm : outcome.result.cells[0].arms)
      if (arm.name == name) return arm;
    throw std::out_of_range(name);
  }

  std::filesystem::path folder_;
  std::optional<store::Store> store_;
  FakeClock clock_;
  ExperimentRequest request_;
  std::function<void()> before_request_;
  std::function<bool()> interrupted_;
  int requests_ = 0;
  std::vector<Allocator> started_on_;
};

}  // namespace weir::lab
