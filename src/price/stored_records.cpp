#include "price/stored_records.h"

namespace weir::price {

namespace {

template <class T>
Result<void> append(Result<T> record, std::vector<T>& to) {
  if (!record) return tl::unexpected(std::move(record.error()));
  to.push_back(std::move(*record));
  return {};
}

}  // namespace

Result<lab::Records> stored_records(const store::Store& store, std::string_view seal) {
  lab::Records records;
  const auto starts = store.starts(seal);
  if (!starts) return tl::unexpected(starts.error());
  for (const store::StartRow& row : *starts) {
    if (const auto kept = append(lab::failures_from_json(row.json), records.failures); !kept)
      return tl::unexpected(kept.error());
  }
  const auto blocks = store.blocks(seal);
  if (!blocks) return tl::unexpected(blocks.error());
  for (const store::BlockRow& row : *blocks) {
    const auto kept = row.kind == store::StartKind::kFootprint
                          ? append(lab::footprint_from_json(row.json), records.footprints)
                          : append(lab::block_from_json(row.json), records.blocks);
    if (!kept) return tl::unexpected(kept.error());
  }
  return records;
}

}  // namespace weir::price
