#pragma once

#include <chrono>
#include <memory>

#include "base/error.h"
#include "lab/worker_protocol.h"

namespace weir::lab {

/// One worker process, from ready to its end; the destructor ends it. Not thread-safe.
class IWorker {
 public:
  virtual ~IWorker() = default;
  [[nodiscard]] virtual const ReadyEvent& ready() const = 0;
  /// The reply to one request. A worker that died, fell silent or broke the protocol is an Error, and so is
  /// an `error` reply; the worker is then of no further use.
  [[nodiscard]] virtual Result<WorkerEvent> ask(const WorkerRequest& request) = 0;
};

/// Where workers come from: real processes, or simulated ones in tests.
class IExecutor {
 public:
  virtual ~IExecutor() = default;
  /// A fresh process that was told to run on this allocator and has said `ready`.
  [[nodiscard]] virtual Result<std::unique_ptr<IWorker>> start(Allocator allocator) = 0;
};

/// `start`, and the worker must say that it runs on this allocator; another one is kEnvironment.
[[nodiscard]] Result<std::unique_ptr<IWorker>> start_on(IExecutor& executor, Allocator allocator);

/// `ask`, and the reply must be of the kind that answers the request.
[[nodiscard]] Result<SwitchedEvent> ask_switch(IWorker& worker, Allocator allocator, const ArmLimit& limit);
[[nodiscard]] Result<GeneratedEvent> ask_generate(IWorker& worker, const GenerateRequest& request);
[[nodiscard]] Result<MeasuredEvent> ask_measure(IWorker& worker, bool reset);

}  // namespace weir::lab
