#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "store/rows.h"

namespace weir::store {

class Database;

/// The SQLite file that keeps plans, their starts and blocks, results and curves.
///
/// Every put is one transaction, synced to the disk before it returns: a process killed at any moment loses
/// no row that a put has confirmed and leaves none by half. A commit that fails changes nothing. Errors: a
/// full disk is kNoRoom; a folder that cannot be written is kEnvironment and names WEIR_STATE_DIR; a file
/// that is damaged, not weir's or of a newer schema is kBadData and says what to do; a store held by another
/// writer for longer than ten seconds is kEnvironment. Breaking a rule below (a block twice, a start without
/// its plan) is kInternal.
///
/// Several processes may use one file. One Store belongs to one thread. Not to be carried across fork().
class Store {
 public:
  /// Opens `path`, making missing folders (0700) and the file (0600, whatever the umask; an existing one is
  /// tightened to 0600). An empty file is a new store.
  [[nodiscard]] static Result<Store> open(const std::filesystem::path& path);
  /// For looking only: nullopt where there is no file (or an empty one). Creates and changes nothing; every
  /// put fails.
  [[nodiscard]] static Result<std::optional<Store>> open_existing(const std::filesystem::path& path);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Seals a plan. The same plan again is no change; another text under a stored seal is kInternal.
  [[nodiscard]] Result<void> put_plan(const PlanRow& plan);
  [[nodiscard]] Result<std::optional<PlanRow>> plan(std::string_view seal) const;
  /// The newest plan in state kOpen that asks this question.
  [[nodiscard]] Result<std::optional<PlanRow>> find_open_plan(std::string_view question_hash) const;
  [[nodiscard]] Result<void> set_plan_state(std::string_view seal, PlanState state);

  /// Adds a start of a stored plan, or replaces status, time and payload of the one with its kind and index.
  [[nodiscard]] Result<void> put_start(const StartRow& start);
  /// By kind (speed first), then index.
  [[nodiscard]] Result<std::vector<StartRow>> starts(std::string_view seal) const;

  /// Adds a completed block of a stored start. One that is already there is kInternal: the first one stands.
  [[nodiscard]] Result<void> put_block(const BlockRow& block);
  /// By kind (speed first), start, block.
  [[nodiscard]] Result<std::vector<BlockRow>> blocks(std::string_view seal) const;

  /// Stores (or replaces) the result of a plan, moves the plan to `state` and adds the curve points, all in
  /// one transaction. kOpen keeps an interim result of a plan that goes on.
  [[nodiscard]] Result<void> put_result(const ResultRow& result, PlanState state = PlanState::kComplete,
                                        std::span<const CurvePoint> curve = {});
  /// The result whose seal starts with this, or the newest of all for "". 1 to 7 characters, or a prefix that
  /// several results share, are kUsage.
  [[nodiscard]] Result<std::optional<ResultRow>> latest_result(std::string_view seal_prefix) const;

  /// Adds a point; the same (model, machine, library, cell, arm, seal) again replaces it.
  [[nodiscard]] Result<void> put_curve_point(const CurvePoint& point);
  /// The newest point of each cell and arm: by cell, then limit, unlimited last.
  [[nodiscard]] Result<std::vector<CurvePoint>> curve_points(std::string_view model, std::string_view machine,
                                                             std::string_view library) const;

 private:
  Store(std::unique_ptr<Database> database, std::filesystem::path path);

  std::unique_ptr<Database> database_;
  std::filesystem::path path_;
};

}  // namespace weir::store
