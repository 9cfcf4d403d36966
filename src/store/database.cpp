#include "store/database.h"

#include <unistd.h>
#include <cerrno>
#include <string>

#include <sqlite3.h>

#include "store/schema.h"

namespace weir::store {
namespace {

constexpr int kBusyMilliseconds = 10'000;

bool disk_is_full(int code, int system_error) {
  return (code & 0xff) == SQLITE_FULL || system_error == ENOSPC || system_error == EDQUOT;
}

std::string move_away(const std::filesystem::path& path) {
  return "; move it away (mv '" + path.string() + "' '" + path.string() +
         ".damaged'), the next run starts a new one";
}

/// What the last call on this connection failed with.
Error sqlite_error(sqlite3* handle, const std::filesystem::path& path, int code) {
  const int system_error = handle != nullptr ? sqlite3_system_errno(handle) : 0;
  const std::string text = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  const std::string where = path.string();
  const int primary = code & 0xff;
  // Only where a file operation failed does the connection's errno belong to this failure.
  const bool of_file = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
  if (disk_is_full(code, of_file ? system_error : 0))
    return {
        ErrorKind::kNoRoom, where,
        "the disk is full, nothing of this step was stored; free some space there or set WEIR_STATE_DIR to "
        "another folder"};
  switch (primary) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorKind::kBadData, where, "the store is damaged: " + text + move_away(path)};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_IOERR:
      return {
          ErrorKind::kEnvironment, where,
          "cannot read or write the store: " + text + "; set WEIR_STATE_DIR to a folder that can be written"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorKind::kEnvironment, where,
              "another process held the store for over " + std::to_string(kBusyMilliseconds / 1000) +
                  " s; wait for it or set WEIR_STATE_DIR to another folder"};
    case SQLITE_NOMEM:
      return {ErrorKind::kNoRoom, where, "out of memory"};
    default:
      return {ErrorKind::kInternal, where, "the store refuses: " + text};
  }
}

}  // namespace

Statement::Statement(sqlite3* handle, const std::filesystem::path& path, std::string_view sql)
    : handle_(handle), path_(path) {
  const int code = sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  if (code != SQLITE_OK) throw Failure(sqlite_error(handle, path, code));
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::bind(std::string_view text) {
  // An empty view may carry a null pointer, which SQLite would read as NULL.
  const char* data = text.empty() ? "" : text.data();
  const int code =
      sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) throw Failure(sqlite_error(handle_, path_, code));
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  const int code = sqlite3_bind_int64(statement_, ++bound_, number);
  if (code != SQLITE_OK) throw Failure(sqlite_error(handle_, path_, code));
  return *this;
}

Statement& Statement::bind(const std::optional<std::int64_t>& number) {
  if (number) return bind(*number);
  ++bound_;  // A parameter that nothing was bound to is NULL.
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  throw Failure(sqlite_error(handle_, path_, code));
}

std::string Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (data == nullptr) return "";
  return std::string(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::optional<std::int64_t> Statement::optional_number(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return number(column);
}

Database::Database(const std::filesystem::path& path, Access access) : path_(path) {
  try {
    connect(access);
    check_integrity();
    if (access == Access::kWrite) create_schema();
    check_schema();
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() {
  sqlite3_close(handle_);
}

void Database::connect(Access access) {
  // Looking also opens for writing where it may: a writer that was killed leaves a journal that must be
  // rolled back.
  const int code =
      sqlite3_open_v2(path_.c_str(), &handle_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) throw Failure(sqlite_error(handle_, path_, code));
  const auto folder = path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  // A rollback journal stands beside the file, so the folder must be writable too.
  if (access == Access::kWrite &&
      (sqlite3_db_readonly(handle_, "main") == 1 || ::access(folder.c_str(), W_OK) != 0))
    throw Failure({ErrorKind::kEnvironment, path_.string(),
                   "the store cannot be written here; set WEIR_STATE_DIR to a folder that can be written"});
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, kBusyMilliseconds);
  // A rollback journal needs no shared memory and leaves one file; EXTRA syncs its folder too, so that a
  // commit outlives a power cut.
  execute("PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY");
  execute(access == Access::kLook ? "PRAGMA query_only = ON"
                                  : "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA");
}

void Database::execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throw Failure(sqlite_error(handle_, path_, code));
}

std::int64_t Database::single_number(std::string_view sql) {
  Statement statement = prepare(sql);
  return statement.step() ? statement.number(0) : 0;
}

void Database::check_integrity() {
  Statement check = prepare("PRAGMA quick_check(1)");
  const std::string found = check.step() ? check.text(0) : "no answer";
  if (found != "ok")
    throw Failure({ErrorKind::kBadData, path_.string(), "the store is damaged: " + found + move_away(path_)});
}

void Database::create_schema() {
  if (single_number("SELECT count(*) FROM sqlite_schema") != 0) return;
  Transaction transaction(*this);
  // Another process may have been first.
  if (single_number("SELECT count(*) FROM sqlite_schema") != 0) return;
  execute(kSchema);
  execute(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
  prepare("INSERT INTO schema_version VALUES (?)").bind(std::int64_t{kSchemaVersion}).step();
  transaction.commit();
}

void Database::check_schema() {
  if (single_number("PRAGMA application_id") != kApplicationId)
    throw Failure({ErrorKind::kBadData, path_.string(),
                   "an SQLite file of another program; set WEIR_STATE_DIR to another folder"});
  const std::int64_t version = single_number("SELECT version FROM schema_version");
  if (version != kSchemaVersion)
    throw Failure({ErrorKind::kBadData, path_.string(),
                   "the store has schema version " + std::to_string(version) + ", this weir knows version " +
                       std::to_string(kSchemaVersion) +
                       "; use the weir that wrote it or set WEIR_STATE_DIR to another folder"});
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (done_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const Failure&) {
    // SQLite has rolled back by itself, as it does when the disk is full.
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  done_ = true;
}

}  // namespace weir::store
