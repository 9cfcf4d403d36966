#include "lab/journal.h"

#include <algorithm>

namespace weir::lab {

namespace {

store::StartKind kind(bool footprint) {
  return footprint ? store::StartKind::kFootprint : store::StartKind::kSpeed;
}

}  // namespace

Result<Journal> Journal::begin(store::Store& store, const Plan& plan, std::int64_t now) {
  Journal journal(store, plan, lab::seal(plan));
  store::PlanRow row;
  row.seal = journal.seal_;
  row.question_hash = question_hash(plan.question);
  row.canonical_json = canonical_json(plan);
  row.binary = plan.question.weir_sha256;
  row.sealed_at = now;
  if (auto put = store.put_plan(row); !put) return tl::unexpected(put.error());
  return journal;
}

Result<std::optional<Journal>> Journal::resume(store::Store& store, const Question& question) {
  auto row = store.find_open_plan(question_hash(question));
  if (!row) return tl::unexpected(row.error());
  if (!*row) return std::nullopt;
  auto plan = plan_from_json((*row)->canonical_json);
  if (!plan) return tl::unexpected(plan.error());
  if (lab::seal(*plan) != (*row)->seal)
    return fail(ErrorKind::kBadData, store.path().string(),
                "holds a plan that does not match its seal " + (*row)->seal.substr(0, 8) +
                    ": start afresh with --new");
  Journal journal(store, std::move(*plan), (*row)->seal);
  if (auto loaded = journal.load(); !loaded) return tl::unexpected(loaded.error());
  return std::optional<Journal>(std::move(journal));
}

Result<void> Journal::load() {
  auto starts = store_->starts(seal_);
  if (!starts) return tl::unexpected(starts.error());
  for (const auto& row : *starts) {
    auto failures = failures_from_json(row.json);
    if (!failures) return tl::unexpected(failures.error());
    if (!failures->messages.empty()) records_.failures.push_back(std::move(*failures));
  }
  auto blocks = store_->blocks(seal_);
  if (!blocks) return tl::unexpected(blocks.error());
  for (const auto& row : *blocks) {
    if (row.kind == store::StartKind::kFootprint) {
      auto record = footprint_from_json(row.json);
      if (!record) return tl::unexpected(record.error());
      records_.footprints.push_back(std::move(*record));
    } else {
      auto record = block_from_json(row.json);
      if (!record) return tl::unexpected(record.error());
      records_.blocks.push_back(std::move(*record));
    }
  }
  return {};
}

bool Journal::has_footprint(int index) const {
  return std::any_of(records_.footprints.begin(), records_.footprints.end(),
                     [&](const auto& record) { return record.index == index; });
}

bool Journal::has_block(int start, int block) const {
  return std::any_of(records_.blocks.begin(), records_.blocks.end(),
                     [&](const auto& record) { return record.start == start && record.block == block; });
}

int Journal::failures(bool footprint, int index) const {
  for (const auto& entry : records_.failures)
    if (entry.footprint == footprint && entry.index == index) return static_cast<int>(entry.messages.size());
  return 0;
}

StartFailures& Journal::failures_of(bool footprint, int index) {
  for (auto& entry : records_.failures)
    if (entry.footprint == footprint && entry.index == index) return entry;
  records_.failures.push_back({footprint, index, {}});
  return records_.failures.back();
}

Result<void> Journal::note_start(bool footprint, int index, const char* status, std::int64_t now) {
  StartFailures known{footprint, index, {}};
  for (const auto& entry : records_.failures)
    if (entry.footprint == footprint && entry.index == index) known = entry;
  return store_->put_start({seal_, kind(footprint), index, status, now, to_json(known)});
}

Result<void> Journal::add(const FootprintRecord& record, std::int64_t now) {
  if (auto noted = note_start(true, record.index, "complete", now); !noted) return noted;
  auto put = store_->put_block({seal_, store::StartKind::kFootprint, record.index, 0, now, to_json(record)});
  if (put) records_.footprints.push_back(record);
  return put;
}

Result<void> Journal::add(const BlockRecord& record, std::int64_t now) {
  const bool last = record.block + 1 == records_per_start(plan_);
  if (auto noted = note_start(false, record.start, last ? "complete" : "running", now); !noted) return noted;
  auto put =
      store_->put_block({seal_, store::StartKind::kSpeed, record.start, record.block, now, to_json(record)});
  if (put) records_.blocks.push_back(record);
  return put;
}

Result<void> Journal::add_failure(bool footprint, int index, const std::string& message, std::int64_t now) {
  auto& entry = failures_of(footprint, index);
  entry.messages.push_back(message.substr(0, 500));
  const bool given_up = static_cast<int>(entry.messages.size()) >= kAttempts;
  return note_start(footprint, index, given_up ? "given up" : "failed", now);
}

}  // namespace weir::lab
