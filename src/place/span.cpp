#include "place/span.h"

namespace weir::place {

void SpanStore::reserve(std::size_t count) {
  while (spare_.size() < count) {
    auto chunk = std::make_unique<Span[]>(kChunk);
    const std::size_t all = (chunks_.size() + 1) * kChunk;
    if (spare_.capacity() < all) spare_.reserve(2 * all);
    chunks_.push_back(std::move(chunk));
    for (std::size_t i = kChunk; i-- > 0;)
      spare_.push_back(&chunks_.back()[i]);
  }
}

Span* SpanStore::take() noexcept {
  Span* span = spare_.back();
  spare_.pop_back();
  return span;
}

void SpanStore::give_back(Span* span) noexcept {
  span->kind = Span::Kind::kUnused;
  spare_.push_back(span);
}

}  // namespace weir::place
