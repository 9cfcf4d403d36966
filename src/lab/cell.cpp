#include "lab/cell.h"

#include <algorithm>

#include "base/child_process.h"
#include "base/file.h"

namespace weir::lab {

namespace {

constexpr std::size_t kLargestCellBytes = 1u << 20;

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names)
    out += (out.empty() ? "" : ", ") + name;
  return out;
}

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || (text.size() > 5 && text.substr(text.size() - 5) == ".toml");
}

}  // namespace

int lengths_available(const Cell& cell) noexcept {
  return cell.longest_prompt_tokens - cell.shortest_prompt_tokens + 1;
}

std::filesystem::path workloads_folder() {
  const std::filesystem::path executable = own_executable();
  return executable.parent_path().parent_path() / "share" / "weir" / "workloads";
}

std::vector<std::string> cell_names(const std::filesystem::path& workloads) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(workloads, ignored))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Result<Cell> load_cell(const std::string& name_or_path, const std::filesystem::path& workloads) {
  std::filesystem::path path = name_or_path;
  if (!is_path(name_or_path)) {
    const auto names = cell_names(workloads);
    if (std::find(names.begin(), names.end(), name_or_path) == names.end())
      return fail(ErrorKind::kUsage, "--workload",
                  "no such cell: " + name_or_path + "; there are: " + joined(names) + " (in " +
                      workloads.string() + "), or give the path of a TOML file");
    path = workloads / (name_or_path + ".toml");
  }
  auto text = read_text(path, kLargestCellBytes);
  if (!text) return tl::unexpected(text.error());
  return parse_cell(*text, path.string(),
                    [&](const std::string& name) { return read_cell_text(path.parent_path(), name); });
}

}  // namespace weir::lab
