#include "base/interrupt.h"

#include <atomic>
#include <csignal>

namespace weir {

namespace {

std::atomic<int> received{0};

void on_signal(int number) {
  received.store(number, std::memory_order_relaxed);
  std::signal(number, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  received.store(0, std::memory_order_relaxed);
}

bool interrupt_requested() noexcept {
  return received.load(std::memory_order_relaxed) != 0;
}

int interrupt_signal() noexcept {
  return received.load(std::memory_order_relaxed);
}

}  // namespace weir
