// SPDX-License-Identifier: MIT
#include "base/quiet_thread.h"

#include <signal.h>

#include <system_error>
#include <utility>

namespace blip {

std::thread start_quiet_thread(std::function<void()> body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited by the thread
  std::thread thread;
  try {
    thread = std::thread(std::move(body));
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace blip
