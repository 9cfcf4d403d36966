#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/plan.h"
#include "lab/records.h"
#include "store/store.h"

namespace weir::lab {

/// The records of one sealed plan in the store: each is on the disk before `add` returns, whole or not at
/// all, so that an experiment killed at any moment goes on where it was.
class Journal {
 public:
  /// Seals a new plan.
  [[nodiscard]] static Result<Journal> begin(store::Store& store, const Plan& plan, std::int64_t now);
  /// The newest unfinished plan of this question, with what it has measured; nullopt: there is none.
  [[nodiscard]] static Result<std::optional<Journal>> resume(store::Store& store, const Question& question);

  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const std::string& seal() const noexcept { return seal_; }
  [[nodiscard]] const Records& records() const noexcept { return records_; }

  [[nodiscard]] bool has_footprint(int index) const;
  [[nodiscard]] bool has_block(int start, int block) const;
  [[nodiscard]] int failures(bool footprint, int index) const;

  [[nodiscard]] Result<void> add(const FootprintRecord& record, std::int64_t now);
  [[nodiscard]] Result<void> add(const BlockRecord& record, std::int64_t now);
  [[nodiscard]] Result<void> add_failure(bool footprint, int index, const std::string& message,
                                         std::int64_t now);

 private:
  Journal(store::Store& store, Plan plan, std::string seal)
      : store_(&store), plan_(std::move(plan)), seal_(std::move(seal)) {}
  [[nodiscard]] Result<void> load();
  [[nodiscard]] Result<void> note_start(bool footprint, int index, const char* status, std::int64_t now);
  StartFailures& failures_of(bool footprint, int index);

  store::Store* store_;
  Plan plan_;
  std::string seal_;
  Records records_;
};

}  // namespace weir::lab
