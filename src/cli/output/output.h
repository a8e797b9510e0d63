// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "cli/output/instant_writer.h"

namespace blip::cli {

// How long a reader may take nothing before it is given up; none: as long as it likes.
using Patience = std::optional<std::chrono::milliseconds>;

// Writes to a descriptor that may be a pipe nobody reads any more, or one whose reader sleeps. Does not own
// the descriptor. SIGPIPE must be ignored.
class Output {
 public:
  // `patience` is asked again and again while write() waits; null: it waits as long as there is a reader.
  explicit Output(int fd, Patience (*patience)() = nullptr);

  // Waits for room. False, now and for ever, when the other end is gone or given up, or the write failed.
  // Not to be called while a target waits for blip, or has probes in it: see offer().
  bool write(std::string_view bytes);
  // Writes what there is room for now or within `wait`, and takes it off `bytes`. False as above.
  bool offer(std::string& bytes, std::chrono::milliseconds wait = {});
  // Notices a reader that went away although there was nothing to write.
  bool check_reader();
  bool closed() const { return closed_; }
  // errno of the write that failed; 0 when the reader simply went away.
  int error() const { return error_; }
  // Bytes that write() could not get rid of, because the reader was given up.
  size_t given_up() const { return given_up_; }

 private:
  enum class Room { kYes, kNo, kNever };
  Room wait_for_room(std::chrono::milliseconds wait);
  size_t write_now(std::string_view bytes);
  bool fail(int errno_value);

  InstantWriter writer_;
  Patience (*patience_)();
  bool closed_ = false;
  int error_ = 0;
  size_t given_up_ = 0;
};

}  // namespace blip::cli
