// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace blip::cli {

// Writes to a descriptor that may be a pipe nobody reads any more, or one whose reader sleeps. Does not own
// the descriptor. SIGPIPE must be ignored.
class Output {
 public:
  // `stopping` may be null. Once it returns true, a reader that takes nothing for a second is given up, so
  // that the target does not wait for somebody's pager.
  explicit Output(int fd, bool (*stopping)() = nullptr);

  // False, now and for ever, when the other end is gone or given up, or the write failed.
  bool write(std::string_view bytes);
  // Notices a reader that went away although there was nothing to write.
  bool check_reader();
  bool closed() const { return closed_; }
  // errno of the write that failed; 0 when the reader simply went away.
  int error() const { return error_; }

 private:
  bool wait_for_room();
  bool fail(int errno_value);

  int fd_;
  bool (*stopping_)();
  bool is_terminal_;  // shared with the status line
  bool may_block_;    // a pipe, socket or terminal: writes go in pieces that never block
  bool closed_ = false;
  int error_ = 0;
};

}  // namespace blip::cli
