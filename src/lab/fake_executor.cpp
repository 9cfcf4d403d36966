#include "lab/fake_executor.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weir::lab {

double normal(SeededRandom& random) {
  const auto uniform = [&] { return (static_cast<double>(random.next() >> 11) + 0.5) / 9007199254740992.0; };
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(6.283185307179586 * uniform());
}

class FakeWorker final : public IWorker {
 public:
  FakeWorker(FakeExecutor& owner, int start, Allocator allocator) : owner_(owner), start_(start) {
    if (!owner.behaviour_.knows_no_allocator) allocator_ = allocator;
    if (owner.behaviour_.start_noise_sd > 0)
      own_speed_ = std::exp(owner.behaviour_.start_noise_sd * normal(owner.random_));
    ready_.allocator = allocator_;
    ready_.protocol = kWorkerProtocol;
    ready_.pid = 1000 + start;
    ready_.model_name = "fake";
    ready_.model_sha256 = std::string(64, 'a');
    ready_.model_bytes = 1'000'000;
    ready_.backend = "fake";
    ready_.library = "fake 1";
    ready_.blas = "none";
    ready_.machine = "simulated";
    ready_.threads = 2;
  }

  const ReadyEvent& ready() const override { return ready_; }

  Result<WorkerEvent> ask(const WorkerRequest& request) override {
    if (owner_.before_request) owner_.before_request();
    ++owner_.requests;
    if (owner_.behaviour_.dies && owner_.behaviour_.dies(start_, ++asked_))
      return fail(ErrorKind::kEnvironment, "worker", "ended before it answered, with code 137");
    if (!owner_.behaviour_.dies_under.empty() && start_ >= owner_.behaviour_.dies_from &&
        arm().name == owner_.behaviour_.dies_under && std::holds_alternative<GenerateRequest>(request))
      return fail(ErrorKind::kEnvironment, "worker", "ended before it answered, with code 137");
    return std::visit([this](const auto& r) -> Result<WorkerEvent> { return answer(r); }, request);
  }

 private:
  WorkerEvent answer(const SwitchRequest& request) {
    SwitchedEvent out;
    out.previous_bytes = effective_bytes(arm());
    if (!owner_.behaviour_.knows_no_allocator && !owner_.behaviour_.never_switches)
      allocator_ = request.allocator;
    out.allocator = allocator_;
    if (!owner_.behaviour_.reports_old_limit) limit_ = request.cache_limit;
    out.in_force_bytes = effective_bytes(arm());
    out.trimmed_bytes = std::exchange(retained_, 0);
    out.seconds = 0.02;
    owner_.clock_.advance(0.02);
    return out;
  }

  WorkerEvent answer(const GenerateRequest& request) {
    const auto& b = owner_.behaviour_;
    const auto it = b.speed.find(arm().name);
    const double factor = it == b.speed.end() ? 1 : it->second;
    GeneratedEvent out;
    out.name = request.name;
    out.prompt_tokens = request.prompt_tokens;
    out.generated_tokens = request.generate_tokens;
    out.finish_reason = "length";
    out.ids_hash = arm().name == b.other_ids_under ? "ffff" : "0123";
    out.prefill_seconds = seconds_for(static_cast<double>(request.prompt_tokens), 200 * factor);
    out.decode_seconds = seconds_for(static_cast<double>(request.generate_tokens - 1) + 1e-3, 15 * factor);
    owner_.clock_.advance(out.prefill_seconds + out.decode_seconds);
    retained_ += request.prompt_tokens * b.retained_bytes_per_token;
    const auto limit = b.keeps_everything ? std::nullopt : effective_bytes(arm());
    if (limit) retained_ = std::min(retained_, *limit);
    if (allocator_ == Allocator::kWeir && b.weir_demand_bytes > 0)
      retained_ = std::min(retained_, b.weir_demand_bytes);
    retained_peak_ = std::max(retained_peak_, retained_ + (limit ? b.retained_above : 0));
    footprint_extra_ = std::max(
        footprint_extra_,
        b.limit_saves_nothing ? 1'000'000'000 : std::max<std::int64_t>(0, retained_peak_ - b.reused_bytes));
    out.retained_bytes = retained_;
    out.retained_peak_bytes = retained_peak_;
    out.live_bytes = out.live_peak_bytes = b.live_bytes;
    out.minor_faults = 1000 + (limit ? 500 - static_cast<std::int64_t>(retained_ / 10'000'000) : 0);
    faults_ += out.minor_faults;
    return out;
  }

  WorkerEvent answer(const MeasureRequest& request) {
    MeasuredEvent out;
    out.footprint_peak_high_bytes =
        owner_.behaviour_.live_bytes + footprint_extra_ + 2'000'000 + start_ % 3 * 100'000;
    out.footprint_peak_low_bytes = out.footprint_peak_high_bytes - 1'000'000;
    out.footprint_peak_source = "simulated";
    out.live_peak_bytes = owner_.behaviour_.live_bytes;
    out.retained_peak_bytes = retained_peak_;
    out.minor_faults = faults_;
    if (request.reset) retained_peak_ = retained_, footprint_extra_ = 0, faults_ = 0;
    return out;
  }

  WorkerEvent answer(const QuitRequest&) { return ErrorEvent{ErrorKind::kUsage, "quit"}; }

  double seconds_for(double tokens, double rate) {
    const double slower = owner_.behaviour_.slowdown ? owner_.behaviour_.slowdown(start_) : 1;
    return slower / own_speed_ * tokens / rate *
           std::exp(owner_.behaviour_.noise_sd * normal(owner_.random_));
  }

  [[nodiscard]] Arm arm() const { return make_arm(allocator_, limit_); }

  FakeExecutor& owner_;
  int start_;
  Allocator allocator_ = Allocator::kMlx;
  double own_speed_ = 1;
  int asked_ = 0;
  ReadyEvent ready_;
  ArmLimit limit_ = ArmLimit::unset();
  std::int64_t retained_ = 0, retained_peak_ = 0, footprint_extra_ = 0, faults_ = 0;
};

Result<std::unique_ptr<IWorker>> FakeExecutor::start(Allocator allocator) {
  clock_.advance(1.5);
  started_on.push_back(allocator);
  return std::unique_ptr<IWorker>(std::make_unique<FakeWorker>(*this, starts++, allocator));
}

}  // namespace weir::lab
