#include "limits/size.h"

#include <limits>

#include <fmt/format.h>

#include "base/byte_text.h"

namespace weir::limits {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kHundred = 100;

struct Unit {
  std::string_view name;
  std::int64_t bytes;
};

constexpr std::int64_t kKi = 1024;
constexpr Unit kUnits[] = {
    {"", 1},
    {"k", kKi},
    {"m", kKi* kKi},
    {"g", kKi* kKi* kKi},
    {"t", kKi* kKi* kKi* kKi},
    {"kib", kKi},
    {"mib", kKi* kKi},
    {"gib", kKi* kKi* kKi},
    {"tib", kKi* kKi* kKi* kKi},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
};
constexpr std::string_view kDenominators[] = {"free", "total", "model"};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// "12.5 %free" cut into its three parts.
struct Parts {
  std::string_view whole;
  std::string_view fraction;
  std::string unit;  ///< In lower case.
};

/// nullopt when the text does not start as a number of the grammar. One space may stand before the unit.
std::optional<Parts> cut(std::string_view text) {
  const auto digits_from = [&](std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end]))
      ++end;
    return end;
  };
  const std::size_t whole_end = digits_from(0);
  if (whole_end == 0) return std::nullopt;
  Parts parts{text.substr(0, whole_end), {}, {}};
  std::size_t at = whole_end;
  if (at < text.size() && text[at] == '.') {
    const std::size_t end = digits_from(at + 1);
    if (end == at + 1) return std::nullopt;
    parts.fraction = text.substr(at + 1, end - at - 1);
    at = end;
  }
  if (at + 1 < text.size() && text[at] == ' ') ++at;
  parts.unit = lower(text.substr(at));
  return parts;
}

std::optional<std::uint64_t> whole_number(std::string_view digits) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const Wide next = Wide{value} * 10 + static_cast<unsigned>(c - '0');
    if (next > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
    value = static_cast<std::uint64_t>(next);
  }
  return value;
}

/// floor(0.<fraction> * scale), exact for any number of digits: from the last digit to the first, the floor
/// of the inner term changes nothing of the outer one.
Wide fraction_of(std::string_view fraction, std::uint64_t scale) {
  Wide value = 0;
  for (auto at = fraction.size(); at > 0; --at) {
    value = (Wide{scale} * static_cast<unsigned>(fraction[at - 1] - '0') + value) / 10;
  }
  return value;
}

tl::unexpected<Error> refuse(std::string_view what, std::string_view text, Knob knob,
                             std::string_view where) {
  return fail(ErrorKind::kUsage, std::string(where),
              fmt::format("{}: {}; {}", what, shown(text), correct_example(knob)));
}

std::string too_large() {
  return "more than the largest size, " + exact_bytes(kLargest);
}

std::optional<Size> parse_word(std::string_view text) {
  const std::string word = text.size() > 9 ? "" : lower(text);
  if (word == "unset") return Size{Mode::kUnset, {}, {}};
  if (word == "unlimited") return Size{Mode::kUnlimited, {}, {}};
  if (word == "auto") return Size{Mode::kAuto, {}, {}};
  return std::nullopt;
}

std::optional<Percentage> percentage_of(const Parts& parts) {
  const auto whole = whole_number(parts.whole);
  if (!whole) return std::nullopt;
  std::string_view fraction = parts.fraction;
  while (!fraction.empty() && fraction.back() == '0')
    fraction.remove_suffix(1);
  return Percentage{*whole, std::string(fraction), parts.unit.substr(1)};
}

Result<Size> parse_percentage(const Parts& parts, std::string_view text, Knob knob, std::string_view where) {
  const std::string_view of = std::string_view(parts.unit).substr(1);
  if (of.empty())
    return refuse("a percentage names its denominator: free, total or model", text, knob, where);
  if (of != kDenominators[0] && of != kDenominators[1] && of != kDenominators[2]) {
    return refuse("a percentage is of free, total or model", text, knob, where);
  }
  const auto percentage = percentage_of(parts);
  if (!percentage) return refuse(too_large(), text, knob, where);
  const bool over_hundred =
      percentage->whole > kHundred || (percentage->whole == kHundred && !percentage->fraction.empty());
  if (over_hundred && of != "model") {
    return refuse(fmt::format("more than all that is {}", of), text, knob, where);
  }
  const bool zero = percentage->whole == 0 && percentage->fraction.empty();
  if (zero && knob == Knob::kMemoryLimit) {
    return refuse("0 as a memory limit would forbid every allocation", text, knob, where);
  }
  return Size{Mode::kBytes, {}, percentage};
}

