#include "cli/top_history.h"

#include <algorithm>

#include "cli/governed_words.h"

namespace weir::cli {
namespace {

/// Counters only rise; one that fell is of a page that began again.
std::uint64_t rise(std::uint64_t from, std::uint64_t to) {
  return to > from ? to - from : 0;
}

double rate(std::uint64_t from, std::uint64_t to, double seconds) {
  return static_cast<double>(rise(from, to)) / seconds;
}

bool is_same_program(const ledger::PageReading& left, const ledger::PageReading& right) {
  return left.same_process(right) && left.started_ns == right.started_ns;
}

}  // namespace

void TopHistory::add(const std::vector<ledger::GovernedProcess>& processes, Nanoseconds now) {
  std::vector<Past> pasts;
  watched_.clear();
  for (const ledger::GovernedProcess& process : processes) {
    const auto before = std::find_if(pasts_.begin(), pasts_.end(), [&](const Past& past) {
      return is_same_program(past.who, process.page);
    });
    Past past = before == pasts_.end() ? Past{process.page, {}} : std::move(*before);
    const ledger::PageReading& page = process.page;
    past.looks.push_back({now, page.allocations, page.hits, page.misses, process.faults, page.tokens,
                          process.layers.footprint.value_or(0)});
    if (past.looks.size() > kTopMemory) past.looks.pop_front();
    past.who = page;
    watched_.push_back(watch(process, past.looks));
    pasts.push_back(std::move(past));
  }
  pasts_ = std::move(pasts);
}

WatchedProcess TopHistory::watch(const ledger::GovernedProcess& process, const std::deque<Look>& looks) {
  WatchedProcess watched;
  watched.now = process;
  for (const Look& look : looks)
    watched.footprints.push_back(look.footprint);
  if (looks.size() < 2) return watched;
  const Look& last = looks.back();
  const Look& before = looks[looks.size() - 2];
  const Look& first = looks.front();
  const double passed = seconds(last.at - before.at);
  if (passed <= 0) return watched;
  const bool counted = is_counted(process.page);
  if (counted) watched.allocations_per_second = rate(before.allocations, last.allocations, passed);
  watched.faults_per_second = rate(before.faults, last.faults, passed);
  if (counted && last.tokens > 0) watched.tokens_per_second = rate(before.tokens, last.tokens, passed);
  if (counted)
    watched.window = TopWindow{seconds(last.at - first.at), rise(first.allocations, last.allocations),
                               rise(first.hits, last.hits), rise(first.misses, last.misses),
                               rise(first.tokens, last.tokens)};
  return watched;
}

}  // namespace weir::cli
