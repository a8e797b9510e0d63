// SPDX-License-Identifier: MIT
#include "cli/signals.h"

#include <atomic>
#include <cerrno>
#include <iterator>

namespace blip::cli {
namespace {

constexpr std::chrono::seconds kPatience{3};

std::atomic<bool> g_requested{false};
std::atomic<bool> g_detached{false};
std::atomic<bool> g_hurry{false};  // asked again, when there was nothing left but to write
std::atomic<void (*)()> g_stop{nullptr};
std::atomic<bool (*)(int)> g_forward{nullptr};
static_assert(std::atomic<void (*)()>::is_always_lock_free);

// Sent by a program to blip, not by the terminal to everybody in front of it.
bool sent_by_program(const siginfo_t* info) { return info && info->si_code <= 0; }

bool left_to_command(int signal, const siginfo_t* info) {
  auto* forward = g_forward.load();
  return forward && forward(sent_by_program(info) ? signal : 0);
}

void on_signal(int signal, siginfo_t* info, void*) {
  const int saved = errno;
  if (left_to_command(signal, info)) {
    errno = saved;
    return;
  }
  if (g_detached.load()) g_hurry.store(true);
  g_requested.store(true);
  if (auto* stop = g_stop.load()) stop();
  errno = saved;
}

}  // namespace

StopSignals::StopSignals(void (*stop)(), bool (*forward)(int)) {
  g_requested.store(false);
  g_detached.store(false);
  g_hurry.store(false);
  g_stop.store(stop);
  g_forward.store(forward);
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
  g_stop.store(nullptr);
  g_forward.store(nullptr);
}

bool StopSignals::requested() { return g_requested.load(); }
void StopSignals::tell_detached() { g_detached.store(true); }

Patience StopSignals::patience() {
  if (g_hurry.load()) return std::chrono::milliseconds(0);
  if (g_requested.load()) return kPatience;
  return std::nullopt;
}

}  // namespace blip::cli