Result<Size> parse_bytes(const Parts& parts, const Unit& unit, std::string_view text, Knob knob,
                         std::string_view where) {
  if (unit.name.empty() && !parts.fraction.empty()) {
    return refuse("a fraction needs a unit", text, knob, where);
  }
  const auto whole = whole_number(parts.whole);
  if (!whole) return refuse(too_large(), text, knob, where);
  const auto scale = static_cast<std::uint64_t>(unit.bytes);
  const Wide bytes = Wide{*whole} * scale + fraction_of(parts.fraction, scale);
  if (bytes > static_cast<Wide>(kLargest)) return refuse(too_large(), text, knob, where);
  if (bytes == 0 && knob == Knob::kMemoryLimit) {
    return refuse("0 as a memory limit would forbid every allocation", text, knob, where);
  }
  return Size{Mode::kBytes, static_cast<std::int64_t>(bytes), {}};
}

}  // namespace

Result<Size> parse_size(std::string_view text, Knob knob, std::string_view where) {
  const std::string_view body = trimmed(text);
  if (body.empty()) return refuse("an empty size", text, knob, where);
  if (const auto word = parse_word(body)) return *word;
  if (body.front() == '-') return refuse("a size is never negative", text, knob, where);
  const auto parts = cut(body);
  if (!parts) return refuse("not a size", text, knob, where);
  if (!parts->unit.empty() && parts->unit.front() == '%') return parse_percentage(*parts, text, knob, where);
  if (parts->unit == "b") return refuse("bytes take no unit", text, knob, where);
  for (const Unit& unit : kUnits) {
    if (unit.name == parts->unit) return parse_bytes(*parts, unit, text, knob, where);
  }
  return refuse("not a size", text, knob, where);
}

Result<std::int64_t> parse_count(std::string_view text, std::int64_t unit_bytes, std::string_view where) {
  const std::string unit = unit_bytes == 1 ? "bytes" : "units of " + exact_bytes(unit_bytes);
  const auto refuse_count = [&](std::string_view what) {
    return fail(ErrorKind::kUsage, std::string(where),
                fmt::format("{}: {}; write a whole number of {}, such as 512", what, shown(text), unit));
  };
  const std::string_view body = trimmed(text);
  if (body.empty()) return refuse_count("an empty number");
  for (const char c : body) {
    if (!is_digit(c)) return refuse_count("not a whole number");
  }
  const auto whole = whole_number(body);
  const Wide bytes = Wide{whole.value_or(0)} * static_cast<std::uint64_t>(unit_bytes);
  if (!whole || bytes > static_cast<Wide>(kLargest)) return refuse_count(too_large());
  return static_cast<std::int64_t>(bytes);
}

std::optional<std::int64_t> bytes_of(const Percentage& percentage, std::int64_t denominator_bytes) {
  const auto of = static_cast<std::uint64_t>(denominator_bytes < 0 ? 0 : denominator_bytes);
  // whole < 2^64 and of < 2^63: the product and the sum stay below 2^128.
  const Wide bytes = (Wide{percentage.whole} * of + fraction_of(percentage.fraction, of)) / kHundred;
  if (bytes > static_cast<Wide>(kLargest)) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 48;
  std::string out = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  out += text.size() > kMost
             ? fmt::format("...\" ({} bytes long)", with_commas(static_cast<std::int64_t>(text.size())))
             : "\"";
  return out;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string correct_example(Knob knob) {
  return knob == Knob::kCacheLimit
             ? "write a size such as 512MiB, 1.5GB, 536870912, 10%free, 0, unset, unlimited or auto"
             : "write a size such as 8GiB, 1.5GB, 8589934592, 50%total, unset or unlimited";
}

}  // namespace weir::limits
