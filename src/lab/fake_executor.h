#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "lab/executor.h"
#include "lab/seeded_random.h"

namespace weir::lab {

/// A clock that only moves when told.
class FakeClock final : public IClock {
 public:
  Nanoseconds now() override { return now_; }
  std::int64_t unix_seconds() override { return 1'796'000'000 + now_.count() / 1'000'000'000; }
  void advance(double seconds) { now_ += Nanoseconds(static_cast<std::int64_t>(seconds * 1e9)); }

 private:
  Nanoseconds now_{0};
};

/// How the simulated worker behaves. By default every limit works, costs nothing and saves what it cuts off.
struct FakeBehaviour {
  double noise_sd = 0.01;                             ///< Of the log speed of a request.
  std::map<std::string, double> speed = {};           ///< Factor by arm name; 1 when absent.
  std::int64_t retained_bytes_per_token = 2'000'000;  ///< Grows until the limit.
  std::int64_t live_bytes = 800'000'000;
  std::int64_t reused_bytes = 0;     ///< Of what is retained, so much serves the live peak again.
  bool reports_old_limit = false;    ///< A dead knob that reads back what was there before.
  bool keeps_everything = false;     ///< A dead knob that reads back the asked value.
  bool limit_saves_nothing = false;  ///< Retention obeys, the footprint does not follow.
  std::string other_ids_under = {};  ///< This arm generates other tokens.
  std::function<bool(int start, int request)> dies = {};  ///< Checked before each request.
  std::string dies_under = {};  ///< A start of at least `dies_from` answers no request under this arm.
  int dies_from = 0;
  std::function<double(int start)> slowdown = {};  ///< Factor on the times of a start's requests.
  double start_noise_sd = 0;                       ///< Of the log speed of a whole start.
  bool knows_no_allocator = false;     ///< As a worker of protocol 1: always MLX's own, and says so.
  bool never_switches = false;         ///< Keeps the allocator that it was started on, and says so.
  std::int64_t weir_demand_bytes = 0;  ///< What weir's own rule keeps at most by itself; 0: everything.
  std::int64_t retained_above = 0;     ///< For a moment, so many bytes above the limit.
  std::uint64_t seed = 1;
};

/// Simulated workers on a fake clock: speeds with noise, retention that grows to the limit.
class FakeExecutor final : public IExecutor {
 public:
  FakeExecutor(FakeClock& clock, FakeBehaviour behaviour)
      : clock_(clock), behaviour_(std::move(behaviour)), random_(behaviour_.seed) {}
  Result<std::unique_ptr<IWorker>> start(Allocator allocator) override;

  int starts = 0;
  std::vector<Allocator> started_on;     ///< As asked, by start.
  int requests = 0;                      ///< Over all workers.
  std::function<void()> before_request;  ///< A test's hook.

 private:
  friend class FakeWorker;
  FakeClock& clock_;
  FakeBehaviour behaviour_;
  SeededRandom random_;
};

/// A standard normal number (Box-Muller), the same on every machine up to the last bits of log and cos.
[[nodiscard]] double normal(SeededRandom& random);

}  // namespace weir::lab
