#include <algorithm>
#include <initializer_list>
#include <set>
#include <sstream>

#include <toml++/toml.h>

#include "base/sha256.h"
#include "lab/cell.h"
#include "limits/toml_text.h"

namespace weir::lab {

namespace {

constexpr int kLongestPrompt = 65'536;

/// The first error wins; getters then return empty values.
class CellReader {
 public:
  CellReader(const toml::table& table, std::string prefix, std::string where, std::optional<Error>& error)
      : table_(table), prefix_(std::move(prefix)), where_(std::move(where)), error_(error) {}

  void refuse(const std::string& key, const std::string& what) {
    if (!error_) error_ = Error{ErrorKind::kBadData, where_, "key " + prefix_ + key + " " + what};
  }

  [[nodiscard]] bool failed() const { return error_.has_value(); }

  std::string text(const std::string& key) {
    const auto value = table_[key].value_exact<std::string>();
    if (!value || value->empty()) refuse(key, "must be a text that is not empty" + shown(key));
    return value.value_or("");
  }

  int integer(const std::string& key, int low, int high, std::optional<int> otherwise = std::nullopt) {
    if (!table_.contains(key) && otherwise) return *otherwise;
    const auto value = table_[key].value_exact<std::int64_t>();
    if (!value || *value < low || *value > high) {
      refuse(key,
             "must be an integer from " + std::to_string(low) + " to " + std::to_string(high) + shown(key));
      return low;
    }
    return static_cast<int>(*value);
  }

  bool boolean(const std::string& key) {
    if (!table_.contains(key)) return false;
    const auto value = table_[key].value_exact<bool>();
    if (!value) refuse(key, "must be true or false" + shown(key));
    return value.value_or(false);
  }

  std::vector<int> lengths(const std::string& key) {
    std::vector<int> out;
    const auto* array = table_[key].as_array();
    if (array == nullptr || array->empty() || array->size() > 256) {
      refuse(key, "must be a list of 1 to 256 prompt lengths" + shown(key));
      return out;
    }
    for (const auto& item : *array) {
      const auto value = item.value_exact<std::int64_t>();
      if (!value || *value < 1 || *value > kLongestPrompt) {
        refuse(key, "must hold integers from 1 to 65536" + shown(key));
        return {};
      }
      out.push_back(static_cast<int>(*value));
    }
    return out;
  }

  void only(std::initializer_list<const char*> known) {
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (std::none_of(known.begin(), known.end(), [&](const char* k) { return name == k; }))
        refuse(name, "is not a key of a cell");
    }
  }

 private:
  [[nodiscard]] std::string shown(const std::string& key) const {
    if (!table_.contains(key)) return "; it is missing";
    std::ostringstream out;
    out.imbue(std::locale::classic());
    out << table_[key];
    return ": " + out.str().substr(0, 60);
  }

  const toml::table& table_;
  std::string prefix_, where_;
  std::optional<Error>& error_;
};

const toml::table& part(const toml::table& root, const char* key) {
  static const toml::table none;
  const auto* table = root[key].as_table();
  return table != nullptr ? *table : none;
}

void read_footprint(const toml::table& root, const std::string& where, std::optional<Error>& error,
                    Cell& cell) {
  CellReader reader(part(root, "footprint"), "footprint.", where, error);
  reader.only({"prompt_tokens", "generate_tokens"});
  const auto lengths = reader.lengths("prompt_tokens");
  const int generate = reader.integer("generate_tokens", 1, 4096);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    cell.footprint.push_back({cell.name + "/footprint/" + std::to_string(i), lengths[i], generate});
}

void read_speed(const toml::table& root, const std::string& where, std::optional<Error>& error, Cell& cell) {
  CellReader reader(part(root, "speed"), "speed.", where, error);
  reader.only({"shortest_prompt_tokens", "longest_prompt_tokens", "repeat", "warm_per_turn",
               "warm_per_turn_at_most", "measured_per_turn", "warm_generate_tokens", "generate_tokens"});
  cell.shortest_prompt_tokens = reader.integer("shortest_prompt_tokens", 1, kLongestPrompt);
  cell.longest_prompt_tokens = reader.integer("longest_prompt_tokens", 1, kLongestPrompt);
  cell.repeat = reader.boolean("repeat");
  cell.warm_per_turn = reader.integer("warm_per_turn", 1, 16, 1);
  cell.warm_per_turn_at_most =
      reader.integer("warm_per_turn_at_most", cell.warm_per_turn, 16, cell.warm_per_turn);
  cell.measured_per_turn = reader.integer("measured_per_turn", 1, 16, 1);
  cell.warm_generate_tokens = reader.integer("warm_generate_tokens", 1, 4096, 2);
  cell.measured_generate_tokens = reader.integer("generate_tokens", 2, 4096);
  if (cell.longest_prompt_tokens < cell.shortest_prompt_tokens)
    reader.refuse("longest_prompt_tokens",
                  "must not lie below shortest_prompt_tokens: " + std::to_string(cell.longest_prompt_tokens));
  if (!cell.repeat && lengths_available(cell) < cell.warm_per_turn_at_most + cell.measured_per_turn)
    reader.refuse("longest_prompt_tokens",
                  "leaves fewer lengths than one block uses: " + std::to_string(cell.longest_prompt_tokens));
}

Result<toml::table> parse_table(std::string_view text, const std::string& where) {
  if (const auto fault = limits::toml_fault(text))
    return fail(ErrorKind::kBadData, where, "line " + std::to_string(fault->line) + ": " + fault->what);
  try {
    return toml::parse(text, where);
  } catch (const toml::parse_error& problem) {
    return fail(
        ErrorKind::kBadData, where,
        "line " + std::to_string(problem.source().begin.line) + ": " + std::string(problem.description()));
  }
}

std::string text_from_file(const toml::table& root, CellReader& reader, const TextReader& text_reader) {
  if (root.contains("text")) reader.refuse("text_file", "stands beside text: give one of them");
  const std::string name = reader.text("text_file");
  if (!text_reader)
    reader.refuse("text_file", "needs a folder to read from, and this cell has none: " + name);
  if (reader.failed()) return "";
  auto text = text_reader(name);
  if (!text) reader.refuse("text_file", describe(text.error()));
  return text.value_or("");
}

}  // namespace

Result<Cell> parse_cell(std::string_view toml, const std::string& where, const TextReader& text_reader) {
  if (toml.size() > (1u << 20)) return fail(ErrorKind::kBadData, where, "a cell is at most 1 MiB");
  auto root = parse_table(toml, where);
  if (!root) return tl::unexpected(root.error());
  std::optional<Error> error;
  CellReader reader(*root, "", where, error);
  reader.only({"name", "about", "text", "text_file", "footprint", "speed"});
  Cell cell;
  cell.name = reader.text("name");
  cell.about = reader.text("about");
  if (root->contains("text_file"))
    cell.text = text_from_file(*root, reader, text_reader);
  else
    cell.text = reader.text("text");
  if (cell.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") != std::string::npos)
    reader.refuse("name", "must be lower-case letters, digits, - and _: " + cell.name);
  read_footprint(*root, where, error, cell);
  read_speed(*root, where, error, cell);
  if (error) return tl::unexpected(*error);
  // A NUL stands in no TOML: no two pairs of file and text join to the same bytes.
  cell.sha256 =
      sha256_hex(root->contains("text_file") ? std::string(toml) + '\0' + cell.text : std::string(toml));
  return cell;
}

}  // namespace weir::lab
