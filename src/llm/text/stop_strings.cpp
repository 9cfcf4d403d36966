#include "llm/text/stop_strings.h"

#include <algorithm>
#include <utility>

namespace weir::llm {
namespace {

// Where the first stop string begins; npos if there is none.
std::size_t first_stop(std::string_view text, const std::vector<std::string>& stops) {
  std::size_t first = std::string_view::npos;
  for (const std::string& stop : stops)
    first = std::min(first, text.find(stop));
  return first;
}

bool begins_a_stop(std::string_view text, const std::vector<std::string>& stops) {
  return std::any_of(stops.begin(), stops.end(), [text](const std::string& stop) {
    return text.size() < stop.size() && stop.compare(0, text.size(), text) == 0;
  });
}

// Where the longest end of the text begins that may grow into a stop string.
std::size_t safe_length(std::string_view text, const std::vector<std::string>& stops, std::size_t longest) {
  std::size_t begin = text.size() - std::min(text.size(), longest == 0 ? 0 : longest - 1);
  while (begin < text.size() && !begins_a_stop(text.substr(begin), stops))
    ++begin;
  return begin;
}

}  // namespace

StopStrings::StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {
  stops_.erase(std::remove(stops_.begin(), stops_.end(), std::string()), stops_.end());
  for (const std::string& stop : stops_)
    longest_ = std::max(longest_, stop.size());
}

StopStrings::Step StopStrings::push(std::string_view text) {
  Step step{{}, stopped_};
  if (stopped_) return step;
  held_ += text;
  // A stop string found here may begin after a place where a longer one may still turn out to begin.
  const std::size_t safe = safe_length(held_, stops_, longest_);
  const std::size_t stop = first_stop(held_, stops_);
  if (stop < held_.size() && stop <= safe) {
    stopped_ = true;
    step.stopped = true;
    step.emit = held_.substr(0, stop);
    held_.clear();
    return step;
  }
  step.emit = held_.substr(0, safe);
  held_.erase(0, safe);
  return step;
}

std::string StopStrings::flush() {
  if (const std::size_t stop = first_stop(held_, stops_); stop < held_.size()) {
    held_.resize(stop);
    stopped_ = true;
  }
  return std::exchange(held_, {});
}

}  // namespace weir::llm
