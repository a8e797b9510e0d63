// SPDX-License-Identifier: MIT
#include "proc/command_signals.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>

namespace blip::proc {

void CommandSignals::hold(const Command& command) {
  pidfd_ = command.pidfd();
  for (uint64_t left = waiting_.exchange(0); left != 0; left &= left - 1) send(std::countr_zero(left) + 1);
}

bool CommandSignals::send(int signal) {
  int fd = pidfd_;
  if (fd < 0) {
    if (signal == 0) return true;
    const uint64_t bit = uint64_t{1} << (signal - 1);
    waiting_ |= bit;
    fd = pidfd_;
    // hold() may have come between: whoever takes the bit sends the signal.
    if (fd < 0 || !(waiting_.fetch_and(~bit) & bit)) return true;
  }
  pollfd ended{fd, POLLIN, 0};
  if (::poll(&ended, 1, 0) > 0) return false;
  if (signal != 0) (void)::syscall(SYS_pidfd_send_signal, fd, signal, nullptr, 0);
  return true;
}

}  // namespace blip::proc
