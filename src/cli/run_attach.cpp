#include "cli/run_attach.h"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include "base/child_process.h"
#include "base/file.h"
#include "cli/elf_head.h"
#include "limits/size.h"

namespace weir::cli {
namespace {

constexpr int kMostInterpreters = 5;  // as many as the kernel follows
constexpr std::size_t kFirstLineBytes = 256;
constexpr const char* kUngoverned = "--best-effort runs it ungoverned";

using Path = std::filesystem::path;

bool is_executable_file(const Path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

Error not_startable(const std::string& word, std::string what) {
  return {ErrorKind::kEnvironment, word, std::move(what)};
}

/// `word` holds a slash: it is a path, and PATH has no say.
Result<Path> path_itself(const std::string& word) {
  struct stat status {};
  if (::stat(word.c_str(), &status) != 0) return tl::unexpected(system_error(word, "start", errno));
  if (S_ISDIR(status.st_mode)) return tl::unexpected(not_startable(word, "a folder, not a program"));
  if (!is_executable_file(word))
    return tl::unexpected(not_startable(word, "not executable; chmod +x it, or name its interpreter first"));
  return Path(word);
}

Result<Path> on_path(const std::string& word, const limits::Variables& variables) {
  const auto found = variables.find("PATH");
  const std::string path = found == variables.end() ? "/bin:/usr/bin" : found->second;
  std::string refused;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    const std::string folder = end == at ? "." : path.substr(at, end - at);
    const Path candidate = Path(folder) / word;
    if (is_executable_file(candidate)) return candidate;
    std::error_code ignored;
    if (refused.empty() && std::filesystem::is_regular_file(candidate, ignored)) refused = candidate.string();
    at = end + 1;
  }
  if (!refused.empty())
    return tl::unexpected(
        not_startable(refused, "not executable; chmod +x it, or name its interpreter first"));
  return tl::unexpected(not_startable(
      word.empty() ? "weir run" : word,
      word.empty() ? "the command is an empty word" : "no program of this name in any folder of PATH"));
}

Result<Path> look_up(const std::string& word, const limits::Variables& variables) {
  return word.find('/') != std::string::npos ? path_itself(word) : on_path(word, variables);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = text.find_first_not_of(" \t", at);
    if (start == std::string_view::npos) break;
    at = std::min(text.find_first_of(" \t", start), text.size());
    words.emplace_back(text.substr(start, at - start));
  }
  return words;
}

/// The program behind `#!/usr/bin/env [-S] [NAME=VALUE…] PROGRAM`; "" where there is none.
std::string behind_env(const std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i)
    if (words[i][0] != '-' && words[i].find('=') == std::string::npos) return words[i];
  return "";
}

/// The interpreter that a script's first line names; nullopt: `file` is an ELF file, or cannot be read.
Result<std::optional<Path>> interpreter(const Path& file, const limits::Variables& variables) {
  const std::string head = file_head(file, kFirstLineBytes);
  if ((head.empty() && ::access(file.c_str(), R_OK) != 0) || head.rfind("\x7f"
                                                                        "ELF",
                                                                        0) == 0)
    return std::optional<Path>();
  // execvp gives what is neither to the shell.
  if (head.rfind("#!", 0) != 0) return std::optional<Path>("/bin/sh");
  const std::vector<std::string> words = words_of(std::string_view(head).substr(2, head.find('\n') - 2));
  if (words.empty()) return std::optional<Path>("/bin/sh");
  std::string named = words[0];
  if (const std::string program = behind_env(words); Path(named).filename() == "env" && !program.empty())
    named = program;
  auto found = look_up(named, variables);
  if (!found) {
    found.error().where = file.string();
    found.error().message = "its first line names " + limits::shown(named) + ", which cannot be started";
    return tl::unexpected(std::move(found.error()));
  }
  return std::optional<Path>(std::move(*found));
}

/// Whether executing it changes who we are; then the dynamic linker forgets LD_PRELOAD.
std::optional<std::string> privileged(const Path& file) {
  struct stat status {};
  struct statvfs mount {};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  const bool forbidden = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
                         (::statvfs(file.c_str(), &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0);
  if (forbidden) return std::nullopt;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid()) return "is set-user-ID";
  const bool group = (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
  if (group && status.st_gid != ::getgid()) return "is set-group-ID";
  if (::getuid() != 0 && ::getxattr(file.c_str(), "security.capability", nullptr, 0) > 0)
    return "has file capabilities";
  return std::nullopt;
}

std::optional<std::string> unlike_us(const ElfHead& program, const ElfHead& self) {
  if (!program.is_elf) return "is no ELF program";
  if (program.bits != self.bits)
    return fmt::format("is a {}-bit program, weir's agent is {}-bit", program.bits, self.bits);
  if (program.machine != self.machine || program.little_endian != self.little_endian)
    return "is for another machine";
  if (program.interpreter.empty()) return "is linked statically";
  if (Path(program.interpreter).filename() != Path(self.interpreter).filename())
    return "uses another C library (" + program.interpreter + ")";
  return std::nullopt;
}

}  // namespace

Result<FoundProgram> find_program(const std::string& word, const limits::Variables& variables) {
  auto file = look_up(word, variables);
  if (!file) return tl::unexpected(std::move(file.error()));
  FoundProgram program{*file, *file};
  for (int i = 0; i < kMostInterpreters; ++i) {
    auto next = interpreter(program.loaded, variables);
    if (!next) return tl::unexpected(std::move(next.error()));
    if (!*next) return program;
    program.loaded = std::move(**next);
  }
  return tl::unexpected(
      not_startable(file->string(), "its interpreter is a script of a script, too deep for the kernel"));
}

std::optional<AttachObstacle> attach_obstacle(const std::filesystem::path& loaded) {
  if (::access(loaded.c_str(), R_OK) != 0) return std::nullopt;
  const auto obstacle = [&](const std::string& why, const char* mend, bool children_attach) {
    return AttachObstacle{
        {ErrorKind::kEnvironment, loaded.string(), why + "; " + mend + ", or " + kUngoverned},
        children_attach};
  };
  const ElfHead program = read_elf_head(loaded);
  if (const auto unlike = unlike_us(program, read_elf_head("/proc/self/exe")))
    return obstacle(*unlike + ", so weir's agent cannot be loaded into it",
                    "use one that is linked dynamically for this machine", program.interpreter.empty());
  if (const auto why = privileged(loaded))
    return obstacle(*why + ", so the dynamic linker ignores weir's agent", "use a copy without that", false);
  return std::nullopt;
}

Result<std::filesystem::path> agent_library(const std::filesystem::path& self) {
  const Path library = (self.parent_path().parent_path() / "lib" / "libweir_agent.so").lexically_normal();
  if (::access(library.c_str(), R_OK) != 0)
    return fail(ErrorKind::kEnvironment, library.string(),
                std::string("weir's agent is missing here; install weir again, or ") + kUngoverned);
  if (library.string().find_first_of(" \t\n:$") != std::string::npos)
    return fail(ErrorKind::kEnvironment, library.string(),
                std::string("LD_PRELOAD cannot name a path with a space, a colon or a dollar; move weir to "
                            "one without, or ") +
                    kUngoverned);
  return library;
}

}  // namespace weir::cli
