#include "cli/curve_hooks.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/sha256.h"
#include "cli/loaded_model.h"
#include "cli/machine_name.h"
#include "llm/models.h"
#include "price/curve.h"
#include "store/state_dir.h"

namespace weir::cli {
namespace {

/// Empty where there is no store: reading creates nothing. The model is hashed only when a store may know it.
std::vector<price::CurveEntry> curve_of(const std::string& model) {
  const auto folder = value_or_throw(store::state_dir(store::process_environment()));
  const auto store = value_or_throw(store::Store::open_existing(store::store_path(folder)));
  const auto path = llm::find_model(model);
  if (!store || !path) return {};
  const auto file = value_or_throw(ReadOnlyFile::open(*path));
  const price::CurveKey key{value_or_throw(sha256_hex(file)), machine_name(), library_name()};
  return value_or_throw(price::stored_curve(*store, key));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

}  // namespace

LimitsHooks curve_hooks() {
  LimitsHooks hooks;
  hooks.auto_answer = [](const std::string& model, wire::Allocator allocator) {
    return price::auto_answer(curve_of(model), SystemClock().unix_seconds(), allocator);
  };
  hooks.stored_curve = [](const std::string& model) {
    const auto curve = curve_of(model);
    auto lines =
        lines_of(price::curve_text(curve, SystemClock().unix_seconds(), report::style_of(STDOUT_FILENO)));
    if (!lines.empty()) lines.insert(lines.begin(), "priced for " + model + " on this machine and library:");
    return lines;
  };
  return hooks;
}

}  // namespace weir::cli
