#include <string_view>

#include "store/database.h"
#include "store/guarded.h"
#include "store/store.h"

// Starts and blocks.

namespace weir::store {
namespace {

std::string_view word(StartKind kind) {
  return kind == StartKind::kSpeed ? "speed" : "footprint";
}

StartKind start_kind(std::string_view text) {
  return text == "speed" ? StartKind::kSpeed : StartKind::kFootprint;
}

}  // namespace

Result<void> Store::put_start(const StartRow& start) {
  return guarded([&] {
    Transaction transaction(*database_);
    database_
        ->prepare(
            "INSERT INTO starts (seal, kind, start_index, status, started_at, json) VALUES (?, ?, ?, ?, ?, "
            "?) "
            "ON CONFLICT (seal, kind, start_index) DO UPDATE SET status = excluded.status, started_at = "
            "excluded.started_at, json = excluded.json")
        .bind(start.seal)
        .bind(word(start.kind))
        .bind(std::int64_t{start.index})
        .bind(start.status)
        .bind(start.started_at)
        .bind(start.json)
        .step();
    transaction.commit();
  });
}

Result<std::vector<StartRow>> Store::starts(std::string_view seal) const {
  return guarded([&] {
    Statement select = database_->prepare(
        "SELECT seal, kind, start_index, status, started_at, json FROM starts WHERE seal = ? "
        "ORDER BY kind DESC, start_index");
    select.bind(seal);
    std::vector<StartRow> rows;
    while (select.step())
      rows.push_back({select.text(0), start_kind(select.text(1)), static_cast<int>(select.number(2)),
                      select.text(3), select.number(4), select.text(5)});
    return rows;
  });
}

Result<void> Store::put_block(const BlockRow& block) {
  return guarded([&] {
    Transaction transaction(*database_);
    database_
        ->prepare(
            "INSERT INTO blocks (seal, kind, start_index, block_index, completed_at, json) "
            "VALUES (?, ?, ?, ?, ?, ?)")
        .bind(block.seal)
        .bind(word(block.kind))
        .bind(std::int64_t{block.start_index})
        .bind(std::int64_t{block.block_index})
        .bind(block.completed_at)
        .bind(block.json)
        .step();
    transaction.commit();
  });
}

Result<std::vector<BlockRow>> Store::blocks(std::string_view seal) const {
  return guarded([&] {
    Statement select = database_->prepare(
        "SELECT seal, kind, start_index, block_index, completed_at, json FROM blocks WHERE seal = ? "
        "ORDER BY kind DESC, start_index, block_index");
    select.bind(seal);
    std::vector<BlockRow> rows;
    while (select.step())
      rows.push_back({select.text(0), start_kind(select.text(1)), static_cast<int>(select.number(2)),
                      static_cast<int>(select.number(3)), select.number(4), select.text(5)});
    return rows;
  });
}

}  // namespace weir::store
