#include "ledger/smaps.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "ledger/proc_status.h"

namespace weir::ledger {
namespace {

/// Bounds one mapping, so that sums over all of them cannot overflow.
constexpr std::int64_t kLargestField = std::numeric_limits<std::int64_t>::max() >> 20;

constexpr std::size_t kLargestLine = 64u << 10;

/// Takes the next space-separated word off `rest`.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

bool parse_whole(std::string_view word, std::uint64_t& out, int base) {
  const char* last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, out, base);
  return error == std::errc{} && end == last;
}

/// "start-end perms offset device inode   name"; strings keep their room, so that a long text costs no heap.
bool parse_header(std::string_view line, Mapping& mapping) {
  const std::string_view range = take_word(line);
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return false;
  if (!parse_whole(range.substr(0, dash), mapping.start, 16)) return false;
  if (!parse_whole(range.substr(dash + 1), mapping.end, 16)) return false;
  if (mapping.end <= mapping.start) return false;
  mapping.permissions = take_word(line);
  if (mapping.permissions.size() != 4) return false;
  if (!parse_whole(take_word(line), mapping.offset, 16)) return false;
  if (take_word(line).find(':') == std::string_view::npos) return false;
  if (!parse_whole(take_word(line), mapping.inode, 10)) return false;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.name = line;
  mapping.resident = mapping.anonymous = mapping.private_dirty = mapping.swap = 0;
  return true;
}

std::int64_t* field_of(Mapping& mapping, std::string_view key) {
  if (key == "Rss") return &mapping.resident;
  if (key == "Anonymous") return &mapping.anonymous;
  if (key == "Private_Dirty") return &mapping.private_dirty;
  if (key == "Swap") return &mapping.swap;
  return nullptr;
}

/// "Key:   <number> kB" or any other "Key: …" line of the mapping above it.
bool parse_detail(std::string_view line, Mapping& mapping) {
  const std::size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  const std::string_view key = line.substr(0, colon);
  if (key.find(' ') != std::string_view::npos) return false;
  std::int64_t* field = field_of(mapping, key);
  if (field == nullptr) return true;
  const std::optional<std::int64_t> bytes = kilobyte_line(line, key);
  if (!bytes || *bytes > kLargestField) return false;
  *field = *bytes;
  return true;
}

}  // namespace

Result<void> SmapsReader::take_line(std::string_view line) {
  ++number_;
  if (has_mapping_ && parse_detail(line, mapping_)) return {};
  if (has_mapping_) take_(mapping_);
  has_mapping_ = parse_header(line, mapping_);
  if (!has_mapping_)
    return fail(ErrorKind::kBadData, "/proc/self/smaps",
                "line " + std::to_string(number_) + " is neither a mapping nor 'Key: <number> kB': '" +
                    std::string(line.substr(0, 80)) + "'");
  return {};
}

Result<void> SmapsReader::feed(std::string_view piece) {
  for (std::size_t end = piece.find('\n'); end != std::string_view::npos; end = piece.find('\n')) {
    rest_ += piece.substr(0, end);
    if (Result<void> taken = take_line(rest_); !taken) return taken;
    rest_.clear();
    piece.remove_prefix(end + 1);
  }
  rest_ += piece;
  if (rest_.size() > kLargestLine)
    return fail(
        ErrorKind::kBadData, "/proc/self/smaps",
        "line " + std::to_string(number_ + 1) + " is longer than " + std::to_string(kLargestLine) + " bytes");
  return {};
}

Result<void> SmapsReader::finish() {
  if (!rest_.empty())
    if (Result<void> taken = take_line(rest_); !taken) return taken;
  if (has_mapping_) take_(mapping_);
  has_mapping_ = false;
  return {};
}

Result<std::vector<Mapping>> parse_smaps(std::string_view text) {
  std::vector<Mapping> mappings;
  SmapsReader reader([&](const Mapping& mapping) { mappings.push_back(mapping); });
  if (Result<void> fed = reader.feed(text); !fed) return tl::unexpected(fed.error());
  if (Result<void> ended = reader.finish(); !ended) return tl::unexpected(ended.error());
  return mappings;
}

}  // namespace weir::ledger
