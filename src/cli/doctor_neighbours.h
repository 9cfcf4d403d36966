#pragma once

#include <sys/types.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace weir::cli {

/// A process, by number and name.
struct NamedProcess {
  pid_t pid = 0;
  std::string name;
};

/// Others that have a say in memory beside weir, as far as anybody may look.
struct Neighbours {
  std::vector<std::string> preloaded;  ///< What /etc/ld.so.preload puts into every program.
  std::vector<NamedProcess> killers;   ///< Daemons that end processes before the kernel would.
};

/// Reads below `root` (tests pass a made-up tree); at most 100,000 processes.
[[nodiscard]] Neighbours neighbours(const std::filesystem::path& root = "/");

/// The library names in the value of LD_PRELOAD or in ld.so.preload: separated by colons or white space;
/// behind a # to the end of the line is a comment, in the file alone. Pure.
[[nodiscard]] std::vector<std::string> preload_names(std::string_view text, bool is_file);

/// "jemalloc", "tcmalloc", … for a library that replaces malloc; "" for any other. Pure.
[[nodiscard]] std::string allocator_in(std::string_view library);

}  // namespace weir::cli
