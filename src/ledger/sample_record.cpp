#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

#include "ledger/control_client.h"
#include "ledger/outside_text.h"

namespace weir::ledger {
namespace {

constexpr std::size_t kTagsAlwaysKept = 16;
constexpr std::string_view kJoined = "other";
constexpr double kNanoseconds = 1e9;

struct Column {
  Bytes Layers::*value;
  std::int64_t wire::SampleRecord::*field;
};

constexpr Column kColumns[] = {
    {&Layers::footprint, &wire::SampleRecord::footprint},
    {&Layers::live, &wire::SampleRecord::live},
    {&Layers::retained, &wire::SampleRecord::retained},
    {&Layers::untouched, &wire::SampleRecord::untouched},
    {&Layers::heap_idle, &wire::SampleRecord::heap_idle},
    {&Layers::identified, &wire::SampleRecord::identified},
    {&Layers::unexplained, &wire::SampleRecord::unexplained},
    {&Layers::file, &wire::SampleRecord::file},
    {&Layers::resident, &wire::SampleRecord::resident},
    {&Layers::swap, &wire::SampleRecord::swap},
    {&Layers::overdraw, &wire::SampleRecord::overdraw},
    {&Layers::weights_file, &wire::SampleRecord::weights_file},
};

struct NamedBytes {
  std::string_view name;
  std::int64_t bytes;
};

NamedBytes named(const IdentifiedPart& part) noexcept {
  return {part.name, part.bytes};
}

NamedBytes named(const std::pair<const std::string, std::int64_t>& tag) noexcept {
  return {tag.first, tag.second};
}

std::uint64_t magnitude(std::int64_t bytes) noexcept {
  const auto bits = static_cast<std::uint64_t>(bytes);
  return bytes < 0 ? 0 - bits : bits;
}

/// Wraps instead of overflowing: a record may hold any numbers.
std::int64_t sum(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// As much of the name as fits, cut between characters.
void write_name(std::string_view name, char (&into)[wire::kSampleNameBytes]) noexcept {
  std::size_t length = std::min(name.size(), sizeof into - 1);
  const auto continues = [&] { return (static_cast<unsigned char>(name[length]) & 0xc0u) == 0x80u; };
  while (length > 0 && length < name.size() && continues())
    --length;
  std::memset(into, 0, sizeof into);
  std::memcpy(into, name.data(), length);
}

/// The `count` largest magnitudes seen, smallest last.
class Largest {
 public:
  explicit Largest(std::size_t count) noexcept : count_(std::min(count, wire::kSampleParts)) {}

  void add(std::uint64_t value) noexcept {
    if (used_ == count_ && (count_ == 0 || value <= values_[count_ - 1])) return;
    std::size_t at = used_ < count_ ? used_++ : count_ - 1;
    for (; at > 0 && values_[at - 1] < value; --at)
      values_[at] = values_[at - 1];
    values_[at] = value;
  }
  /// Takes the value out where it is one of them.
  bool take(std::uint64_t value) noexcept {
    const auto end = values_.begin() + static_cast<std::ptrdiff_t>(used_);
    const auto found = std::find(values_.begin(), end, value);
    if (found == end) return false;
    std::move(found + 1, end, found);
    --used_;
    return true;
  }

 private:
  std::size_t count_;
  std::size_t used_ = 0;
  std::array<std::uint64_t, wire::kSampleParts> values_{};
};

/// Writes the list in its order. Where it is longer than `room`, the largest stay and the rest is joined.
template <class List>
std::uint32_t write_parts(const List& list, std::span<wire::SamplePart> room) noexcept {
  const bool fits = list.size() <= room.size();
  Largest kept(fits ? room.size() : room.size() - 1);
  for (const auto& entry : list)
    if (fits || named(entry).name != kJoined) kept.add(magnitude(named(entry).bytes));
  std::uint32_t used = 0;
  std::int64_t joined = 0;
  for (const auto& entry : list) {
    const auto [name, bytes] = named(entry);
    if ((fits || name != kJoined) && kept.take(magnitude(bytes))) {
      write_name(name, room[used].name);
      room[used++].bytes = bytes;
    } else {
      joined = sum(joined, bytes);
    }
  }
  if (!fits) {
    write_name(kJoined, room[used].name);
    room[used++].bytes = joined;
  }
  return used;
}

std::size_t room_for_tags(std::size_t parts) noexcept {
  if (parts >= wire::kSampleParts - kTagsAlwaysKept) return kTagsAlwaysKept;
  return wire::kSampleParts - parts;
}

std::string name_of(const wire::SamplePart& part) {
  return fit_for_output({part.name, ::strnlen(part.name, sizeof part.name)});
}

}  // namespace

wire::SampleRecord sample_record(const Layers& layers) noexcept {
  wire::SampleRecord record{};
  for (const Column& column : kColumns)
    record.*column.field = (layers.*column.value).value_or(wire::kUnknownBytes);
  record.seconds_ns = std::llround(layers.age_seconds * kNanoseconds);
  const std::span<wire::SamplePart> all(record.parts);
  record.tags = write_parts(layers.tags, all.first(room_for_tags(layers.identified_parts.size())));
  record.identified_parts = write_parts(layers.identified_parts, all.subspan(record.tags));
  return record;
}

Layers layers_of(const wire::SampleRecord& record) {
  Layers layers;
  for (const Column& column : kColumns)
    if (record.*column.field != wire::kUnknownBytes) layers.*column.value = record.*column.field;
  layers.age_seconds = static_cast<double>(record.seconds_ns) / kNanoseconds;
  const std::size_t tags = std::min<std::size_t>(record.tags, wire::kSampleParts);
  const std::size_t end = tags + std::min<std::size_t>(record.identified_parts, wire::kSampleParts - tags);
  for (std::size_t i = 0; i < tags; ++i) {
    std::int64_t& bytes = layers.tags[name_of(record.parts[i])];
    bytes = sum(bytes, record.parts[i].bytes);
  }
  for (std::size_t i = tags; i < end; ++i)
    layers.identified_parts.push_back({name_of(record.parts[i]), record.parts[i].bytes});
  return layers;
}

}  // namespace weir::ledger
