#include "place/mlx_rule.h"

#include <algorithm>
#include <utility>

namespace weir::place {

namespace {

using Index = std::uint32_t;
constexpr Index kNone = ~Index{0};
constexpr int kBucketBits = 12;  // a bucket holds the capacities of 4,096 neighbouring sizes
constexpr std::size_t kFirstSlots = 64;
constexpr std::size_t kFirstClasses = 2;

/// A kept block: in its class's queue (oldest first) and in the list of all (by when it was kept).
struct Node {
  KeptBlock block;
  Index older = kNone, newer = kNone;
  Index next_equal = kNone;  // also links the nodes that are not in use
};

/// All kept blocks of one capacity.
struct SizeClass {
  std::uint64_t capacity;
  Index front, back;
};

/// The classes of one bucket by capacity; without any, the bucket counts as absent.
struct Bucket {
  std::uint64_t number = 0;
  std::vector<SizeClass> classes;
};

std::vector<SizeClass>::iterator first_from(std::vector<SizeClass>& classes, std::uint64_t size) noexcept {
  return std::lower_bound(classes.begin(), classes.end(), size,
                          [](const SizeClass& each, std::uint64_t wanted) { return each.capacity < wanted; });
}

}  // namespace

/// An open-addressed table of buckets instead of an ordered map: whatever may be reused for a size lies in
/// its bucket or one of the next two.
struct MlxRule::State {
  std::uint64_t limit = kDefaultLimit;
  std::uint64_t kept_bytes = 0;
  std::size_t count = 0;
  std::vector<Node> nodes;
  Index spare = kNone;
  Index oldest = kNone, newest = kNone;
  std::vector<Bucket> buckets;
  std::vector<Index> slots = std::vector<Index>(kFirstSlots, kNone);  // a power of two; at most half used
  int shift = 64 - 6;                                                 // of the hash, down to a slot

