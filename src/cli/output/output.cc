// SPDX-License-Identifier: MIT
#include "cli/output/output.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "cli/output/progress.h"

namespace blip::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLook{50};  // how often write() asks for its patience
constexpr int kNapMs = 1;          // after poll(2) promised room that there was not

}  // namespace

Output::Output(int fd, Patience (*patience)()) : writer_(fd), patience_(patience) {}

bool Output::fail(int errno_value) {
  closed_ = true;
  error_ = errno_value == EPIPE ? 0 : errno_value;
  return false;
}

Output::Room Output::wait_for_room(milliseconds wait) {
  if (!writer_.may_be_full()) return Room::kYes;
  pollfd entry{writer_.fd(), POLLOUT, 0};
  const int ready = poll(&entry, 1, static_cast<int>(wait.count()));
  if (ready < 0 && errno != EINTR) fail(errno);
  if (ready > 0 && entry.revents & (POLLERR | POLLNVAL)) fail(entry.revents & POLLNVAL ? EBADF : EPIPE);
  if (closed_) return Room::kNever;
  return ready > 0 ? Room::kYes : Room::kNo;
}

// How many bytes were taken; fails the output for good if that is the matter.
size_t Output::write_now(std::string_view bytes) {
  std::optional<StatusPause> pause;
  if (writer_.is_terminal()) pause.emplace();
  const ssize_t written = writer_.write(bytes);
  if (written >= 0) return static_cast<size_t>(written);
  if (errno == EAGAIN) {
    poll(nullptr, 0, kNapMs);
  } else if (errno != EINTR) {
    fail(errno);
  }
  return 0;
}

bool Output::check_reader() {
  pollfd entry{writer_.fd(), 0, 0};
  if (!closed_ && writer_.may_be_full() && poll(&entry, 1, 0) > 0 && entry.revents & (POLLERR | POLLHUP))
    return fail(EPIPE);
  return !closed_;
}

bool Output::write(std::string_view bytes) {
  auto last_taken = Clock::now();
  while (!closed_ && !bytes.empty()) {
    const Room room = wait_for_room(kLook);
    if (room == Room::kNever) break;
    if (const size_t taken = room == Room::kYes ? write_now(bytes) : 0; taken != 0) {
      bytes.remove_prefix(taken);
      last_taken = Clock::now();
      continue;
    }
    const Patience patience = patience_ ? patience_() : std::nullopt;
    if (closed_ || !patience || Clock::now() - last_taken < *patience) continue;
    given_up_ += bytes.size();
    fail(0);
  }
  return !closed_;
}

bool Output::offer(std::string& bytes, milliseconds wait) {
  const auto end = Clock::now() + wait;
  size_t done = 0;
  while (!closed_ && done < bytes.size()) {
    const auto left = std::max(milliseconds(0), std::chrono::ceil<milliseconds>(end - Clock::now()));
    if (wait_for_room(left) == Room::kYes)
      if (const size_t taken = write_now(std::string_view(bytes).substr(done)); taken != 0) {
        done += taken;
        continue;
      }
    if (left.count() == 0) break;
  }
  bytes.erase(0, closed_ ? bytes.size() : done);
  return !closed_;
}

}  // namespace blip::cli
