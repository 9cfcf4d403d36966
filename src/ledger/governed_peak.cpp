#include "ledger/governed_peak.h"

#include <algorithm>
#include <iterator>

namespace weir::ledger {
namespace {

constexpr const char* kSource = "VmHWM since process start less RssFile; low end from samples";

Bytes add(const Bytes& left, const Bytes& right) {
  if (!left && !right) return std::nullopt;
  return left.value_or(0) + right.value_or(0);
}

constexpr Bytes Layers::*kLayers[] = {&Layers::footprint,   &Layers::live,      &Layers::retained,
                                      &Layers::untouched,   &Layers::heap_idle, &Layers::identified,
                                      &Layers::unexplained, &Layers::file,      &Layers::resident,
                                      &Layers::swap,        &Layers::overdraw,  &Layers::weights_file};

void add_part(std::vector<IdentifiedPart>& parts, const IdentifiedPart& one) {
  const auto known = std::find_if(parts.begin(), parts.end(),
                                  [&](const IdentifiedPart& part) { return part.name == one.name; });
  if (known == parts.end()) {
    parts.push_back(one);
  } else {
    known->bytes += one.bytes;
  }
}

}  // namespace

Layers add_layers(const Layers& left, const Layers& right) {
  Layers sum = left;
  for (const auto layer : kLayers)
    sum.*layer = add(left.*layer, right.*layer);
  sum.age_seconds = std::max(left.age_seconds, right.age_seconds);
  for (const auto& [tag, bytes] : right.tags)
    sum.tags[tag] += bytes;
  for (const IdentifiedPart& part : right.identified_parts)
    add_part(sum.identified_parts, part);
  return sum;
}

void LayersAtPeak::offer(const Layers& layers) {
  constexpr std::int64_t kNear = 64;
  const std::int64_t footprint = layers.footprint.value_or(0);
  largest_ = std::max(largest_, footprint);
  const std::int64_t near = largest_ - largest_ / kNear;
  if (footprint < near) return;
  const bool kept_is_near = layers_.footprint && *layers_.footprint >= near;
  if (!kept_is_near || layers.live.value_or(0) > layers_.live.value_or(0)) layers_ = layers;
}

std::size_t GovernedPeak::add_one(const GovernedSample& sample) {
  const auto known = std::find_if(seen_.begin(), seen_.end(), [&](const Seen& one) {
    return one.pid == sample.pid && one.start_ticks == sample.start_ticks;
  });
  const auto place = static_cast<std::size_t>(known - seen_.begin());
  if (known == seen_.end()) {
    seen_.push_back(
        {sample.pid, sample.start_ticks, {}, PeakWindow(sample.status), sample.status.high_water});
    seen_.back().at_peak.offer(sample.layers);
    return place;
  }
  known->window.add(sample.status);
  known->high_water = std::max(known->high_water, sample.status.high_water);
  known->at_peak.offer(sample.layers);
  return place;
}

PeakFootprint GovernedPeak::bound(const Seen& one) const {
  PeakFootprint peak = one.window.bound(false, counter_error_, FileMappings::kMayGo);
  peak.source = kSource;
  return peak;
}

void GovernedPeak::add(const std::vector<GovernedSample>& together) {
  Layers sum;
  std::vector<std::size_t> now;
  for (const GovernedSample& sample : together) {
    now.push_back(add_one(sample));
    sum = add_layers(sum, sample.layers);
  }
  std::sort(now.begin(), now.end());
  std::vector<std::size_t> either;  // one that left since may have lived beside one that came since
  std::set_union(now.begin(), now.end(), last_.begin(), last_.end(), std::back_inserter(either));
  std::int64_t high = 0;
  for (const std::size_t place : either)
    high += bound(seen_[place]).high_bytes;
  high_ = std::max(high_, high);
  last_ = std::move(now);
  if (together.empty()) return;
  if (sum.footprint.value_or(0) > together_.largest_footprint()) together_count_ = together.size();
  together_.offer(sum);
}

std::vector<ProcessPeak> GovernedPeak::processes() const {
  std::vector<ProcessPeak> peaks;
  for (const Seen& one : seen_)
    peaks.push_back({one.pid, one.start_ticks, one.at_peak.layers(), one.high_water, bound(one)});
  return peaks;
}

PeakFootprint GovernedPeak::footprint() const {
  PeakFootprint peak;
  const auto error = static_cast<std::int64_t>(together_count_) * counter_error_;
  peak.low_bytes = std::max<std::int64_t>(0, together_.largest_footprint() - error);
  peak.high_bytes = high_;
  peak.source = kSource;
  if (seen_.size() > 1)
    peak.source += "; high end summed over processes as far as they may have lived together (" +
                   std::to_string(seen_.size()) + " seen)";
  return peak;
}

}  // namespace weir::ledger