  [[nodiscard]] std::size_t slot_of(std::uint64_t number) const noexcept {
    std::size_t slot = (number * 0x9E37'79B9'7F4A'7C15ULL) >> shift;
    while (slots[slot] != kNone && buckets[slots[slot]].number != number)
      slot = (slot + 1) & (slots.size() - 1);
    return slot;
  }
  [[nodiscard]] Bucket* find(std::uint64_t number) noexcept {
    const Index index = slots[slot_of(number)];
    return index == kNone ? nullptr : &buckets[index];
  }
  Bucket& find_or_make(std::uint64_t number);
  void rebuild_slots();
  Index make_node(const KeptBlock& block);
  void add_newest(Index index) noexcept;
  KeptBlock take_front(Bucket& bucket, std::vector<SizeClass>::iterator of) noexcept;
  KeptBlock take_oldest() noexcept;
  void drop_all(std::vector<KeptBlock>& dropped);
};

Bucket& MlxRule::State::find_or_make(std::uint64_t number) {
  if (Bucket* const known = find(number)) return *known;
  if ((buckets.size() + 1) * 2 > slots.size()) rebuild_slots();
  buckets.push_back({number, {}});
  slots[slot_of(number)] = static_cast<Index>(buckets.size() - 1);
  return buckets.back();
}

/// Forgets the buckets that are empty; grows where that makes too little room.
void MlxRule::State::rebuild_slots() {
  const auto used = static_cast<std::size_t>(std::count_if(
      buckets.begin(), buckets.end(), [](const Bucket& bucket) { return !bucket.classes.empty(); }));
  const bool grow = (used + 1) * 4 > slots.size();
  std::vector<Index> fresh(grow ? slots.size() * 2 : slots.size(), kNone);
  buckets.erase(std::remove_if(buckets.begin(), buckets.end(),
                               [](const Bucket& bucket) { return bucket.classes.empty(); }),
                buckets.end());
  slots = std::move(fresh);
  if (grow) --shift;
  for (std::size_t i = 0; i < buckets.size(); ++i)
    slots[slot_of(buckets[i].number)] = static_cast<Index>(i);
}

Index MlxRule::State::make_node(const KeptBlock& block) {
  if (spare == kNone) {
    nodes.push_back({block});
    return static_cast<Index>(nodes.size() - 1);
  }
  const Index index = spare;
  spare = nodes[index].next_equal;
  nodes[index] = {block};
  return index;
}

void MlxRule::State::add_newest(Index index) noexcept {
  Node& node = nodes[index];
  node.older = newest;
  (newest == kNone ? oldest : nodes[newest].newer) = index;
  newest = index;
  kept_bytes += node.block.capacity;
  ++count;
}

/// Takes the oldest block of a class. Of equal ones only the oldest ever leaves first: by reuse, and as the
/// oldest of all.
KeptBlock MlxRule::State::take_front(Bucket& bucket, std::vector<SizeClass>::iterator of) noexcept {
  const Index index = of->front;
  Node& node = nodes[index];
  if (node.next_equal == kNone) {
    bucket.classes.erase(of);
  } else {
    of->front = node.next_equal;
  }
  (node.older == kNone ? oldest : nodes[node.older].newer) = node.newer;
  (node.newer == kNone ? newest : nodes[node.newer].older) = node.older;
  node.next_equal = std::exchange(spare, index);
  kept_bytes -= node.block.capacity;
  --count;
  return node.block;
}

KeptBlock MlxRule::State::take_oldest() noexcept {
  const std::uint64_t capacity = nodes[oldest].block.capacity;
  Bucket& bucket = *find(capacity >> kBucketBits);
  return take_front(bucket, first_from(bucket.classes, capacity));
}

void MlxRule::State::drop_all(std::vector<KeptBlock>& dropped) {
  dropped.reserve(dropped.size() + count);
  while (oldest != kNone)
    dropped.push_back(take_oldest());
}

MlxRule::MlxRule(std::uint64_t limit) : state_(std::make_unique<State>()) {
  state_->limit = limit;
}
MlxRule::MlxRule(MlxRule&&) noexcept = default;
MlxRule& MlxRule::operator=(MlxRule&&) noexcept = default;
MlxRule::~MlxRule() = default;

std::optional<KeptBlock> MlxRule::reuse(std::uint64_t size) noexcept {
  State& state = *state_;
  if (state.count == 0) return std::nullopt;
  // Both sums wrap around for absurd sizes, as MLX's do; then nothing fits.
  const std::uint64_t too_large = std::min(2 * size, size + 2 * kPageBytes);
  const std::uint64_t first = size >> kBucketBits;
  for (std::uint64_t number = first; number <= first + 2; ++number) {
    Bucket* const bucket = state.find(number);
    if (bucket == nullptr) continue;
    const auto smallest = first_from(bucket->classes, size);
    if (smallest == bucket->classes.end()) continue;
    if (smallest->capacity >= too_large) return std::nullopt;
    return state.take_front(*bucket, smallest);
  }
  return std::nullopt;
}

bool MlxRule::keep(const KeptBlock& block) {
  State& state = *state_;
  if (block.capacity == 0 || state.kept_bytes + block.capacity > state.limit) return false;
  Bucket& bucket = state.find_or_make(block.capacity >> kBucketBits);
  const auto place = first_from(bucket.classes, block.capacity);
  if (place != bucket.classes.end() && place->capacity == block.capacity) {
    const Index index = state.make_node(block);
    state.nodes[place->back].next_equal = index;
    place->back = index;
    state.add_newest(index);
    return true;
  }
  const auto at = place - bucket.classes.begin();
  if (bucket.classes.size() == bucket.classes.capacity())
    bucket.classes.reserve(std::max(kFirstClasses, 2 * bucket.classes.size()));
  const Index index = state.make_node(block);
  bucket.classes.insert(bucket.classes.begin() + at, {block.capacity, index, index});
  state.add_newest(index);
  return true;
}

std::uint64_t MlxRule::set_limit(std::uint64_t limit, std::vector<KeptBlock>& dropped) {
  State& state = *state_;
  if (state.kept_bytes > limit) {
    const std::uint64_t surplus = state.kept_bytes - limit;
    // In doubles, as MLX compares them.
    if (static_cast<double>(surplus) >= 0.9 * static_cast<double>(state.kept_bytes)) {
      state.drop_all(dropped);
    } else {
      dropped.reserve(dropped.size() + state.count);
      while (state.kept_bytes > limit)
        dropped.push_back(state.take_oldest());
    }
  }
  return std::exchange(state.limit, limit);
}

void MlxRule::clear(std::vector<KeptBlock>& dropped) {
  state_->drop_all(dropped);
}

std::uint64_t MlxRule::kept_bytes() const noexcept {
  return state_->kept_bytes;
}

std::uint64_t MlxRule::limit() const noexcept {
  return state_->limit;
}

}  // namespace weir::place
