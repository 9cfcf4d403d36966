#include "agent/child_run.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstring>

namespace weir::agent {
namespace {

std::string whole(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char part[4096];
  for (std::size_t count = 0; (count = std::fread(part, 1, sizeof part, file)) > 0;)
    text.append(part, count);
  std::fclose(file);
  return text;
}

bool is_dropped(const char* variable) {
  for (const char* name : {"WEIR_", "LD_PRELOAD="}) {
    if (std::strncmp(variable, name, std::strlen(name)) == 0) return true;
  }
  return false;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const std::string& word : words)
    result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

Ran run_child(const std::vector<std::string>& argv, const std::vector<std::string>& variables) {
  std::vector<std::string> environment = variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (!is_dropped(*variable)) environment.emplace_back(*variable);
  }
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", 0, 0);
  ::posix_spawn_file_actions_adddup2(&files, ::fileno(out), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, ::fileno(err), STDERR_FILENO);
  Ran ran;
  pid_t pid = -1;
  const auto words = pointers(argv), environ_words = pointers(environment);
  const int failed =
      ::posix_spawnp(&pid, argv[0].c_str(), &files, nullptr, words.data(), environ_words.data());
  ::posix_spawn_file_actions_destroy(&files);
  int status = 0;
  if (failed == 0 && ::waitpid(pid, &status, 0) == pid)
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = whole(out);
  ran.err = whole(err);
  return ran;
}

}  // namespace weir::agent
