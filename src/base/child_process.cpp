#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "base/interrupt.h"

namespace weir {

namespace {

constexpr std::size_t kLongestLineBytes = 16u << 20;

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const auto& word : words)
    out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Without taking its exit status.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

ChildExit decode(int status) {
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), true};
  return {WEXITSTATUS(status), false};
}

/// Runs in the forked child: only async-signal-safe calls.
[[noreturn]] void become(char** argv, char** environment, int stdio, int error_pipe, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::dup2(stdio, 0);
  ::dup2(stdio, 1);
  std::signal(SIGPIPE, SIG_DFL);
  ::setpgid(0, 0);  // a Ctrl-C at the terminal reaches the owner, which then ends its child in order
  if (environment != nullptr) environ = environment;
  ::execvp(argv[0], argv);
  const int code = errno;
  [[maybe_unused]] const ssize_t put = ::write(error_pipe, &code, sizeof code);
  ::_exit(127);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const ChildSpec& spec) {
  const std::string& program = spec.argv.at(0);
  int ends[2];
  int errors[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return tl::unexpected(system_error(program, "start", errno));
  OwnedFd ours(ends[0]);
  OwnedFd theirs(ends[1]);
  if (::pipe2(errors, O_CLOEXEC) != 0) return tl::unexpected(system_error(program, "start", errno));
  OwnedFd error_read(errors[0]);
  OwnedFd error_write(errors[1]);
  auto argv = pointers(spec.argv);
  const std::vector<std::string> none;
  auto environment = pointers(spec.environment ? *spec.environment : none);
  const pid_t parent = ::getpid();
  // Not fork(): it runs the handlers of every library, and OpenBLAS's waits for threads that wait for memory.
  const pid_t pid = ::_Fork();
  if (pid < 0) return tl::unexpected(system_error(program, "start", errno));
  if (pid == 0)
    become(argv.data(), spec.environment ? environment.data() : nullptr, theirs.get(), error_write.get(),
           parent);
  theirs.reset();
  error_write.reset();
  int code = 0;
  if (::read(error_read.get(), &code, sizeof code) == sizeof code) {
    ::waitpid(pid, nullptr, 0);
    return tl::unexpected(system_error(program, "start", code));
  }
  OwnedFd read_end(::fcntl(ours.get(), F_DUPFD_CLOEXEC, 0));
  return ChildProcess(pid, std::move(ours), std::move(read_end));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      to_child_(std::move(other.to_child_)),
      from_child_(std::move(other.from_child_)),
      pending_(std::move(other.pending_)),
      exit_(other.exit_) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0 && !exit_) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

Result<void> ChildProcess::write_line(std::string_view line) {
  std::string bytes(line);
  bytes += '\n';
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t put = ::send(to_child_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(ErrorKind::kEnvironment, "child " + std::to_string(pid_), "has gone away");
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<std::optional<std::string>> ChildProcess::read_line(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  const std::string where = "child " + std::to_string(pid_);
  std::size_t searched = 0;
  bool ended = false;
  for (;;) {
    if (const auto newline = pending_.find('\n', searched); newline != std::string::npos) {
      std::string line = pending_.substr(0, newline);
      pending_.erase(0, newline + 1);
      return line;
    }
    searched = pending_.size();
    if (searched > kLongestLineBytes) return fail(ErrorKind::kBadData, where, "sent a line over 16 MiB");
    if (interrupt_requested()) return fail(ErrorKind::kEnvironment, where, "interrupted while waiting");
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return fail(ErrorKind::kEnvironment, where, "did not answer in time");
    pollfd poll{from_child_.get(), POLLIN, 0};
    const int ready = ::poll(&poll, 1, static_cast<int>(std::min<long long>(left.count(), 200)));
    if (ready <= 0) {
      // A child that is gone may have left its stdout to a process of its own: nobody will answer. What it
      // wrote last is read first.
      if (ready == 0 && ended) return std::optional<std::string>{};
      ended = ready == 0 && has_ended(pid_);
      continue;
    }
    char part[65536];
    const ssize_t got = ::recv(from_child_.get(), part, sizeof part, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::optional<std::string>{};
    pending_.append(part, static_cast<std::size_t>(got));
  }
}

ChildExit ChildProcess::finish(std::chrono::milliseconds limit) {
  if (exit_) return *exit_;
  ::shutdown(to_child_.get(), SHUT_WR);
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= end) {
      ::kill(-pid_, SIGKILL);
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(-pid_, SIGKILL);  // what the child itself started ends with it
  exit_ = decode(status);
  return *exit_;
}

std::string own_executable() {
  std::error_code trouble;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", trouble);
  if (trouble)
    throw Failure({ErrorKind::kEnvironment, "/proc",
                   "is not there, or not readable: " + trouble.message() + "; mount /proc"});
  return path.string();
}

}  // namespace weir
