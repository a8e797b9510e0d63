// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include "proc/files/status.h"

namespace blip::proc::test {

inline void nap(long milliseconds) {
  timespec left{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  while (::nanosleep(&left, &left) != 0) {
  }
}

// A forked process that runs a function and may tell numbers through a pipe. Killed, with its process group,
// at the end.
class Child {
 public:
  using Body = std::function<void(Child&)>;

  explicit Child(const Body& body) {
    if (::pipe(pipe_) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ != 0) return;
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    body(*this);
    ::_exit(0);
  }
  Child(const Child&) = delete;
  ~Child() {
    ::kill(-pid_, SIGKILL);
    kill(SIGKILL);
    if (!reaped_) ::waitpid(pid_, nullptr, __WALL);
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

  pid_t pid() const { return pid_; }
  void kill(int signal) const {
    if (!reaped_) ::kill(pid_, signal);
  }

  // In the child.
  void tell(int64_t value) { (void)!::write(pipe_[1], &value, sizeof value); }
  // In the parent: the next number told, none when the time is up.
  std::optional<int64_t> hear(int milliseconds = 10000) {
    pollfd entry{pipe_[0], POLLIN, 0};
    int64_t value = 0;
    if (::poll(&entry, 1, milliseconds) != 1) return std::nullopt;
    if (::read(pipe_[0], &value, sizeof value) != sizeof value) return std::nullopt;
    return value;
  }
  // The exit status as waitpid gives it.
  int wait() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    reaped_ = true;
    return status;
  }
  char state() const {
    const auto stat = read_stat(pid_, pid_);
    return stat ? stat->state : '?';
  }
  // False when the time is up.
  bool wait_for_state(char wanted, int milliseconds = 5000) const {
    for (; milliseconds > 0 && state() != wanted; milliseconds -= 2) nap(2);
    return state() == wanted;
  }

 private:
  int pipe_[2]{-1, -1};
  pid_t pid_ = -1;
  bool reaped_ = false;
};

}  // namespace blip::proc::test
