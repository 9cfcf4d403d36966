#include "wire/agent_settings.h"

#include <cstring>

#include "wire/decimal.h"

namespace weir::wire {
namespace {

struct Name {
  const char* text;
  std::uint32_t value;
};
constexpr Name kAllocators[] = {{"mlx", static_cast<std::uint32_t>(Allocator::kMlx)},
                                {"mlx-policy", static_cast<std::uint32_t>(Allocator::kMlxPolicy)},
                                {"weir", static_cast<std::uint32_t>(Allocator::kWeir)}};
constexpr Name kHostClears[] = {{"age", static_cast<std::uint32_t>(HostClear::kAge)},
                                {"honour", static_cast<std::uint32_t>(HostClear::kHonour)}};
constexpr std::uint32_t kTrimAtAll = kTrimAtRequest | kTrimAtPhase | kTrimAtPressure;
constexpr char kNone[] = "none";
constexpr char kUnset[] = "unset";

/// Walks over the text; once something does not fit, everything after it fails too.
class Reader {
 public:
  Reader(const char* text, std::size_t length) noexcept : at_(text), end_(text + length) {}

  /// Takes exactly these letters.
  bool take(const char* letters) noexcept {
    const std::size_t length = std::strlen(letters);
    if (static_cast<std::size_t>(end_ - at_) < length || std::memcmp(at_, letters, length) != 0) return false;
    at_ += length;
    return true;
  }
  /// Takes `letters` where nothing or a space follows them.
  bool take_word(const char* letters) noexcept {
    const char* before = at_;
    if (take(letters) && (at_ == end_ || *at_ == ' ')) return true;
    at_ = before;
    return false;
  }
  template <std::size_t N>
  bool take_name(const Name (&names)[N], std::uint32_t& into) noexcept {
    for (const Name& name : names) {
      if (!take_word(name.text)) continue;
      into = name.value;
      return true;
    }
    return false;
  }
  bool take_number(std::uint64_t& into) noexcept {
    const char* after = take_decimal(at_, end_, into);
    if (after == nullptr) return false;
    at_ = after;
    return true;
  }
  /// A number of bytes, or `none`. The largest number stands for none and is not written as digits.
  bool take_bytes(std::uint64_t& into) noexcept {
    if (take_word(kNone)) {
      into = kNoLimit;
      return true;
    }
    return take_number(into) && into != kNoLimit;
  }
  bool take_flag(bool& into) noexcept {
    if (at_ == end_ || (*at_ != '0' && *at_ != '1')) return false;
    into = *at_++ == '1';
    return true;
  }
  /// A set of boundaries: one digit.
  bool take_trim_at(std::uint32_t& into) noexcept {
    if (at_ == end_ || *at_ < '0' || static_cast<std::uint32_t>(*at_ - '0') > kTrimAtAll) return false;
    into = static_cast<std::uint32_t>(*at_++ - '0');
    return true;
  }
  [[nodiscard]] bool is_at_end() const noexcept { return at_ == end_; }

 private:
  const char* at_;
  const char* end_;
};

bool take_limits(Reader& reader, AgentSettings& settings) noexcept {
  if (!reader.take(" cache=")) return false;
  settings.cache_unset = reader.take_word(kUnset);
  settings.cache_limit = kNoLimit;
  if (!settings.cache_unset && !reader.take_bytes(settings.cache_limit)) return false;
  return reader.take(" memory=") && reader.take_bytes(settings.memory_limit) && settings.memory_limit != 0;
}

bool take_flags(Reader& reader, AgentSettings& settings) noexcept {
  return reader.take(" enforce=") && reader.take_flag(settings.enforce) && reader.take(" children=") &&
         reader.take_flag(settings.children) && reader.take(" huge_pages=") &&
         reader.take_flag(settings.huge_pages);
}

bool take_boundaries(Reader& reader, AgentSettings& settings) noexcept {
  return reader.take(" trim_at=") && reader.take_trim_at(settings.trim_at) && reader.take(" idle=") &&
         reader.take_number(settings.idle_ms);
}

/// Fills the array up; what does not fit is left out, and the sizes below rule that out.
class Writer {
 public:
  explicit Writer(char (&text)[kSettingsTextBytes]) noexcept : text_(text) {}

  Writer& put(const char* letters) noexcept {
    const std::size_t length = std::strlen(letters);
    if (length >= kSettingsTextBytes - length_) return *this;
    std::memcpy(text_ + length_, letters, length);
    length_ += length;
    return *this;
  }
  Writer& put(std::uint64_t number) noexcept {
    char digits[kDecimalDigits + 1];
    digits[print_decimal(number, digits)] = '\0';
    return put(digits);
  }
  Writer& put_bytes(std::uint64_t bytes) noexcept { return bytes == kNoLimit ? put(kNone) : put(bytes); }
  Writer& put_flag(bool flag) noexcept { return put(flag ? "1" : "0"); }
  std::size_t finish() noexcept {
    text_[length_] = '\0';
    return length_;
  }

 private:
  char* text_;
  std::size_t length_ = 0;
};

}  // namespace

bool parse_settings(const char* text, AgentSettings& into) noexcept {
  if (text == nullptr) return false;
  Reader reader(text, ::strnlen(text, kSettingsTextBytes));
  AgentSettings settings;
  std::uint32_t allocator = 0, host_clear = 0;
  const bool whole = reader.take("v2 allocator=") && reader.take_name(kAllocators, allocator) &&
                     take_limits(reader, settings) && reader.take(" host_clear=") &&
                     reader.take_name(kHostClears, host_clear) && take_flags(reader, settings) &&
                     take_boundaries(reader, settings) && reader.take(" run=") &&
                     reader.take_number(settings.run) && reader.is_at_end();
  if (!whole) return false;
  settings.allocator = static_cast<Allocator>(allocator);
  settings.host_clear = static_cast<HostClear>(host_clear);
  into = settings;
  return true;
}

std::size_t print_settings(const AgentSettings& settings, char (&text)[kSettingsTextBytes]) noexcept {
  Writer writer(text);
  writer.put("v2 allocator=").put(allocator_name(settings.allocator)).put(" cache=");
  if (settings.cache_unset) {
    writer.put(kUnset);
  } else {
    writer.put_bytes(settings.cache_limit);
  }
  writer.put(" memory=").put_bytes(settings.memory_limit);
  writer.put(" host_clear=").put(settings.host_clear == HostClear::kHonour ? "honour" : "age");
  writer.put(" enforce=").put_flag(settings.enforce).put(" children=").put_flag(settings.children);
  writer.put(" huge_pages=").put_flag(settings.huge_pages);
  writer.put(" trim_at=").put(settings.trim_at & kTrimAtAll).put(" idle=").put(settings.idle_ms);
  writer.put(" run=").put(settings.run);
  return writer.finish();
}

const char* allocator_name(Allocator allocator) noexcept {
  for (const Name& name : kAllocators)
    if (name.value == static_cast<std::uint32_t>(allocator)) return name.text;
  return "weir";
}

bool allocator_of_name(const char* name, std::size_t length, Allocator& into) noexcept {
  for (const Name& known : kAllocators) {
    if (std::strlen(known.text) != length || std::memcmp(known.text, name, length) != 0) continue;
    into = static_cast<Allocator>(known.value);
    return true;
  }
  return false;
}

}  // namespace weir::wire
