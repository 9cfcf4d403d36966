#include "wire/control.h"

#include <cstring>

#include "wire/counters_page.h"

namespace weir::wire {
namespace {

constexpr char kSuffix[] = ".sock";
/// Of every size in a reply, so that the sum of all parts cannot overflow.
constexpr std::int64_t kLargestSize = std::int64_t{1} << 57;

bool is_known(std::uint16_t verb) noexcept {
  return verb >= static_cast<std::uint16_t>(Verb::kSample) && verb <= static_cast<std::uint16_t>(Verb::kNeed);
}

/// A value stands only where its flag says so.
bool are_limits_in_order(const ControlRequest& request) noexcept {
  constexpr std::uint32_t kAll = kSetsCacheLimit | kUnsetsCacheLimit | kSetsMemoryLimit;
  const bool sets_cache = (request.flags & kSetsCacheLimit) != 0;
  if (static_cast<Verb>(request.verb) == Verb::kSet) {
    if (request.flags == 0 || (request.flags & ~kAll) != 0) return false;
    if (sets_cache && (request.flags & kUnsetsCacheLimit) != 0) return false;
  } else if (request.flags != 0) {
    return false;
  }
  return (sets_cache || request.cache_limit == 0) &&
         ((request.flags & kSetsMemoryLimit) != 0 || request.memory_limit == 0);
}

bool is_ended(const char* text, std::size_t room) noexcept {
  return std::memchr(text, 0, room) != nullptr;
}

bool is_size(std::int64_t bytes) noexcept {
  return bytes == kUnknownBytes || (bytes > -kLargestSize && bytes < kLargestSize);
}

bool is_in_order(const SampleRecord& sample) noexcept {
  const std::int64_t sizes[] = {sample.footprint, sample.live,       sample.retained,    sample.untouched,
                                sample.heap_idle, sample.identified, sample.unexplained, sample.file,
                                sample.resident,  sample.swap,       sample.overdraw,    sample.weights_file,
                                sample.seconds_ns};
  for (const std::int64_t size : sizes)
    if (!is_size(size)) return false;
  if (sample.tags > kSampleParts || sample.identified_parts > kSampleParts - sample.tags) return false;
  for (std::size_t i = 0; i < sample.tags + sample.identified_parts; ++i) {
    const SamplePart& part = sample.parts[i];
    if (!is_ended(part.name, sizeof part.name) || part.bytes == kUnknownBytes || !is_size(part.bytes))
      return false;
  }
  return true;
}

bool is_in_order(const ControlReply& reply) noexcept {
  if (reply.magic != kControlMagic || reply.version != kControlVersion || reply.reserved != 0) return false;
  if (reply.status > static_cast<std::uint16_t>(ControlStatus::kFailed)) return false;
  // Of a request that could not be read, the verb is 0.
  if ((reply.verb != 0 && !is_known(reply.verb)) || reply.has_sample > 1) return false;
  for (const std::uint64_t bytes :
       {reply.released, reply.heap_released, reply.driver_released, reply.driver_kept})
    if (bytes >= static_cast<std::uint64_t>(kLargestSize)) return false;
  return is_ended(reply.text, sizeof reply.text) && is_in_order(reply.sample);
}

}  // namespace

std::size_t print_socket_name(std::uint64_t run, std::uint32_t pid, char (&name)[kSocketNameBytes]) noexcept {
  return print_process_file_name(run, pid, kSuffix, name);
}

bool parse_socket_name(const char* name, std::uint64_t& run, std::uint32_t& pid) noexcept {
  return parse_process_file_name(name, kSuffix, run, pid);
}

bool parse_control_request(const void* bytes, std::size_t length, ControlRequest& into) noexcept {
  ControlRequest request;
  if (length != sizeof request) return false;
  std::memcpy(&request, bytes, sizeof request);
  if (request.magic != kControlMagic || request.version != kControlVersion) return false;
  if (!is_known(request.verb) || !are_limits_in_order(request)) return false;
  if (static_cast<Verb>(request.verb) != Verb::kNeed && request.bytes != 0) return false;
  for (const std::uint64_t reserved : request.reserved)
    if (reserved != 0) return false;
  into = request;
  return true;
}

bool parse_control_reply(const void* bytes, std::size_t length, ControlReply& into) noexcept {
  ControlReply reply;
  if (length != sizeof reply) return false;
  std::memcpy(&reply, bytes, sizeof reply);
  if (!is_in_order(reply)) return false;
  std::memcpy(&into, &reply, sizeof reply);
  return true;
}

const char* verb_name(Verb verb) noexcept {
  switch (verb) {
    case Verb::kSample:
      return "sample";
    case Verb::kSet:
      return "set";
    case Verb::kTrim:
      return "trim";
    case Verb::kReturn:
      return "return";
    case Verb::kResetPeak:
      return "reset-peak";
    case Verb::kNeed:
      return "need";
  }
  return "?";
}

}  // namespace weir::wire
