#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace weir::store {

/// Private to the library. Everything here throws Failure; Store turns that into a Result.

enum class Access { kWrite, kLook };

/// One prepared statement: bind in order, then step. Finalized by the destructor.
class Statement {
 public:
  Statement(sqlite3* handle, const std::filesystem::path& path, std::string_view sql);
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement();

  Statement& bind(std::string_view text);
  Statement& bind(std::int64_t number);
  Statement& bind(const std::optional<std::int64_t>& number);
  /// True when a row stands ready.
  bool step();

  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] std::optional<std::int64_t> optional_number(int column) const;

 private:
  sqlite3* handle_;
  const std::filesystem::path& path_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

/// An open connection of a known schema.
class Database {
 public:
  /// The file exists. Checks it whole, makes or checks the schema.
  Database(const std::filesystem::path& path, Access access);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  void execute(const char* sql);
  [[nodiscard]] Statement prepare(std::string_view sql) { return Statement(handle_, path_, sql); }

 private:
  void connect(Access access);
  void check_integrity();
  void create_schema();
  void check_schema();
  [[nodiscard]] std::int64_t single_number(std::string_view sql);

  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
};

/// Takes the write lock at once; rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Database& database_;
  bool done_ = false;
};

}  // namespace weir::store
