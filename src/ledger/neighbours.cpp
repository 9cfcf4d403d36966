#include "ledger/neighbours.h"

#include <algorithm>

#include "ledger/control_client.h"
#include "ledger/governed_page.h"

namespace weir::ledger {
namespace {

using Clock = std::chrono::steady_clock;

std::int64_t ask_one(const std::filesystem::path& folder, const PageReading& page, std::int64_t bytes,
                     std::chrono::milliseconds patience, NeedAnswer& sum) {
  auto client = ControlClient::connect(folder, page);
  if (!client) return 0;
  wire::ControlRequest request;
  request.verb = static_cast<std::uint16_t>(wire::Verb::kNeed);
  request.bytes = static_cast<std::uint64_t>(bytes);
  const auto answer = client->ask(request, patience);
  if (!answer || answer->status != wire::ControlStatus::kDone) return 0;
  ++sum.asked;
  return answer->released + answer->heap_released + answer->driver_released;
}

}  // namespace

std::vector<PageReading> possible_givers(std::vector<PageReading> pages, pid_t except) {
  const auto has_none = [&](const PageReading& page) {
    return !page.alive || page.pid == except || page.state != wire::PageState::kGoverned ||
           page.allocator == wire::Allocator::kMlx;
  };
  pages.erase(std::remove_if(pages.begin(), pages.end(), has_none), pages.end());
  std::stable_sort(pages.begin(), pages.end(), [](const PageReading& left, const PageReading& right) {
    return left.retained > right.retained;
  });
  return pages;
}

NeedAnswer ask_neighbours(const std::filesystem::path& folder, std::int64_t bytes,
                          const NeedOptions& options) {
  NeedAnswer sum;
  const auto until = Clock::now() + options.together;
  std::size_t tried = 0;
  for (const PageReading& page : possible_givers(read_pages(folder, std::nullopt), options.except)) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (sum.released >= bytes || left.count() <= 0 || tried++ == options.most) break;
    const std::int64_t given = std::max<std::int64_t>(
        0, ask_one(folder, page, bytes - sum.released, std::min(options.each, left), sum));
    sum.gave += given > 0 ? 1 : 0;
    sum.released += given;
  }
  return sum;
}

}  // namespace weir::ledger
