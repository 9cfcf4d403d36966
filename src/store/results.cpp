#include <string>

#include "store/database.h"
#include "store/guarded.h"
#include "store/plan_state.h"
#include "store/store.h"

// Results and curves.

namespace weir::store {
namespace {

void insert_curve_point(Database& database, const CurvePoint& point) {
  database
      .prepare(
          "INSERT INTO curves (model, machine, library, cell, arm, cache_limit_bytes, verdict, json, "
          "measured_at, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
          "ON CONFLICT (model, machine, library, cell, arm, seal) DO UPDATE SET cache_limit_bytes = "
          "excluded.cache_limit_bytes, verdict = excluded.verdict, json = excluded.json, measured_at = "
          "excluded.measured_at")
      .bind(point.model)
      .bind(point.machine)
      .bind(point.library)
      .bind(point.cell)
      .bind(point.arm)
      .bind(point.cache_limit_bytes)
      .bind(point.verdict)
      .bind(point.json)
      .bind(point.measured_at)
      .bind(point.seal)
      .step();
}

}  // namespace

Result<void> Store::put_result(const ResultRow& result, PlanState state, std::span<const CurvePoint> curve) {
  return guarded([&] {
    Transaction transaction(*database_);
    database_
        ->prepare(
            "INSERT INTO results (seal, finished_at, json) VALUES (?, ?, ?) "
            "ON CONFLICT (seal) DO UPDATE SET finished_at = excluded.finished_at, json = excluded.json")
        .bind(result.seal)
        .bind(result.finished_at)
        .bind(result.json)
        .step();
    update_plan_state(*database_, path_, result.seal, state);
    for (const CurvePoint& point : curve)
      insert_curve_point(*database_, point);
    transaction.commit();
  });
}

Result<std::optional<ResultRow>> Store::latest_result(std::string_view seal_prefix) const {
  if (!seal_prefix.empty() && seal_prefix.size() < 8)
    return fail(ErrorKind::kUsage, "seal",
                "too short to name a result: '" + std::string(seal_prefix) +
                    "'; give at least its first 8 characters");
  return guarded([&]() -> std::optional<ResultRow> {
    Statement select = database_->prepare(
        "SELECT seal, finished_at, json FROM results WHERE substr(seal, 1, length(?1)) = ?1 "
        "ORDER BY finished_at DESC, rowid DESC LIMIT 2");
    select.bind(seal_prefix);
    if (!select.step()) return std::nullopt;
    ResultRow row{select.text(0), select.number(1), select.text(2)};
    if (!seal_prefix.empty() && select.step())
      throw Failure({ErrorKind::kUsage, "seal",
                     "several results start with '" + std::string(seal_prefix) + "': " + row.seal + ", " +
                         select.text(0) + "; give more characters"});
    return row;
  });
}

Result<void> Store::put_curve_point(const CurvePoint& point) {
  return guarded([&] {
    Transaction transaction(*database_);
    insert_curve_point(*database_, point);
    transaction.commit();
  });
}

Result<std::vector<CurvePoint>> Store::curve_points(std::string_view model, std::string_view machine,
                                                    std::string_view library) const {
  return guarded([&] {
    Statement select = database_->prepare(
        "SELECT model, machine, library, cell, arm, cache_limit_bytes, verdict, json, measured_at, seal FROM "
        "(SELECT *, row_number() OVER (PARTITION BY cell, arm ORDER BY measured_at DESC, rowid DESC) AS age "
        "FROM curves WHERE model = ? AND machine = ? AND library = ?) WHERE age = 1 "
        "ORDER BY cell, cache_limit_bytes IS NULL, cache_limit_bytes, arm");
    select.bind(model).bind(machine).bind(library);
    std::vector<CurvePoint> rows;
    while (select.step())
      rows.push_back({select.text(0), select.text(1), select.text(2), select.text(3), select.text(4),
                      select.optional_number(5), select.text(6), select.text(7), select.number(8),
                      select.text(9)});
    return rows;
  });
}

}  // namespace weir::store
