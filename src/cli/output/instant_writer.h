// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <string_view>

#include "base/fd.h"

namespace blip::cli {

// Writes to a pipe, socket or terminal what there is room for, and never waits, whatever other programs do
// with it at the same time. Other descriptors (files) take everything, as fast as the disk is. Does not own
// the descriptor and does not change it: O_NONBLOCK would hold for everybody who shares it, so blip opens
// pipes and terminals a second time.
class InstantWriter {
 public:
  explicit InstantWriter(int fd);

  // As write(2): EAGAIN if there is no room.
  ssize_t write(std::string_view bytes);
  // To poll(2).
  int fd() const { return own_ ? own_.get() : fd_; }
  bool may_be_full() const { return kind_ != Kind::kFile; }
  bool is_terminal() const { return is_terminal_; }

 private:
  // kShared: it could not be opened again, so blip looks for room before it writes a little.
  enum class Kind { kFile, kOwn, kSocket, kShared };

  int fd_;
  Fd own_;
  bool is_terminal_;
  Kind kind_;
};

}  // namespace blip::cli
