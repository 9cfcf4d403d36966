#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace weir::ledger {

/// One mapping of /proc/PID/smaps; sizes in bytes. A line that the kernel does not print counts 0.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::string permissions;   ///< "rw-p"
  std::uint64_t offset = 0;  ///< Where in its file it starts.
  std::uint64_t inode = 0;   ///< 0: no file behind it.
  std::string name;          ///< A path, "[heap]", "[stack]", "[anon:…]", or "" .
  std::int64_t resident = 0;
  std::int64_t anonymous = 0;
  std::int64_t private_dirty = 0;
  std::int64_t swap = 0;

  [[nodiscard]] std::uint64_t size() const noexcept { return end - start; }
  [[nodiscard]] bool is_private() const noexcept { return permissions[3] == 'p'; }
  [[nodiscard]] bool is_unnamed() const noexcept { return inode == 0 && name.empty(); }
  /// What this mapping adds to RssAnon + VmSwap.
  [[nodiscard]] std::int64_t held() const noexcept { return is_private() ? anonymous + swap : 0; }
};

/// Takes smaps apart piece by piece, as a process reads its own: bounded memory, whatever the text's length.
/// Pieces end anywhere. A line that is neither a mapping nor "Key: …", or longer than 64 KiB, is kBadData
/// with its number. Not thread-safe.
class SmapsReader {
 public:
  /// Called for each mapping, in order, once all of its lines are read.
  using Take = std::function<void(const Mapping&)>;
  explicit SmapsReader(Take take) : take_(std::move(take)) {}

  [[nodiscard]] Result<void> feed(std::string_view piece);
  /// The text ends here.
  [[nodiscard]] Result<void> finish();

 private:
  Result<void> take_line(std::string_view line);

  Take take_;
  Mapping mapping_;
  bool has_mapping_ = false;
  std::size_t number_ = 0;
  std::string rest_;  // of a line whose end has not come
};

/// All mappings in the order of the text. Unknown keys are skipped, because kernels add some; a line that is
/// neither a mapping nor "Key: …" is kBadData with its line number. An empty text is an empty list. Pure.
[[nodiscard]] Result<std::vector<Mapping>> parse_smaps(std::string_view text);

}  // namespace weir::ledger
