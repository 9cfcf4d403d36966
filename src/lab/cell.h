#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace weir::lab {

/// One request of a workload: a prompt cut to exactly this many tokens, then so many greedy tokens.
struct CellRequest {
  std::string name;
  int prompt_tokens = 0;
  int generate_tokens = 0;
  friend bool operator==(const CellRequest&, const CellRequest&) = default;
};

/// A workload. `footprint` prompts run once each in a fresh process, in order, with no clearing in between.
/// Speed turns draw their lengths from [shortest, longest]: with `repeat` the same lengths in every block,
/// warm and measured alike; without it no length twice in a start (turns of one block share theirs: each
/// begins trimmed).
struct Cell {
  std::string name;
  std::string about;
  std::string text;  ///< Prompts are cut from it; repeated where it is shorter.
  std::vector<CellRequest> footprint;
  bool repeat = false;
  int shortest_prompt_tokens = 0, longest_prompt_tokens = 0;
  int warm_per_turn = 1;  ///< At least; a plan takes more where a turn would not reach the limits.
  int warm_per_turn_at_most = 1;
  int measured_per_turn = 1;
  int warm_generate_tokens = 2, measured_generate_tokens = 8;
  std::string sha256;  ///< Of the file, and of the text's own file where it has one.
};

/// Lengths that one start may use up without repeating one.
[[nodiscard]] int lengths_available(const Cell& cell) noexcept;

/// Gives the text of a file beside the cell, by the name that the cell has for it.
using TextReader = std::function<Result<std::string>(const std::string& name)>;

/// Reads TOML. `where` names the file in errors, which also name the key and the value. Unknown keys are
/// errors. A cell has either `text` or `text_file`; without a reader the second is refused.
[[nodiscard]] Result<Cell> parse_cell(std::string_view toml, const std::string& where,
                                      const TextReader& text_reader = {});

/// Reads a text for a cell in `folder`: a relative path that stays inside the folder (also past links), a
/// regular file of at most 1 MiB, not empty, UTF-8 without control characters but line ends and tabs.
[[nodiscard]] Result<std::string> read_cell_text(const std::filesystem::path& folder,
                                                 const std::string& name);

/// `name_or_path`: a cell of the workloads folder, or the path of a TOML file (it holds a slash or ends in
/// .toml). An unknown name is kUsage and lists what there is.
[[nodiscard]] Result<Cell> load_cell(const std::string& name_or_path, const std::filesystem::path& workloads);

/// share/weir/workloads beside the folder of this executable.
[[nodiscard]] std::filesystem::path workloads_folder();

/// Names of the cells in a folder, sorted.
[[nodiscard]] std::vector<std::string> cell_names(const std::filesystem::path& workloads);

}  // namespace weir::lab
