#include "lab/process_executor.h"

#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <utility>

#include "base/child_process.h"

namespace weir::lab {

namespace {

using std::chrono::milliseconds;

/// Narrows the calling thread to the CPUs for as long as it lives; a child started meanwhile inherits them.
class AffinityGuard {
 public:
  static Result<AffinityGuard> pin(const std::vector<int>& cpus) {
    AffinityGuard guard;
    if (cpus.empty()) return guard;
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    for (const int cpu : cpus)
      if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<unsigned>(cpu), &wanted);
    if (::sched_getaffinity(0, sizeof guard.before_, &guard.before_) != 0 ||
        ::sched_setaffinity(0, sizeof wanted, &wanted) != 0)
      return fail(ErrorKind::kEnvironment, "worker", "cannot be pinned to the CPUs of the plan");
    guard.active_ = true;
    return guard;
  }
  AffinityGuard(AffinityGuard&& other) noexcept
      : before_(other.before_), active_(std::exchange(other.active_, false)) {}
  AffinityGuard& operator=(AffinityGuard&&) = delete;
  ~AffinityGuard() {
    if (active_) ::sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  AffinityGuard() { CPU_ZERO(&before_); }
  cpu_set_t before_;
  bool active_ = false;
};

bool passes(const std::string& entry) {
  const std::string name = entry.substr(0, entry.find('='));
  // A limit, or the settings of a `weir run` around us, would rule the worker in its arm's place.
  for (const char* dropped : {"WEIR_CACHE_LIMIT", "WEIR_MEMORY_LIMIT", "WEIR_AGENT", "WEIR_AGENT_PAGES"})
    if (name == dropped) return false;
  for (const char* kept : {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS"})
    if (name == kept) return true;
  return name.rfind("WEIR_", 0) == 0 || name.rfind("XDG_", 0) == 0;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    out.emplace_back(*entry);
  return out;
}

/// A worker that is weir says by its exit code what kind of failure it was.
ErrorKind kind_of(int code) {
  for (const ErrorKind kind :
       {ErrorKind::kUsage, ErrorKind::kBadData, ErrorKind::kInternal, ErrorKind::kNoRoom})
    if (exit_code(kind) == code) return kind;
  return ErrorKind::kEnvironment;
}

class ProcessWorker final : public IWorker {
 public:
  ProcessWorker(ChildProcess child, milliseconds reply_limit)
      : child_(std::move(child)), reply_limit_(reply_limit) {}
  ~ProcessWorker() override { child_.finish(milliseconds(broken_ ? 0 : 2'000)); }

  Result<void> await_ready(milliseconds limit) {
    auto event = read(limit);
    if (!event) return tl::unexpected(event.error());
    if (auto* error = std::get_if<ErrorEvent>(&*event)) return fail(error->kind, "worker", error->message);
    auto* ready = std::get_if<ReadyEvent>(&*event);
    if (ready == nullptr) return fail(ErrorKind::kBadData, "worker", "does not begin with the event ready");
    if (ready->protocol < kOldestWorkerProtocol || ready->protocol > kWorkerProtocol)
      return fail(ErrorKind::kEnvironment, "worker",
                  "speaks protocol " + std::to_string(ready->protocol) + ", this weir speaks " +
                      std::to_string(kWorkerProtocol) + ": use a worker of the same version");
    ready_ = std::move(*ready);
    return {};
  }

  [[nodiscard]] const ReadyEvent& ready() const override { return ready_; }

  Result<WorkerEvent> ask(const WorkerRequest& request) override {
    if (auto sent = child_.write_line(to_line(request)); !sent) {
      broken_ = true;
      return tl::unexpected(sent.error());
    }
    return read(reply_limit_);
  }

 private:
  Result<WorkerEvent> read(milliseconds limit) {
    auto line = child_.read_line(limit);
    if (line && *line) {
      auto event = parse_event(**line);
      broken_ = broken_ || !event;
      return event;
    }
    broken_ = true;
    if (!line) return tl::unexpected(line.error());
    const ChildExit exit = child_.finish(milliseconds(1'000));
    return fail(
        kind_of(exit.code), "worker",
        "ended before it answered, with code " + std::to_string(exit.code) + "; what it said stands above");
  }

  ChildProcess child_;
  milliseconds reply_limit_;
  ReadyEvent ready_;
  bool broken_ = false;
};

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> out;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return out;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) out.push_back(cpu);
  return out;
}

std::vector<std::string> worker_environment(const std::vector<std::string>& ours, int threads) {
  std::vector<std::string> out;
  std::copy_if(ours.begin(), ours.end(), std::back_inserter(out), passes);
  if (threads > 0) out.push_back("OPENBLAS_NUM_THREADS=" + std::to_string(threads));
  out.emplace_back("LC_ALL=C");
  return out;
}

Result<std::unique_ptr<IWorker>> ProcessExecutor::start(Allocator allocator) {
  const auto cpus = spec_.cpus.empty() ? allowed_cpus() : spec_.cpus;
  const int threads = spec_.threads > 0 ? spec_.threads : static_cast<int>(cpus.size());
  auto pinned = AffinityGuard::pin(spec_.cpus);
  if (!pinned) return tl::unexpected(pinned.error());
  auto argv = spec_.argv;
  if (allocator != Allocator::kMlx) argv.insert(argv.end(), {"--allocator", allocator_name(allocator)});
  auto child = ChildProcess::start({std::move(argv), worker_environment(own_environment(), threads)});
  if (!child) return tl::unexpected(child.error());
  auto worker = std::make_unique<ProcessWorker>(std::move(*child), spec_.reply_limit);
  if (auto ready = worker->await_ready(spec_.ready_limit); !ready) return tl::unexpected(ready.error());
  return std::unique_ptr<IWorker>(std::move(worker));
}

}  // namespace weir::lab
