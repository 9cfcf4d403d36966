#include "store/state_dir.h"

#include <sys/stat.h>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "base/file.h"

namespace weir::store {

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

Result<std::filesystem::path> state_dir(const Environment& environment) {
  if (const auto named = environment("WEIR_STATE_DIR")) {
    if (named->empty())
      return fail(ErrorKind::kUsage, "WEIR_STATE_DIR",
                  "empty: ''; unset it or name a folder, for example WEIR_STATE_DIR=/var/tmp/weir");
    std::error_code failed;
    auto folder = std::filesystem::absolute(*named, failed);
    if (failed) return tl::unexpected(system_error(*named, "resolve WEIR_STATE_DIR", failed.value()));
    return folder.lexically_normal();
  }
  const auto xdg = environment("XDG_STATE_HOME");
  if (xdg && !xdg->empty()) {
    if (xdg->front() != '/')
      return fail(ErrorKind::kUsage, "XDG_STATE_HOME",
                  "not an absolute path: '" + *xdg + "'; for example XDG_STATE_HOME=/home/me/.local/state");
    return std::filesystem::path(*xdg) / "weir";
  }
  const auto home = environment("HOME");
  if (!home || home->empty() || home->front() != '/')
    return fail(ErrorKind::kEnvironment, "HOME",
                "no home folder to keep the store in; set WEIR_STATE_DIR to a folder that can be written");
  return std::filesystem::path(*home) / ".local" / "state" / "weir";
}

std::filesystem::path store_path(const std::filesystem::path& state_folder) {
  return state_folder / "weir.db";
}

Result<void> make_private_folders(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> missing;
  std::error_code ignored;
  for (auto part = folder; !part.empty() && !std::filesystem::exists(part, ignored);
       part = part.parent_path()) {
    missing.push_back(part);
    if (part == part.parent_path()) break;
  }
  for (auto part = missing.rbegin(); part != missing.rend(); ++part) {
    // A name that ends in a slash leaves an empty last part, which mkdir sees as its parent again.
    if (::mkdir(part->c_str(), 0700) == 0) {
      (void)::chmod(part->c_str(), 0700);  // The umask may have taken our own bits.
    } else if (errno != EEXIST) {
      Error error = system_error(*part, "make the folder", errno);
      if (error.kind == ErrorKind::kEnvironment)
        error.message += "; set WEIR_STATE_DIR to a folder that can be written";
      return tl::unexpected(std::move(error));
    }
  }
  return {};
}

}  // namespace weir::store
