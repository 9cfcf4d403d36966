#include "ledger/smaps.h"

#include <charconv>
#include <limits>
#include <optional>

#include "ledger/proc_status.h"

namespace weir::ledger {
namespace {

/// Bounds one mapping, so that sums over all of them cannot overflow.
constexpr std::int64_t kLargestField = std::numeric_limits<std::int64_t>::max() >> 20;

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

/// "start-end perms offset device inode   name"
std::optional<Mapping> parse_header(std::string_view line) {
  Mapping mapping;
  const std::string_view range = take_word(line);
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  if (!parse_whole(range.substr(0, dash), mapping.start, 16)) return std::nullopt;
  if (!parse_whole(range.substr(dash + 1), mapping.end, 16)) return std::nullopt;
  if (mapping.end <= mapping.start) return std::nullopt;
  mapping.permissions = take_word(line);
  if (mapping.permissions.size() != 4) return std::nullopt;
  if (!parse_whole(take_word(line), mapping.offset, 16)) return std::nullopt;
  if (take_word(line).find(':') == std::string_view::npos) return std::nullopt;
  if (!parse_whole(take_word(line), mapping.inode, 10)) return std::nullopt;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  mapping.name = line;
  return mapping;
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

Result<std::vector<Mapping>> parse_smaps(std::string_view text) {
  std::vector<Mapping> mappings;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!mappings.empty() && parse_detail(line, mappings.back())) continue;
    std::optional<Mapping> mapping = parse_header(line);
    if (!mapping)
      return fail(ErrorKind::kBadData, "/proc/self/smaps",
                  "line " + std::to_string(number) + " is neither a mapping nor 'Key: <number> kB': '" +
                      std::string(line.substr(0, 80)) + "'");
    mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

}  // namespace weir::ledger
