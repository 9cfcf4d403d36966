#include "lab/executor.h"

namespace weir::lab {

namespace {

template <class Event>
Result<Event> ask_for(IWorker& worker, const WorkerRequest& request, const char* what) {
  auto reply = worker.ask(request);
  if (!reply) return tl::unexpected(reply.error());
  if (auto* event = std::get_if<Event>(&*reply)) return std::move(*event);
  if (auto* error = std::get_if<ErrorEvent>(&*reply)) return fail(error->kind, "worker", error->message);
  return fail(ErrorKind::kBadData, "worker", std::string("answered another event than ") + what);
}

}  // namespace

Result<std::unique_ptr<IWorker>> start_on(IExecutor& executor, Allocator allocator) {
  auto worker = executor.start(allocator);
  if (!worker) return worker;
  const ReadyEvent& ready = (*worker)->ready();
  if (ready.allocator == allocator) return worker;
  return fail(ErrorKind::kEnvironment, "worker",
              "runs on the allocator " + allocator_name(ready.allocator) + ", asked for " +
                  allocator_name(allocator) + ": use a worker that takes --allocator");
}

Result<SwitchedEvent> ask_switch(IWorker& worker, Allocator allocator, const ArmLimit& limit) {
  return ask_for<SwitchedEvent>(worker, SwitchRequest{allocator, limit}, "switched");
}

Result<GeneratedEvent> ask_generate(IWorker& worker, const GenerateRequest& request) {
  return ask_for<GeneratedEvent>(worker, request, "generated");
}

Result<MeasuredEvent> ask_measure(IWorker& worker, bool reset) {
  return ask_for<MeasuredEvent>(worker, MeasureRequest{reset}, "measured");
}

}  // namespace weir::lab
