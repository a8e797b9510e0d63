// SPDX-License-Identifier: MIT
#include "cli/signals.h"

#include <atomic>
#include <cerrno>
#include <iterator>

namespace blip::cli {
namespace {

std::atomic<bool> g_requested{false};
std::atomic<void (*)()> g_stop{nullptr};
static_assert(std::atomic<void (*)()>::is_always_lock_free);

void on_signal(int) {
  const int saved = errno;
  g_requested.store(true);
  if (auto* stop = g_stop.load()) stop();
  errno = saved;
}

}  // namespace

StopSignals::StopSignals(void (*stop)()) {
  g_requested.store(false);
  g_stop.store(stop);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    const int signal = kSignals[i];
    sigaction(signal, nullptr, &before_[i]);
    if (signal == SIGHUP && before_[i].sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    sigemptyset(&action.sa_mask);
    // A closed pipe and a file-size limit show as errors of write(2). No SA_RESTART: sleeping calls return.
    action.sa_handler = signal == SIGPIPE || signal == SIGXFSZ ? SIG_IGN : on_signal;
    sigaction(signal, &action, nullptr);
  }
}

StopSignals::~StopSignals() {
  for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  g_stop.store(nullptr);
}

bool StopSignals::requested() { return g_requested.load(); }

}  // namespace blip::cli
