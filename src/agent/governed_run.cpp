#include "agent/governed_run.h"

#include <unistd.h>
#include <fstream>
#include <sstream>

namespace weir::agent {

wire::AgentSettings GovernedRun::settings() {
  wire::AgentSettings settings;
  settings.run = static_cast<std::uint64_t>(::getpid());
  return settings;
}

Ran GovernedRun::run(const std::vector<std::string>& argv, const wire::AgentSettings& settings) const {
  char text[wire::kSettingsTextBytes];
  const std::size_t length = wire::print_settings(settings, text);
  return run_with_text(argv, std::string(text, length));
}

Ran GovernedRun::run_with_text(const std::vector<std::string>& argv,
                               const std::optional<std::string>& text) const {
  std::vector<std::string> variables = {"LD_PRELOAD=" WEIR_BINARY_DIR "/lib/libweir_agent.so",
                                        std::string(wire::kPagesVariable) + "=" + folder_.string()};
  if (text) variables.push_back(std::string(wire::kAgentVariable) + "=" + *text);
  return run_child(argv, variables);
}

std::vector<ledger::PageReading> GovernedRun::pages() const {
  return ledger::read_pages(folder_, std::nullopt);
}

std::string GovernedRun::write_script(const char* name, const char* text) const {
  std::ofstream(folder_ / name) << text;
  return folder_ / name;
}

int weir_lines(const Ran& ran) {
  std::istringstream lines(ran.err);
  int count = 0;
  for (std::string line; std::getline(lines, line);)
    count += line.starts_with("weir: ") ? 1 : 0;
  return count;
}

std::optional<std::string> python_with_mlx() {
  const std::filesystem::path mlx = WEIR_MLX_ROOT;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(mlx, error)) {
    if (entry.path().filename().string().starts_with("core.")) return WEIR_SOURCE_DIR "/.venv/bin/python";
  }
  return std::nullopt;
}

}  // namespace weir::agent
