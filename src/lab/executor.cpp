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

Result<SwitchedEvent> ask_switch(IWorker& worker, const ArmLimit& limit) {
  return ask_for<SwitchedEvent>(worker, SwitchRequest{limit}, "switched");
}

Result<GeneratedEvent> ask_generate(IWorker& worker, const GenerateRequest& request) {
  return ask_for<GeneratedEvent>(worker, request, "generated");
}

Result<MeasuredEvent> ask_measure(IWorker& worker, bool reset) {
  return ask_for<MeasuredEvent>(worker, MeasureRequest{reset}, "measured");
}

}  // namespace weir::lab
