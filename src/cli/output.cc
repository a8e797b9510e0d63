// SPDX-License-Identifier: MIT
#include "cli/output.h"

#include <limits.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "cli/progress.h"

namespace blip::cli {
namespace {

constexpr int kPollMs = 50;
constexpr int kPatienceMs = 1000;

bool is_regular_file(int fd) {
  struct stat st;
  return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

}  // namespace

Output::Output(int fd, bool (*stopping)())
    : fd_(fd), stopping_(stopping), is_terminal_(isatty(fd) == 1), may_block_(!is_regular_file(fd)) {}

bool Output::fail(int errno_value) {
  closed_ = true;
  error_ = errno_value == EPIPE ? 0 : errno_value;
  return false;
}

// A pipe that polls writable takes PIPE_BUF bytes without blocking (pipe(7)), so blip never sleeps in
// write(2), where a signal that came just before would go unnoticed.
bool Output::wait_for_room() {
  for (int waited = 0; waited < kPatienceMs;) {
    pollfd entry{fd_, POLLOUT, 0};
    const int ready = poll(&entry, 1, kPollMs);
    if (ready < 0 && errno != EINTR) return fail(errno);
    if (ready > 0 && entry.revents & (POLLERR | POLLNVAL))
      return fail(entry.revents & POLLNVAL ? EBADF : EPIPE);
    if (ready > 0) return true;
    if (stopping_ && stopping_()) waited += kPollMs;
  }
  return fail(0);
}

bool Output::check_reader() {
  pollfd entry{fd_, 0, 0};
  if (!closed_ && may_block_ && poll(&entry, 1, 0) > 0 && entry.revents & (POLLERR | POLLHUP))
    return fail(EPIPE);
  return !closed_;
}

bool Output::write(std::string_view bytes) {
  std::optional<StatusPause> pause;
  if (is_terminal_) pause.emplace();
  while (!closed_ && !bytes.empty()) {
    if (may_block_ && !wait_for_room()) return false;
    const size_t piece = may_block_ ? std::min<size_t>(bytes.size(), PIPE_BUF) : bytes.size();
    const ssize_t written = ::write(fd_, bytes.data(), piece);
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      return fail(errno);
    }
  }
  return !closed_;
}

}  // namespace blip::cli
