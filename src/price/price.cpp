#include "price/price.h"

#include "base/child_process.h"
#include "base/file.h"
#include "base/sha256.h"
#include "lab/process_executor.h"
#include "price/output_place.h"
#include "price/stored_records.h"
#include "report/markdown.h"
#include "store/seal_lock.h"

namespace weir::price {

namespace {

constexpr double kQuickMinutes = 1.8;
constexpr std::size_t kStateBytes = 4 << 20;
constexpr const char* kReportMend = "name another place for the report with -o FILE";
constexpr const char* kStateMend = "name another state folder with WEIR_STATE_DIR";

Result<std::string> own_sha256() {
  const auto file = ReadOnlyFile::open(own_executable());
  if (!file) return tl::unexpected(file.error());
  return sha256_hex(*file);
}

/// Where the report will go: a whole path, or the folder for a name that only the seal decides.
struct ReportPlace {
  std::filesystem::path folder;
  std::optional<std::filesystem::path> file;

  [[nodiscard]] std::filesystem::path path(const std::string& seal) const {
    return file ? *file : folder / ("weir-price-" + seal.substr(0, 8) + ".md");
  }
};

Result<ReportPlace> report_place(const PriceRequest& request, const Surroundings& surroundings) {
  ReportPlace place;
  place.folder = surroundings.folder;
  if (request.report) {
    auto file = check_output_file(*request.report, kReportMend);
    if (!file) return tl::unexpected(std::move(file.error()));
    place.file = std::move(*file);
    return place;
  }
  // Any name of the right shape: the seal is not known yet.
  const auto file = check_output_file(place.path("00000000"), kReportMend);
  if (!file) return tl::unexpected(file.error());
  return place;
}

Result<store::Store> open_store(const store::Environment& environment) {
  const auto folder = store::state_dir(environment);
  if (!folder) return tl::unexpected(folder.error());
  auto store = store::Store::open(store::store_path(*folder));
  if (!store) return store;
  if (const auto room = check_room(*folder, kStateBytes, kStateMend); !room)
    return tl::unexpected(room.error());
  return store;
}

lab::WorkerSpec worker_spec(const PriceRequest& request) {
  lab::WorkerSpec spec;
  spec.argv = {request.worker.value_or(own_executable()), "worker", request.model};
  if (!request.worker) spec.argv.emplace_back("--quiet");  // Its lines would stand between those of progress.
  spec.cpus = lab::allowed_cpus();
  return spec;
}

Result<lab::ExperimentRequest> experiment_request(const PriceRequest& request,
                                                  const Surroundings& surroundings,
                                                  const lab::WorkerSpec& spec) {
  lab::ExperimentRequest experiment;
  auto chosen = chosen_arms(request.arms, surroundings.denominators);
  if (!chosen) return tl::unexpected(std::move(chosen.error()));
  auto cell = lab::load_cell(request.workload, surroundings.workloads);
  if (!cell) return tl::unexpected(std::move(cell.error()));
  experiment.cell = std::move(*cell);
  experiment.arms = std::move(chosen->arms);
  experiment.baseline = std::move(chosen->baseline);
  experiment.budget = request.budget;
  experiment.minutes = request.budget == lab::Budget::kQuick ? kQuickMinutes : request.minutes;
  experiment.start_afresh = request.start_afresh;
  experiment.cpus = spec.cpus;
  if (request.worker) experiment.worker = spec.argv;
  experiment.seed = request.seed;
  return experiment;
}

Result<void> write_report(const lab::Outcome& outcome, const store::Store& store, const PriceRequest& request,
                          const Surroundings& surroundings, const std::filesystem::path& path) {
  const auto records = stored_records(store, outcome.result.seal);
  if (!records) return tl::unexpected(records.error());
  report::RunRecord record = report::run_record_of(outcome.plan, *records);
  record.command = request.command;
  record.variables = surroundings.variables;
  return write_atomically(path, report::markdown(outcome.result, record), 0600);
}

}  // namespace

/// Held while anything is measured: two prices at once would measure each other.
Result<store::SealLock> measure_alone(const store::Store& store) {
  constexpr const char* kMachine = "0";  // no plan has this seal
  auto lock = store::SealLock::acquire(store.path().parent_path(), kMachine);
  if (lock || lock.error().message.find("is being run by") == std::string::npos) return lock;
  const std::string& text = lock.error().message;
  const std::size_t holder = text.find("by ") + 3;
  return fail(ErrorKind::kEnvironment, "weir price",
              "another weir price is running (" + text.substr(holder, text.find(';') - holder) +
                  "); two at once would measure each other: wait for it");
}

Result<Priced> price(const PriceRequest& request, const Surroundings& surroundings) {
  const lab::WorkerSpec spec = worker_spec(request);
  auto experiment = experiment_request(request, surroundings, spec);
  if (!experiment) return tl::unexpected(std::move(experiment.error()));
  const auto place = report_place(request, surroundings);
  if (!place) return tl::unexpected(place.error());
  auto store = open_store(surroundings.environment);
  if (!store) return tl::unexpected(store.error());
  const auto alone = measure_alone(*store);
  if (!alone) return tl::unexpected(alone.error());
  auto sha256 = own_sha256();
  if (!sha256) return tl::unexpected(std::move(sha256.error()));
  experiment->weir_sha256 = std::move(*sha256);

  lab::ProcessExecutor processes(spec);
  lab::IExecutor& executor = surroundings.executor != nullptr ? *surroundings.executor : processes;
  auto outcome = lab::run_experiment(*experiment, {executor, *store, surroundings.clock, surroundings.sealed,
                                                   surroundings.progress, surroundings.interrupted});
  if (!outcome) return tl::unexpected(std::move(outcome.error()));

  Priced priced;
  priced.interrupted = outcome->interrupted;
  if (!outcome->interrupted) {
    priced.report = place->path(outcome->result.seal);
    const auto written = write_report(*outcome, *store, request, surroundings, priced.report);
    if (!written) return tl::unexpected(written.error());
  }
  priced.stored_curve =
      !request.worker && outcome->result.complete && !lab::curve_points(outcome->result, 0).empty();
  priced.result = std::move(outcome->result);
  return priced;
}

}  // namespace weir::price
