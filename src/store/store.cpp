#include "store/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <cerrno>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/owned_fd.h"
#include "store/database.h"
#include "store/guarded.h"
#include "store/plan_state.h"
#include "store/state_dir.h"

namespace weir::store {
namespace {

PlanState plan_state(std::string_view text) {
  if (text == "complete") return PlanState::kComplete;
  return text == "void" ? PlanState::kVoid : PlanState::kOpen;
}

constexpr std::string_view kPlanColumns =
    "SELECT seal, question_hash, canonical_json, binary, sealed_at, state FROM plans ";

std::optional<PlanRow> read_plan(Statement& statement) {
  if (!statement.step()) return std::nullopt;
  return PlanRow{statement.text(0), statement.text(1),   statement.text(2),
                 statement.text(3), statement.number(4), plan_state(statement.text(5))};
}

/// Makes the file if there is none. An existing one is not opened: closing it here would drop the locks that
/// another connection of this process holds on it.
void make_private_file(const std::filesystem::path& path) {
  const OwnedFd created(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!created && errno != EEXIST) {
    Error error = system_error(path, "create the store", errno);
    if (error.kind == ErrorKind::kEnvironment)
      error.message += "; set WEIR_STATE_DIR to a folder that can be written";
    throw Failure(std::move(error));
  }
  if (created) ::fchmod(created.get(), 0600);  // The umask may have taken our own bits.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw Failure(system_error(path, "stat", errno));
  if (!S_ISREG(status.st_mode))
    throw Failure({ErrorKind::kBadData, path.string(),
                   "not a regular file; move it away or set WEIR_STATE_DIR to another folder"});
  // Another owner's file stays as it is; whether it can be used shows when it is opened.
  if ((status.st_mode & 077) != 0) (void)::chmod(path.c_str(), 0600);
}

}  // namespace

std::string_view word(PlanState state) {
  switch (state) {
    case PlanState::kComplete:
      return "complete";
    case PlanState::kVoid:
      return "void";
    case PlanState::kOpen:
      break;
  }
  return "open";
}

void update_plan_state(Database& database, const std::filesystem::path& path, std::string_view seal,
                       PlanState state) {
  Statement update = database.prepare("UPDATE plans SET state = ? WHERE seal = ? RETURNING seal");
  if (!update.bind(word(state)).bind(seal).step())
    throw Failure({ErrorKind::kInternal, path.string(), "no plan with the seal " + std::string(seal)});
  while (update.step()) {
  }
}

Store::Store(std::unique_ptr<Database> database, std::filesystem::path path)
    : database_(std::move(database)), path_(std::move(path)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path) {
  if (auto made = make_private_folders(path.parent_path()); !made) return tl::unexpected(made.error());
  return guarded([&] {
    make_private_file(path);
    return Store(std::make_unique<Database>(path, Access::kWrite), path);
  });
}

Result<std::optional<Store>> Store::open_existing(const std::filesystem::path& path) {
  return guarded([&]() -> std::optional<Store> {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      if (errno == ENOENT) return std::nullopt;
      throw Failure(system_error(path, "read the store", errno));
    }
    if (S_ISREG(status.st_mode) && status.st_size == 0) return std::nullopt;
    return Store(std::make_unique<Database>(path, Access::kLook), path);
  });
}

Result<void> Store::put_plan(const PlanRow& plan) {
  return guarded([&] {
    Transaction transaction(*database_);
    Statement insert = database_->prepare(
        "INSERT INTO plans (seal, question_hash, canonical_json, binary, sealed_at, state) VALUES (?, ?, ?, "
        "?, ?, ?) "
        "ON CONFLICT (seal) DO NOTHING");
    insert.bind(plan.seal).bind(plan.question_hash).bind(plan.canonical_json).bind(plan.binary);
    insert.bind(plan.sealed_at).bind(word(plan.state)).step();
    Statement stored = database_->prepare("SELECT canonical_json FROM plans WHERE seal = ?");
    stored.bind(plan.seal).step();
    if (stored.text(0) != plan.canonical_json)
      throw Failure(
          {ErrorKind::kInternal, path_.string(), "another plan is stored under the seal " + plan.seal});
    transaction.commit();
  });
}

Result<std::optional<PlanRow>> Store::plan(std::string_view seal) const {
  return guarded([&] {
    Statement select = database_->prepare(std::string(kPlanColumns) + "WHERE seal = ?");
    select.bind(seal);
    return read_plan(select);
  });
}

Result<std::optional<PlanRow>> Store::find_open_plan(std::string_view question_hash) const {
  return guarded([&] {
    Statement select = database_->prepare(
        std::string(kPlanColumns) +
        "WHERE question_hash = ? AND state = 'open' ORDER BY sealed_at DESC, rowid DESC LIMIT 1");
    select.bind(question_hash);
    return read_plan(select);
  });
}

Result<void> Store::set_plan_state(std::string_view seal, PlanState state) {
  return guarded([&] {
    Transaction transaction(*database_);
    update_plan_state(*database_, path_, seal, state);
    transaction.commit();
  });
}

}  // namespace weir::store
