#include "govern/governor_thread.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "wire/kept_errno.h"

namespace weir::govern {
namespace {

constexpr std::size_t kStackBytes = 256u << 10;
constexpr std::uint64_t kPerSecond = 1'000;
constexpr long kNanosecondsPerMs = 1'000'000;
/// After trouble in a turn, so that it cannot become a loop.
constexpr int kPauseMs = 1'000;
constexpr int kEndTries = 2'000;

void sleep_ms(int ms) noexcept {
  const timespec pause{ms / 1'000, ms % 1'000 * kNanosecondsPerMs};
  ::nanosleep(&pause, nullptr);
}

/// A detached thread with every signal blocked: handlers of the host run on the host's threads.
bool create(std::size_t stack_bytes, void* (*body)(void*), void* argument) noexcept {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack_bytes > 0) ::pthread_attr_setstacksize(&attributes, stack_bytes);
  sigset_t all, kept;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &kept);
  pthread_t thread;
  const bool created = ::pthread_create(&thread, &attributes, body, argument) == 0;
  ::pthread_sigmask(SIG_SETMASK, &kept, nullptr);
  ::pthread_attr_destroy(&attributes);
  return created;
}

}  // namespace

std::uint64_t governor_now_ms() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kPerSecond +
         static_cast<std::uint64_t>(now.tv_nsec / kNanosecondsPerMs);
}

bool GovernorThread::start(std::vector<IWatch*> watches) noexcept {
  const wire::KeptErrno kept;
  watches_ = std::move(watches);
  bell_ = GuestSocket(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  // A program with much thread-local data needs a larger stack for every thread.
  return create(kStackBytes, run, this) || create(0, run, this);
}

void GovernorThread::wake() noexcept {
  const wire::KeptErrno kept;
  const std::uint64_t one = 1;
  // A bell that is full already rings.
  if (!bell_.is_ours()) return;
  [[maybe_unused]] const auto rung = ::write(bell_.get(), &one, sizeof one);
}

void* GovernorThread::run(void* self) noexcept {
  ::pthread_setname_np(::pthread_self(), "weir governor");
  for (auto& thread = *static_cast<GovernorThread*>(self);;) {
    try {
      thread.turn();
    } catch (...) {
      thread.troubles_.fetch_add(1, std::memory_order_relaxed);
      sleep_ms(kPauseMs);
    }
  }
}

int GovernorThread::prepare() {
  const std::lock_guard lock(waking_);
  descriptors_.clear();
  if (bell_.is_ours()) descriptors_.push_back({bell_.get(), POLLIN, 0});
  const std::uint64_t now = governor_now_ms();
  int patience = -1;
  for (IWatch* const watch : watches_) {
    watch->add_descriptors(descriptors_);
    const int its = watch->patience_ms(now);
    if (its >= 0) patience = patience < 0 ? its : std::min(patience, its);
  }
  return patience;
}

void GovernorThread::turn() {
  const int patience = prepare();
  const int ready = ::poll(descriptors_.data(), descriptors_.size(), patience);
  if (ready < 0 && errno != EINTR) sleep_ms(kPauseMs);
  const std::lock_guard lock(waking_);
  if (ready <= 0)
    for (pollfd& descriptor : descriptors_)
      descriptor.revents = 0;
  hear_bell();
  call_watches();
}

void GovernorThread::hear_bell() noexcept {
  std::uint64_t rung = 0;
  if (bell_.is_ours() && ::read(bell_.get(), &rung, sizeof rung) < 0) rung = 0;
}

void GovernorThread::call_watches() noexcept {
  for (IWatch* const watch : watches_) {
    try {
      watch->wake(governor_now_ms(), descriptors_);
    } catch (...) {
      troubles_.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

void GovernorThread::lock_for_fork() noexcept {
  if (ended_.load()) return;
  waking_.lock();
  fork_locked_ = true;
}

void GovernorThread::unlock_after_fork() noexcept {
  if (!fork_locked_) return;
  fork_locked_ = false;
  waking_.unlock();
}

void GovernorThread::leave() noexcept {
  bell_.close();
}

void GovernorThread::end() noexcept {
  if (ended_.exchange(true)) return;
  // Never unlocked: objects that a watch uses may go away from here on.
  for (int i = 0; i < kEndTries && !waking_.try_lock(); ++i)
    sleep_ms(1);
}

}  // namespace weir::govern
