// SPDX-License-Identifier: MIT
#include "proc/files/signal_state.h"

namespace blip::proc {

namespace {

constexpr int kLastSignal = 64;

constexpr uint64_t bit(int signal) { return uint64_t{1} << (signal - 1); }

// Taken before main() has had a chance to change anything.
const SignalState kInherited = SignalState::current();

}  // namespace

SignalState SignalState::current() {
  SignalState state;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &state.blocked);
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      state.ignored |= bit(signal);
  }
  return state;
}

const SignalState& SignalState::inherited() { return kInherited; }

void SignalState::apply() const {
  // SIGKILL, SIGSTOP and the two that libc keeps for itself cannot be set, here or anywhere else.
  for (int signal = 1; signal <= kLastSignal; ++signal) {
    struct sigaction action {};
    action.sa_handler = ignored & bit(signal) ? SIG_IGN : SIG_DFL;
    (void)::sigaction(signal, &action, nullptr);
  }
  ::pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
}

}  // namespace blip::proc
