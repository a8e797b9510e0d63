// SPDX-License-Identifier: MIT
// Shows what blip is doing when that takes longer than half a second: on a terminal one line that is
// rewritten and vanishes, elsewhere a line "blip: still ..." now and then.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/progress.h"
#include "cli/output/instant_writer.h"

namespace blip::cli {

inline constexpr std::chrono::milliseconds kProgressThreshold{500};

// Decides what to write and when to look again. It has no clock and no descriptor of its own.
class ProgressText {
 public:
  using Clock = progress::Clock;

  // `width`: columns of the terminal, 0 if it is none.
  ProgressText(std::chrono::milliseconds threshold, size_t width) : threshold_(threshold), width_(width) {}

  // Bytes for stderr that show `current`, or take away what was shown. Empty: leave it.
  std::string update(const progress::Current& current, Clock::time_point now);
  std::string hide();
  Clock::time_point next_look(const progress::Current& current, Clock::time_point now) const;

 private:
  bool is_terminal() const { return width_ != 0; }

  std::chrono::milliseconds threshold_;
  size_t width_;
  bool shown_ = false;                    // terminal
  Clock::time_point since_{};             // elsewhere: of the wait told last
  std::chrono::milliseconds told_at_{0};  // and how old it was then
};

// While it lives, a thread shows the steps of `board` on `fd`. The thread receives no signals. One at a time.
class ProgressReporter {
 public:
  explicit ProgressReporter(int fd, std::chrono::milliseconds threshold = kProgressThreshold,
                            progress::Board& board = progress::Board::of_process());
  ~ProgressReporter();
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

 private:
  friend class StatusPause;
  void run();
  ProgressText::Clock::time_point show(const progress::Current& current);
  void write(const std::string& bytes) const;

  int fd_;
  mutable InstantWriter writer_;
  progress::Board& board_;
  ProgressText text_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// While it lives, there is no status line: for whoever writes something else to the terminal.
class StatusPause {
 public:
  StatusPause();

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace blip::cli
