#include "ledger/page_reading.h"

#include <algorithm>
#include <cstring>

#include "ledger/outside_text.h"
#include "wire/control.h"

namespace weir::ledger {
namespace {

constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 58;

template <class T>
T value_at(std::string_view bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

#define WEIR_PAGE_VALUE(name) \
  value_at<decltype(wire::CountersPage::name)::value_type>(bytes, offsetof(wire::CountersPage, name))

struct SizeField {
  std::int64_t PageReading::*into;
  std::size_t offset;
  const char* name;
};
#define WEIR_PAGE_FIELD(name) \
  { &PageReading::name, offsetof(wire::CountersPage, name), #name }

constexpr SizeField kSizes[] = {
    WEIR_PAGE_FIELD(live),          WEIR_PAGE_FIELD(retained),    WEIR_PAGE_FIELD(padding),
    WEIR_PAGE_FIELD(backed),        WEIR_PAGE_FIELD(overdraw),    WEIR_PAGE_FIELD(live_peak),
    WEIR_PAGE_FIELD(retained_peak), WEIR_PAGE_FIELD(backed_peak), WEIR_PAGE_FIELD(overdraw_peak)};

struct CountField {
  std::uint64_t PageReading::*into;
  std::size_t offset;
};
#define WEIR_PAGE_COUNT(name) \
  { &PageReading::name, offsetof(wire::CountersPage, name) }

constexpr CountField kCounts[] = {
    WEIR_PAGE_COUNT(start_ticks), WEIR_PAGE_COUNT(run),           WEIR_PAGE_COUNT(started_ns),
    WEIR_PAGE_COUNT(cache_limit), WEIR_PAGE_COUNT(memory_limit),  WEIR_PAGE_COUNT(allocations),
    WEIR_PAGE_COUNT(frees),       WEIR_PAGE_COUNT(hits),          WEIR_PAGE_COUNT(misses),
    WEIR_PAGE_COUNT(refusals),    WEIR_PAGE_COUNT(overdraws),     WEIR_PAGE_COUNT(host_clears),
    WEIR_PAGE_COUNT(host_limits), WEIR_PAGE_COUNT(returned),      WEIR_PAGE_COUNT(moved),
    WEIR_PAGE_COUNT(troubles),    WEIR_PAGE_COUNT(forks),         WEIR_PAGE_COUNT(pool_start),
    WEIR_PAGE_COUNT(pool_end),    WEIR_PAGE_COUNT(pid_namespace), WEIR_PAGE_COUNT(tokens),
    WEIR_PAGE_COUNT(requests),    WEIR_PAGE_COUNT(acts_done)};

std::string text_at(std::string_view bytes, std::size_t offset, std::size_t room) {
  const std::string_view field = bytes.substr(offset, room);
  return fit_for_output(field.substr(0, field.find('\0')));
}

/// Takes the parts of one page out of its bytes; the first impossible value stays as `trouble`.
class PageParts {
 public:
  PageParts(std::string_view page, PageReading& into) : bytes_(page), into_(into) {}

  void take_totals() {
    for (const CountField& field : kCounts)
      into_.*field.into = count(field.offset);
    for (const SizeField& field : kSizes)
      into_.*field.into = size(field.offset, field.name);
  }
  void take_size_classes() {
    std::size_t at = offsetof(wire::CountersPage, size_classes);
    for (SizeClassReading& each : into_.size_classes) {
      each.allocations = count(at + offsetof(wire::SizeClass, allocations));
      each.hits = count(at + offsetof(wire::SizeClass, hits));
      each.retained = size(at + offsetof(wire::SizeClass, retained), "size_classes");
      each.last_allocation = count(at + offsetof(wire::SizeClass, last_allocation));
      at += sizeof(wire::SizeClass);
    }
  }
  void take_acts() {
    const std::uint64_t kept = std::min<std::uint64_t>(into_.acts_done, wire::kActs);
    for (std::uint64_t i = into_.acts_done - kept; i != into_.acts_done; ++i)
      take_act(offsetof(wire::CountersPage, acts) + i % wire::kActs * sizeof(wire::Act));
  }
  void take_sample() {
    const std::uint64_t taken = count(offsetof(wire::CountersPage, sampled_ns));
    if (taken == 0) return;
    into_.sample = SampleReading{taken, signed_size(offsetof(wire::CountersPage, sampled_heap_idle)),
                                 signed_size(offsetof(wire::CountersPage, sampled_identified)),
                                 signed_size(offsetof(wire::CountersPage, sampled_untouched)),
                                 signed_size(offsetof(wire::CountersPage, sampled_unexplained))};
  }
  void take_devices() {
    const std::uint64_t rows = count(offsetof(wire::CountersPage, devices));
    if (rows > wire::kDevices) return refuse("devices", rows);
    for (std::uint64_t i = 0; i < rows; ++i) {
      const std::size_t at = offsetof(wire::CountersPage, device_rows) + i * sizeof(wire::DeviceRow);
      const auto bytes = [&](std::size_t field) { return size(at + field, "device_rows"); };
      into_.devices.push_back(
          {text_at(bytes_, at + offsetof(wire::DeviceRow, name), sizeof wire::DeviceRow::name),
           bytes(offsetof(wire::DeviceRow, total)), bytes(offsetof(wire::DeviceRow, free)),
           bytes(offsetof(wire::DeviceRow, pool_reserved)), bytes(offsetof(wire::DeviceRow, pool_used))});
    }
  }
  /// "" where every value is possible.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

 private:
  [[nodiscard]] std::uint64_t count(std::size_t offset) const {
    return value_at<std::uint64_t>(bytes_, offset);
  }
  void refuse(const char* field, std::uint64_t value) {
    if (trouble_.empty())
      trouble_ = std::string("no possible value in '") + field + "': " + std::to_string(value);
  }
  std::int64_t size(std::size_t offset, const char* name) {
    const std::uint64_t value = count(offset);
    if (value < kLargestSize) return static_cast<std::int64_t>(value);
    refuse(name, value);
    return 0;
  }
  Bytes signed_size(std::size_t offset) {
    const auto value = value_at<std::int64_t>(bytes_, offset);
    constexpr auto kLargest = static_cast<std::int64_t>(kLargestSize);
    if (value == wire::kUnknownBytes) return std::nullopt;
    if (value > -kLargest && value < kLargest) return value;
    refuse("sample", static_cast<std::uint64_t>(value));
    return std::nullopt;
  }
  /// A slot of kind 0 is one whose writer died before it filled it.
  void take_act(std::size_t at) {
    const auto kind = value_at<std::uint32_t>(bytes_, at + offsetof(wire::Act, kind));
    const auto cause = value_at<std::uint32_t>(bytes_, at + offsetof(wire::Act, cause));
    if (kind == 0 || cause == 0) return;
    if (kind > static_cast<std::uint32_t>(wire::ActKind::kAdaptMemoryLimit)) return refuse("kind", kind);
    if (cause > static_cast<std::uint32_t>(wire::ActCause::kWindow)) return refuse("cause", cause);
    ActReading act;
    act.time_ns = count(at + offsetof(wire::Act, time_ns));
    act.kind = static_cast<wire::ActKind>(kind);
    act.cause = static_cast<wire::ActCause>(cause);
    act.argument = count(at + offsetof(wire::Act, argument));
    act.released = size(at + offsetof(wire::Act, released), "released");
    act.footprint_before = size(at + offsetof(wire::Act, footprint_before), "footprint_before");
    act.footprint_after = size(at + offsetof(wire::Act, footprint_after), "footprint_after");
    act.retained_before = size(at + offsetof(wire::Act, retained_before), "retained_before");
    act.retained_after = size(at + offsetof(wire::Act, retained_after), "retained_after");
    into_.acts.push_back(act);
  }

  std::string_view bytes_;
  PageReading& into_;
  std::string trouble_;
};

}  // namespace

const char* trouble_of_head(std::string_view bytes) {
  if (WEIR_PAGE_VALUE(magic) != wire::kPageMagic) return "not a counters page, or not yet finished";
  if (WEIR_PAGE_VALUE(version) != wire::kPageVersion) return "a counters page of another version of weir";
  if (WEIR_PAGE_VALUE(state) > static_cast<std::uint32_t>(wire::PageState::kExited)) return "no known state";
  if (WEIR_PAGE_VALUE(allocator) > static_cast<std::uint32_t>(wire::Allocator::kWeir))
    return "no known allocator";
  if (WEIR_PAGE_VALUE(backend) > static_cast<std::uint32_t>(wire::Backend::kNone)) return "no known backend";
  if (WEIR_PAGE_VALUE(phase) > static_cast<std::uint32_t>(wire::Phase::kUnload)) return "no known phase";
  if (WEIR_PAGE_VALUE(pid) == 0 || WEIR_PAGE_VALUE(pid) > 0x7fffffff) return "no process number";
  if (WEIR_PAGE_VALUE(pool_start) > WEIR_PAGE_VALUE(pool_end)) return "the pool ends before it starts";
  return nullptr;
}

Result<PageReading> parse_page(std::string_view bytes, const std::string& where) {
  if (bytes.size() != wire::kPageBytes) return fail(ErrorKind::kBadData, where, "not 8,192 bytes long");
  if (const char* trouble = trouble_of_head(bytes)) return fail(ErrorKind::kBadData, where, trouble);
  PageReading reading;
  reading.pid = static_cast<pid_t>(WEIR_PAGE_VALUE(pid));
  reading.state = static_cast<wire::PageState>(WEIR_PAGE_VALUE(state));
  reading.allocator = static_cast<wire::Allocator>(WEIR_PAGE_VALUE(allocator));
  reading.backend = static_cast<wire::Backend>(WEIR_PAGE_VALUE(backend));
  reading.phase = static_cast<wire::Phase>(WEIR_PAGE_VALUE(phase));
  reading.library = text_at(bytes, offsetof(wire::CountersPage, library), sizeof wire::CountersPage::library);
  reading.command = text_at(bytes, offsetof(wire::CountersPage, command), sizeof wire::CountersPage::command);
  PageParts parts(bytes, reading);
  parts.take_totals();
  parts.take_size_classes();
  parts.take_acts();
  parts.take_sample();
  parts.take_devices();
  if (!parts.trouble().empty()) return fail(ErrorKind::kBadData, where, parts.trouble());
  return reading;
}

}  // namespace weir::ledger
