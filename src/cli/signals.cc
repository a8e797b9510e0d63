// SPDX-License-Identifier: MIT
#include "cli/signals.h"

#include <atomic>
#include <cerrno>
#include <iterator>

namespace blip::cli {
namespace {

constexpr std::chrono::seconds kPatience{3};

// A handler has no other way to what it is for than a variable of the program, whose signals they are.
struct Received {
  std::atomic<bool> any{false};
  std::atomic<bool> detached{false};
  std::atomic<bool> hurry{false};  // asked again, when there was nothing left but to write
  std::atomic<StopSignals::Listener*> listener{nullptr};
};
Received received;
static_assert(std::atomic<StopSignals::Listener*>::is_always_lock_free);

// Sent by a program to blip, not by the terminal to everybody in front of it.
bool sent_by_program(const siginfo_t* info) { return info && info->si_code <= 0; }

void on_signal(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  StopSignals::Listener* const listener = received.listener;
  if (!listener || !listener->forward(sent_by_program(info) ? signal : 0)) {
    if (received.detached) received.hurry = true;
    received.any = true;
    if (listener) listener->stop();
  }
  errno = saved;
}

}  // namespace

StopSignals::StopSignals(Listener& listener) {
  received.any = false;
  received.detached = false;
  received.hurry = false;
  received.listener = &listener;
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    const int signal = kSignals[i];
    sigaction(signal, nullptr, &before_[i]);
    if (signal == SIGHUP && before_[i].sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    sigemptyset(&action.sa_mask);
    // A closed pipe and a file-size limit show as errors of write(2). No SA_RESTART: sleeping calls return.
    if (signal == SIGPIPE || signal == SIGXFSZ) {
      action.sa_handler = SIG_IGN;
    } else {
      action.sa_sigaction = on_signal;
      action.sa_flags = SA_SIGINFO;
    }
    sigaction(signal, &action, nullptr);
  }
}

// Who asks once more, or when the end has come by itself, does not undo it: the handler stays, and says that
// it was asked, so that a write that waits gives up.
StopSignals::~StopSignals() {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    const bool stops = kSignals[i] != SIGPIPE && kSignals[i] != SIGXFSZ;
    if (!stops || before_[i].sa_handler != SIG_DFL) sigaction(kSignals[i], &before_[i], nullptr);
  }
  received.listener = nullptr;
}

bool StopSignals::requested() { return received.any; }
void StopSignals::tell_detached() { received.detached = true; }

Patience StopSignals::patience() {
  if (received.hurry) return std::chrono::milliseconds(0);
  if (received.any) return kPatience;
  return std::nullopt;
}

}  // namespace blip::cli
