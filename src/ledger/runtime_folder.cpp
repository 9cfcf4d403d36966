#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/owned_fd.h"
#include "ledger/governed_page.h"

namespace weir::ledger {
namespace {

constexpr const char* kOwnVariable = "WEIR_RUNTIME_DIR";
constexpr const char* kElsewhere = ", or set WEIR_RUNTIME_DIR to a folder of your own";

/// The path as one word of a shell.
std::string quoted(const std::string& path) {
  std::string out = "'";
  for (const char c : path)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Error refused(const std::string& path, std::string what) {
  return {ErrorKind::kEnvironment, path, std::move(what)};
}

Result<std::filesystem::path> chosen_path() {
  if (const char* own = std::getenv(kOwnVariable)) {
    if (*own != '/')
      return fail(ErrorKind::kUsage, kOwnVariable,
                  "not an absolute path: '" + std::string(own) +
                      "'; write one, such as /tmp/weir-mine, or "
                      "unset the variable");
    return std::filesystem::path(own);
  }
  const char* session = std::getenv("XDG_RUNTIME_DIR");
  if (session != nullptr && *session == '/') return std::filesystem::path(session) / "weir";
  return std::filesystem::path("/tmp/weir-" + std::to_string(::geteuid()));
}

Error cannot_make(const std::filesystem::path& path, int error) {
  const std::string parent = path.parent_path().string();
  std::string what = std::string("cannot make this folder for pages and sockets: ") + std::strerror(error);
  if (error == ENOENT) what += "; mkdir -p " + quoted(parent);
  if (error == ENOSPC || error == EDQUOT) what += "; free some space there";
  return refused(path.string(), what + (error == ENOENT || error == ENOSPC || error == EDQUOT
                                            ? kElsewhere
                                            : "; set WEIR_RUNTIME_DIR to a folder of your own"));
}

/// Nothing where the folder may be used: a directory itself, ours, and closed to everybody else.
Result<void> check(const std::string& path) {
  const OwnedFd fd(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0)
    return tl::unexpected(refused(path, std::string("cannot look at it: ") + std::strerror(errno) +
                                            "; set WEIR_RUNTIME_DIR to a folder of your own"));
  if (S_ISLNK(status.st_mode))
    return tl::unexpected(refused(path, "a symbolic link, which may lead into somebody else's folder; rm " +
                                            quoted(path) + kElsewhere));
  if (!S_ISDIR(status.st_mode))
    return tl::unexpected(refused(path, "not a folder; rm " + quoted(path) + kElsewhere));
  if (status.st_uid != ::geteuid())
    return tl::unexpected(refused(path, "belongs to user " + std::to_string(status.st_uid) +
                                            ", not to you (" + std::to_string(::geteuid()) +
                                            "); set WEIR_RUNTIME_DIR to a folder of your own"));
  if ((status.st_mode & 0777) != 0700) {
    char mode[8];
    std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(status.st_mode & 0777));
    return tl::unexpected(
        refused(path, std::string("its mode is ") + mode + " instead of 0700; chmod 700 " + quoted(path)));
  }
  return {};
}

}  // namespace

Result<std::filesystem::path> runtime_folder() {
  const Result<std::filesystem::path> chosen = chosen_path();
  if (!chosen) return chosen;
  std::filesystem::path path = *chosen;
  while (!path.has_filename() && path.has_relative_path())
    path = path.parent_path();  // a slash at the end would follow a link
  if (::mkdir(path.c_str(), 0700) == 0) {
    ::chmod(path.c_str(), 0700);  // whatever the umask took
  } else if (errno != EEXIST) {
    return tl::unexpected(cannot_make(path, errno));
  }
  if (Result<void> fit = check(path.string()); !fit) return tl::unexpected(std::move(fit.error()));
  return path;
}

}  // namespace weir::ledger
