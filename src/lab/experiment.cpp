#include "lab/experiment.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "lab/analysis.h"
#include "lab/journal.h"
#include "lab/noise.h"
#include "lab/probe.h"
#include "lab/result_json.h"
#include "lab/schedule.h"
#include "lab/sizing.h"
#include "lab/turns.h"
#include "store/seal_lock.h"

namespace weir::lab {

namespace {

std::string utc_text(std::int64_t unix_seconds) {
  const std::time_t time = unix_seconds;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Question question_of(const ExperimentRequest& request, const ReadyEvent& ready) {
  Question q;
  q.model = ready.model_name;
  q.model_sha256 = ready.model_sha256;
  q.model_bytes = ready.model_bytes;
  q.library = ready.library;
  q.backend = ready.backend;
  q.blas = ready.blas;
  q.threads = ready.threads;
  q.machine = ready.machine;
  q.cpus = request.cpus;
  q.weir_sha256 = request.weir_sha256;
  q.worker = request.worker;
  q.cell = request.cell.name;
  q.cell_sha256 = request.cell.sha256;
  q.arms = request.arms;
  q.baseline = request.baseline;
  q.rule = request.rule;
  q.budget = request.budget;
  q.minutes = request.minutes;
  return q;
}

/// The loop over one sealed plan. Everything it needs to go on after a crash is in the journal.
class Runner {
 public:
  Runner(const Cell& cell, const Surroundings& around, Journal& journal)
      : cell_(cell), around_(around), journal_(journal), plan_(journal.plan()) {}

  Result<void> run() {
    const auto order = footprint_order(plan_);
    for (int index = 0; index < static_cast<int>(order.size()); ++index) {
      if (auto done = footprint_start(index, order[static_cast<std::size_t>(index)]); !done) return done;
      if (interrupted() || out_of_time()) return {};
    }
    for (int start = 0; start < plan_.sizes.starts && !standing(plan_, journal_.records()).finished;
         ++start) {
      if (auto done = speed_start(start); !done) return done;
      if (interrupted()) return {};
    }
    return {};
  }

  [[nodiscard]] bool interrupted() const { return around_.interrupted && around_.interrupted(); }

 private:
  Result<void> footprint_start(int index, int arm) {
    while (!journal_.has_footprint(index) && journal_.failures(true, index) < kAttempts && !interrupted()) {
      report_footprint(index, arm);
      const auto begin = around_.clock.now();
      auto worker = start_on(around_.executor, arm_of(arm).allocator);
      auto record = worker ? run_footprint(**worker, arm_of(arm), cell_, plan_.sizes.footprint_prompts,
                                           [this] { return interrupted(); })
                           : Result<FootprintRecord>(tl::unexpected(worker.error()));
      if (!record) {
        if (auto noted = failed(true, index, record.error()); !noted) return noted;
        continue;
      }
      record->index = index;
      record->arm = arm;
      record->seconds = seconds(around_.clock.now() - begin);
      if (auto added = journal_.add(*record, around_.clock.unix_seconds()); !added) return added;
    }
    return {};
  }

  Result<void> speed_start(int start) {
    while (missing_block(start) >= 0 && journal_.failures(false, start) < kAttempts && !interrupted() &&
           !out_of_time()) {
      report_speed(start);
      const auto begin = around_.clock.now();
      auto worker = start_on(around_.executor, next_allocator(start));
      const auto load = around_.clock.now() - begin;
      auto done =
          worker ? blocks(**worker, start, seconds(load)) : Result<void>(tl::unexpected(worker.error()));
      if (done) continue;
      if (store_error_) return done;
      if (auto noted = failed(false, start, done.error()); !noted) return noted;
    }
    return {};
  }

  /// The missing blocks of one start, on one worker; between: the next process of a block of starts.
  Result<void> blocks(IWorker& worker, int start, double load_seconds) {
    for (int block = missing_block(start); block >= 0; block = missing_block(start)) {
      if (out_of_time()) return {};
      report_speed(start);
      const auto run = between_ ? run_one_arm : run_block;
      auto record = run(worker, plan_, cell_, start, block, around_.clock, [this] { return interrupted(); });
      if (!record) return tl::unexpected(record.error());
      record->seconds += std::exchange(load_seconds, 0);
      if (auto added = journal_.add(*record, around_.clock.unix_seconds()); !added) {
        store_error_ = true;
        return added;
      }
      if (between_) return {};
    }
    return {};
  }

  /// The arm that the next process of a block of starts runs.
  [[nodiscard]] int next_arm(int start) const {
    return starts_order(plan_, cell_, start)[static_cast<std::size_t>(missing_block(start))].arm;
  }

  [[nodiscard]] Allocator next_allocator(int start) const {
    return arm_of(between_ ? next_arm(start) : baseline_index(plan_.question)).allocator;
  }

  /// An interrupt also breaks a worker's reply: that is no failure of the worker.
  Result<void> failed(bool footprint, int index, const Error& error) {
    if (interrupted()) return {};
    return journal_.add_failure(footprint, index, describe(error), around_.clock.unix_seconds());
  }

  [[nodiscard]] int missing_block(int start) const {
    for (int block = 0; block < records_per_start(plan_); ++block)
      if (!journal_.has_block(start, block)) return block;
    return -1;
  }

  [[nodiscard]] bool out_of_time() const { return lab::out_of_time(plan_, journal_.records()); }

  [[nodiscard]] const Arm& arm_of(int arm) const {
    return plan_.question.arms[static_cast<std::size_t>(arm)];
  }

  [[nodiscard]] double footprint_seconds_left(int index) const {
    double each = static_cast<double>(plan_.probe.footprint_start_milliseconds) / 1e3;
    const auto& done = journal_.records().footprints;
    if (!done.empty()) {
      each = 0;
      for (const auto& record : done)
        each += record.seconds / static_cast<double>(done.size());
    }
    return each *
           (plan_.sizes.footprint_starts_per_arm * static_cast<int>(plan_.question.arms.size()) - index);
  }

  void report_footprint(int index, int arm) const {
    if (!around_.progress) return;
    const int total = plan_.sizes.footprint_starts_per_arm * static_cast<int>(plan_.question.arms.size());
    around_.progress({Phase::kFootprint, index, total,
                      std::min(footprint_seconds_left(index) + expected_speed_seconds(plan_),
                               screen_seconds_left(plan_, journal_.records())),
                      "footprint start " + std::to_string(index + 1) + " of " + std::to_string(total) + " (" +
                          arm_of(arm).name + ")"});
  }

  /// "start 2 of 6, block 3 of 4"; between: "block 2 of 6, start 3 of 4 (weir 64 MiB)".
  [[nodiscard]] std::string speed_words(int start) const {
    const auto nth = [](const char* what, int index, int of) {
      return what + std::to_string(index + 1) + " of " + std::to_string(of);
    };
    const int block = missing_block(start);
    if (between_)
      return nth("block ", start, plan_.sizes.starts) + nth(", start ", block, records_per_start(plan_)) +
             " (" + arm_of(next_arm(start)).name + ")";
    return nth("start ", start, plan_.sizes.starts) + nth(", block ", block, records_per_start(plan_));
  }

  void report_speed(int start) const {
    if (!around_.progress) return;
    const int total = plan_.sizes.starts * records_per_start(plan_);
    const int done = static_cast<int>(journal_.records().blocks.size());
    const double each = seconds_per_start(plan_, journal_.records()) / records_per_start(plan_);
    around_.progress({Phase::kSpeed, done, total,
                      std::min(each * (total - done), screen_seconds_left(plan_, journal_.records())),
                      speed_words(start)});
  }

  const Cell& cell_;
  const Surroundings& around_;
  Journal& journal_;
  const Plan& plan_;
  const bool between_ = design_of(plan_.question) == Design::kBetween;
  bool store_error_ = false;
};

std::filesystem::path state_folder(const store::Store& store) {
  return store.path().parent_path();
}

/// Closes the unfinished plan, so that nothing finds it again.
Result<void> close_plan(store::Store& store, const Journal& journal) {
  auto lock = store::SealLock::acquire(state_folder(store), journal.seal());
  if (!lock) return tl::unexpected(lock.error());
  return store.set_plan_state(journal.seal(), store::PlanState::kVoid);
}

/// Probes with a ready worker, fixes the sizes and seals.
Result<Journal> seal_new(const ExperimentRequest& request, const Surroundings& around,
                         const Question& question, IWorker& worker, Nanoseconds load) {
  const auto interrupted = [&] { return around.interrupted && around.interrupted(); };
  auto probed = run_probe(worker, question, request.cell, load, around.clock, interrupted);
  if (!probed) return tl::unexpected(probed.error());
  DesignSizes sizes;
  sizes.footprint_prompts = probed->footprint_prompts;
  sizes.warm_per_turn = probed->warm_per_turn;
  Plan plan;
  plan.question = question;
  plan.probe = probed->probe;
  plan.sizes =
      choose_sizes(question, probed->probe, sizes, most_blocks_per_start(request.cell, sizes.warm_per_turn));
  plan.seed = request.seed;
  plan.sealed_at = utc_text(around.clock.unix_seconds());
  if (auto checked = check_plan(plan); !checked) return tl::unexpected(checked.error());
  return Journal::begin(around.store, plan, around.clock.unix_seconds());
}

struct Opened {
  Journal journal;
  bool resumed;
};

/// Finds the unfinished plan of this question, or seals a new one. The worker that told us what we run on
/// ends here.
Result<Opened> open_plan(const ExperimentRequest& request, const Surroundings& around) {
  const auto begin = around.clock.now();
  if (around.progress) around.progress({Phase::kProbe, 0, 1, request.minutes * 60, "timing probe"});
  const auto baseline = static_cast<std::size_t>(baseline_index(question_of(request, {})));
  auto worker = start_on(around.executor, request.arms[baseline].allocator);
  if (!worker) return tl::unexpected(worker.error());
  const auto load = around.clock.now() - begin;
  const Question question = question_of(request, (*worker)->ready());
  auto open = Journal::resume(around.store, question);
  if (!open) return tl::unexpected(open.error());
  if (*open && !request.start_afresh) return Opened{std::move(**open), true};
  if (*open)
    if (auto closed = close_plan(around.store, **open); !closed) return tl::unexpected(closed.error());
  auto journal = seal_new(request, around, question, **worker, load);
  if (!journal) return tl::unexpected(journal.error());
  return Opened{std::move(*journal), false};
}

/// A foreign worker's figures stay out of the curve: they say nothing of what weir itself would do.
Result<void> keep(const ExperimentResult& result, const ExperimentRequest& request,
                  const Surroundings& around) {
  const auto now = around.clock.unix_seconds();
  const auto state = result.verdict == Verdict::kVoid ? store::PlanState::kVoid : store::PlanState::kComplete;
  const auto curve = request.worker.empty() ? curve_points(result, now) : std::vector<store::CurvePoint>{};
  return around.store.put_result({result.seal, now, to_json(result)}, state, curve);
}

}  // namespace

Result<Outcome> run_experiment(const ExperimentRequest& request, const Surroundings& around) {
  if (auto asked = check_question(question_of(request, {})); !asked) return tl::unexpected(asked.error());
  auto opened = open_plan(request, around);
  if (!opened) return tl::unexpected(opened.error());
  auto lock = store::SealLock::acquire(state_folder(around.store), opened->journal.seal());
  if (!lock) return tl::unexpected(lock.error());
  if (around.sealed) around.sealed(opened->journal.plan(), opened->resumed);
  Runner runner(request.cell, around, opened->journal);
  if (auto ran = runner.run(); !ran) return tl::unexpected(ran.error());
  Outcome out;
  out.result = analyse(opened->journal.plan(), request.cell, opened->journal.records());
  out.plan = opened->journal.plan();
  out.resumed = opened->resumed;
  out.interrupted = !out.result.complete;
  if (out.result.complete)
    if (auto kept = keep(out.result, request, around); !kept) return tl::unexpected(kept.error());
  return out;
}

std::vector<store::CurvePoint> curve_points(const ExperimentResult& result, std::int64_t measured_at) {
  std::vector<store::CurvePoint> out;
  if (result.quick) return out;
  bool judged = false;
  for (const auto& cell : result.cells) {
    const auto baseline = std::find_if(cell.arms.begin(), cell.arms.end(),
                                       [](const ArmResult& arm) { return arm.is_baseline; });
    const bool pool_baseline = baseline != cell.arms.end() && is_pool(baseline->allocator);
    for (const auto& arm : cell.arms) {
      if (!arm.is_baseline && arm.verdict == Verdict::kVoid) continue;
      // What MLX's own limit is worth shows against MLX's own allocator alone.
      if (pool_baseline && !is_pool(arm.allocator)) continue;
      judged = judged || !arm.is_baseline;
      store::CurvePoint point;
      point.model = result.environment.model_sha256;
      point.machine = result.environment.machine;
      point.library = result.environment.library;
      point.cell = cell.name;
      point.arm = arm.name;
      point.cache_limit_bytes = arm.cache_limit_bytes;
      point.verdict = arm.is_baseline ? "baseline" : verdict_name(arm.verdict);
      point.json = to_json(arm);
      point.measured_at = measured_at;
      point.seal = result.seal;
      out.push_back(std::move(point));
    }
  }
  if (!judged) out.clear();  // A baseline alone prices nothing.
  return out;
}

}  // namespace weir::lab
