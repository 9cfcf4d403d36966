#include "limits/setting.h"

#include "base/byte_text.h"
#include "limits/size.h"

namespace weir::limits {
namespace {

constexpr KnobNames kKnobs[] = {
    {Knob::kCacheLimit, "cache limit", "--cache-limit", "WEIR_CACHE_LIMIT", "cache_limit"},
    {Knob::kMemoryLimit, "memory limit", "--memory-limit", "WEIR_MEMORY_LIMIT", "memory_limit"},
};

std::string library_default(const Setting& setting) {
  if (!setting.unset_text.empty()) return setting.unset_text;
  const std::string bytes = setting.effective_bytes ? exact_bytes(*setting.effective_bytes) : "unknown here";
  return std::string(kLibraryDefault) + ", " + bytes;
}

/// What stands inside the parentheses, without the source.
std::string detail(const Setting& setting) {
  if (setting.mode == Mode::kUnset) return library_default(setting);
  if (setting.mode == Mode::kAuto) return setting.note;
  if (setting.denominator.empty()) return "";
  return setting.denominator + " is " + exact_bytes(setting.denominator_bytes.value_or(0));
}

/// What stands before the parentheses.
std::string head(const Setting& setting) {
  switch (setting.mode) {
    case Mode::kUnset:
      return "unset";
    case Mode::kUnlimited:
      return "unlimited";
    case Mode::kAuto:
      if (setting.effective_bytes) return "auto = " + exact_bytes(*setting.effective_bytes);
      return "auto = " + (setting.unset_text.empty() ? "unlimited" : setting.unset_text);
    case Mode::kBytes:
      break;
  }
  const std::string bytes = exact_bytes(setting.bytes.value_or(0));
  return setting.text.empty() ? bytes : std::string(trimmed(setting.text)) + " = " + bytes;
}

}  // namespace

std::string echo(const Setting& setting) {
  std::string inside = setting.source == kLibraryDefault ? "" : setting.source;
  const std::string more = detail(setting);
  if (setting.mode == Mode::kUnset) {
    inside = inside.empty() ? more : more + "; " + inside;
  } else if (!more.empty()) {
    inside += (inside.empty() ? "" : "; ") + more;
  }
  return inside.empty() ? head(setting) : head(setting) + " (" + inside + ")";
}

std::string echo_value(const Setting& setting) {
  const std::string more = detail(setting);
  return more.empty() ? head(setting) : head(setting) + " (" + more + ")";
}

const char* mode_name(Mode mode) noexcept {
  switch (mode) {
    case Mode::kBytes:
      return "bytes";
    case Mode::kUnset:
      return "unset";
    case Mode::kUnlimited:
      return "unlimited";
    case Mode::kAuto:
      break;
  }
  return "auto";
}

const KnobNames& knob_names(Knob knob) noexcept {
  return kKnobs[knob == Knob::kCacheLimit ? 0 : 1];
}

}  // namespace weir::limits
