// Any bytes as a request, as a reply and as a socket's name: what is accepted is within bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "wire/control.h"

namespace wire = weir::wire;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_request(const std::string& bytes) {
  wire::ControlRequest request;
  request.pid = 7;
  if (!wire::parse_control_request(bytes.data(), bytes.size(), request)) return require(request.pid == 7);
  require(std::memcmp(&request, bytes.data(), bytes.size()) == 0);
  require(std::string(wire::verb_name(static_cast<wire::Verb>(request.verb))) != "?");
  require(request.flags == 0 || request.verb == static_cast<std::uint16_t>(wire::Verb::kSet));
}

void check_reply(const std::string& bytes) {
  wire::ControlReply reply;
  if (!wire::parse_control_reply(bytes.data(), bytes.size(), reply)) return;
  require(std::strlen(reply.text) < sizeof reply.text);
  const wire::SampleRecord& sample = reply.sample;
  require(sample.tags + sample.identified_parts <= wire::kSampleParts);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < sample.tags + sample.identified_parts; ++i) {
    require(std::strlen(sample.parts[i].name) < wire::kSampleNameBytes);
    require(!__builtin_add_overflow(sum, sample.parts[i].bytes, &sum));
  }
}

/// The same bytes with a good head, so that more than the head is looked at.
template <class Record>
std::string with_head(const std::string& bytes) {
  Record head;
  head.verb = static_cast<std::uint16_t>(wire::Verb::kSet);
  std::string made(reinterpret_cast<const char*>(&head), sizeof head);
  constexpr std::size_t kHeadBytes = 8;
  for (std::size_t i = 0; i < bytes.size() && kHeadBytes + i < made.size(); ++i)
    made[kHeadBytes + i] = bytes[i];
  return made;
}

void check_name(const std::string& text) {
  std::uint64_t run = 0;
  std::uint32_t pid = 0;
  if (!wire::parse_socket_name(text.c_str(), run, pid)) return require(run == 0 && pid == 0);
  char again[wire::kSocketNameBytes];
  require(std::string(again, wire::print_socket_name(run, pid, again)) == text.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  check_request(bytes);
  check_reply(bytes);
  check_request(with_head<wire::ControlRequest>(bytes));
  check_reply(with_head<wire::ControlReply>(bytes));
  check_name(bytes);
  return 0;
}
