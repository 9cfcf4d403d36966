#pragma once

#include <sys/types.h>
#include <filesystem>
#include <functional>

#include "wire/counters_page.h"

namespace weir::ledger {

/// A forked child that has run `body` when the constructor returns, and then waits. Killed and reaped by the
/// destructor.
class GovernedChild {
 public:
  explicit GovernedChild(const std::function<void()>& body);
  GovernedChild(const GovernedChild&) = delete;
  GovernedChild& operator=(const GovernedChild&) = delete;
  ~GovernedChild();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Kills it and leaves it unreaped.
  void kill();
  void reap();

 private:
  pid_t pid_ = -1;
  bool is_reaped_ = false;
};

/// A folder below /tmp with mode 0700, removed with all it holds.
class PagesFolder {
 public:
  PagesFolder();
  PagesFolder(const PagesFolder&) = delete;
  PagesFolder& operator=(const PagesFolder&) = delete;
  ~PagesFolder();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Writes a file of these bytes, padded with zeros to `size`.
  void put(const std::string& name, const std::string& bytes, std::size_t size = wire::kPageBytes) const;

 private:
  std::filesystem::path path_;
};

/// The bytes of a page that `fill` has changed.
[[nodiscard]] std::string page_bytes(const std::function<void(wire::CountersPage&)>& fill);

}  // namespace weir::ledger
