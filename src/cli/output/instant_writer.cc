// SPDX-License-Identifier: MIT
#include "cli/output/instant_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace blip::cli {
namespace {

// A pipe that polls writable has room for PIPE_BUF bytes (pipe(7)), a terminal for few (n_tty's
// WAKEUP_CHARS).
constexpr size_t kSurelyRoom = 128;

// To open it again makes another terminal.
bool is_pty_master(const struct stat& st) { return st.st_rdev == makedev(5, 2); }

bool writable(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

bool has_room(int fd) {
  pollfd entry{fd, POLLOUT, 0};
  return poll(&entry, 1, 0) > 0 && entry.revents != 0;
}

}  // namespace

InstantWriter::InstantWriter(int fd) : fd_(fd), is_terminal_(isatty(fd) == 1), kind_(Kind::kFile) {
  struct stat st;
  if (fstat(fd, &st) != 0 || !writable(fd)) return;
  if (S_ISSOCK(st.st_mode)) kind_ = Kind::kSocket;
  if (!S_ISFIFO(st.st_mode) && !is_terminal_) return;
  if (!is_pty_master(st))
    own_.reset(
        open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  kind_ = own_ ? Kind::kOwn : Kind::kShared;
}

ssize_t InstantWriter::write(std::string_view bytes) {
  switch (kind_) {
    case Kind::kFile:
      return ::write(fd_, bytes.data(), bytes.size());
    case Kind::kOwn:
      return ::write(own_.get(), bytes.data(), bytes.size());
    case Kind::kSocket:
      return ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    case Kind::kShared:
      break;
  }
  if (has_room(fd_)) return ::write(fd_, bytes.data(), std::min(bytes.size(), kSurelyRoom));
  errno = EAGAIN;
  return -1;
}

}  // namespace blip::cli
