#include "cli/machine_name.h"

#include <fstream>
#include <thread>

#include <fmt/format.h>

namespace weir::cli {

std::string machine_name() {
  std::ifstream in("/proc/cpuinfo");
  std::string line, name = "unknown processor";
  while (std::getline(in, line)) {
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos) {
      name = line.substr(line.find(": ") + 2);
      break;
    }
  }
  return fmt::format("{}, {} cores", name, std::thread::hardware_concurrency());
}

}  // namespace weir::cli
