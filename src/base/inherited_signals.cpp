#include "base/inherited_signals.h"

#include <array>
#include <csignal>

namespace weir {

namespace {

constexpr int kSignals = 65;  // 1 to 64 on Linux

std::array<bool, kSignals> ignored{};  // written once, at the start of main

}  // namespace

void note_inherited_signals() noexcept {
  for (int signal = 1; signal < kSignals; ++signal) {
    struct sigaction action {};
    ignored[static_cast<std::size_t>(signal)] =
        ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  }
}

bool inherited_ignored(int signal) noexcept {
  return signal > 0 && signal < kSignals && ignored[static_cast<std::size_t>(signal)];
}

}  // namespace weir
