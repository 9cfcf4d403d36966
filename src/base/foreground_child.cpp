#include "base/foreground_child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <utility>

#include "base/file.h"
#include "base/inherited_signals.h"
#include "base/owned_fd.h"

namespace weir {

namespace {

constexpr std::array kPassedOn = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
constexpr int kCannotExecute = 127;
constexpr int kFirstFreeFd = 3;

/// One signal, as its handler hands it to the waiting thread. Written to a pipe in one piece.
struct Arrival {
  int signal;
  bool sent;  ///< By a process, and not by the kernel for the terminal.
};

std::atomic<int> arrivals{-1};  // the write end of the pipe, -1: nobody waits

/// Async-signal-safe. Any thread may run it: libraries start threads that block nothing.
void on_signal(int signal, siginfo_t* info, void* /*context*/) {
  const int saved = errno;
  const Arrival arrival{signal, info->si_code <= 0};
  if (const int to = arrivals.load(std::memory_order_relaxed); to >= 0) {
    [[maybe_unused]] const ssize_t put = ::write(to, &arrival, sizeof arrival);
  }
  errno = saved;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const auto& word : words)
    out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

bool have_terminal() {
  return static_cast<bool>(OwnedFd(::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)));
}

/// Runs in the forked child with all signals blocked: only async-signal-safe calls.
[[noreturn]] void become(const char* program, char** argv, char** environment, int error_pipe,
                         const sigset_t& mask) {
  for (int signal = 1; signal < NSIG; ++signal)
    std::signal(signal, inherited_ignored(signal) ? SIG_IGN : SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execvpe(program, argv, environment);
  const int code = errno;
  [[maybe_unused]] const ssize_t put = ::write(error_pipe, &code, sizeof code);
  ::_exit(kCannotExecute);
}

/// The child's pid, or the errno of what refused it.
Result<pid_t> spawn(const ForegroundSpec& spec) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(system_error(spec.program, "start", errno));
  const OwnedFd errors(ends[0]);
  OwnedFd error_write(ends[1]);
  auto argv = pointers(spec.argv);
  auto environment = pointers(spec.environment);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // Not fork(): it runs the handlers of every library, and OpenBLAS's waits for threads that wait for memory.
  const pid_t pid = ::_Fork();
  const int fork_error = errno;
  if (pid == 0) become(spec.program.c_str(), argv.data(), environment.data(), error_write.get(), before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return tl::unexpected(system_error(spec.program, "start", fork_error));
  error_write.reset();
  int code = 0;
  ssize_t got = 0;
  while ((got = ::read(errors.get(), &code, sizeof code)) < 0 && errno == EINTR) {
  }
  if (got != sizeof code) return pid;
  ::waitpid(pid, nullptr, 0);
  return tl::unexpected(system_error(spec.program, "start", code));
}

}  // namespace

/// Our handlers while a child runs, and the pipe by which they wake `wait`.
class ForegroundChild::Signals {
 public:
  static Result<std::unique_ptr<Signals>> take(const std::string& where) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
      return tl::unexpected(system_error(where, "start", errno));
    const OwnedFd read_end(ends[0]);
    const OwnedFd write_end(ends[1]);
    // Above the standard three: where those are closed, what somebody prints must not land in this pipe.
    return std::make_unique<Signals>(OwnedFd(::fcntl(read_end.get(), F_DUPFD_CLOEXEC, kFirstFreeFd)),
                                     OwnedFd(::fcntl(write_end.get(), F_DUPFD_CLOEXEC, kFirstFreeFd)));
  }

  Signals(OwnedFd read_end, OwnedFd write_end)
      : read_end_(std::move(read_end)), write_end_(std::move(write_end)) {
    arrivals.store(write_end_.get(), std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigfillset(&action.sa_mask);
    for (std::size_t i = 0; i < kPassedOn.size(); ++i)
      ::sigaction(kPassedOn[i], &action, &before_[i]);
    ::sigaction(SIGCHLD, &action, &before_.back());
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    for (std::size_t i = 0; i < kPassedOn.size(); ++i)
      ::sigaction(kPassedOn[i], &before_[i], nullptr);
    ::sigaction(SIGCHLD, &before_.back(), nullptr);
    arrivals.store(-1, std::memory_order_relaxed);
  }

  /// Waits for a signal, at most `limit`.
  void wait(std::chrono::milliseconds limit) const {
    pollfd poll{read_end_.get(), POLLIN, 0};
    const auto bounded = std::min<std::chrono::milliseconds::rep>(limit.count(), INT_MAX);
    (void)::poll(&poll, 1, static_cast<int>(bounded));
  }
  [[nodiscard]] std::optional<Arrival> next() const {
    Arrival arrival{};
    if (::read(read_end_.get(), &arrival, sizeof arrival) != sizeof arrival) return std::nullopt;
    return arrival;
  }

 private:
  OwnedFd read_end_;
  OwnedFd write_end_;
  std::array<struct sigaction, kPassedOn.size() + 1> before_{};
};

Result<ForegroundChild> ForegroundChild::start(const ForegroundSpec& spec) {
  auto signals = Signals::take(spec.program);
  if (!signals) return tl::unexpected(signals.error());
  const auto pid = spawn(spec);
  if (!pid) return tl::unexpected(pid.error());
  return ForegroundChild(*pid, std::move(*signals));
}

ForegroundChild::ForegroundChild(pid_t pid, std::unique_ptr<Signals> signals) noexcept
    : pid_(pid), signals_(std::move(signals)) {}

ForegroundChild::ForegroundChild(ForegroundChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), signals_(std::move(other.signals_)), exit_(other.exit_) {}

ForegroundChild::~ForegroundChild() {
  while (pid_ > 0 && !wait(std::chrono::hours(1))) {
  }
}

/// Asks the kernel once; true when the child has ended.
bool ForegroundChild::look() {
  int status = 0;
  const pid_t got = ::waitpid(pid_, &status, WNOHANG | WUNTRACED);
  if (got == 0 || (got < 0 && errno == EINTR)) return false;
  if (got < 0) {
    exit_ = ChildExit{kCannotExecute, false};  // somebody else took its status
    return true;
  }
  if (WIFSTOPPED(status)) {
    const int by = WSTOPSIG(status);
    // SIGSTOP is no matter of the terminal: whoever sent it wakes the child.
    if ((by == SIGTSTP || by == SIGTTIN || by == SIGTTOU) && have_terminal()) {
      std::raise(SIGSTOP);
      ::kill(pid_, SIGCONT);
    }
    return false;
  }
  exit_ =
      WIFSIGNALED(status) ? ChildExit{128 + WTERMSIG(status), true} : ChildExit{WEXITSTATUS(status), false};
  return true;
}

std::optional<ChildExit> ForegroundChild::wait(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    while (const auto arrival = signals_->next()) {
      if (arrival->signal != SIGCHLD && arrival->sent && !exit_) ::kill(pid_, arrival->signal);
    }
    if (exit_ || look()) return exit_;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return std::nullopt;
    signals_->wait(left);
  }
}

}  // namespace weir
