// SPDX-License-Identifier: MIT
#include "cli/output/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "base/quiet_thread.h"
#include "cli/output/escape.h"
#include "cli/output/terminal.h"

namespace blip::cli {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr char kErase[] = "\r\x1b[K";
constexpr milliseconds kRefresh{200};
constexpr size_t kUsualWidth = 80;

// Held by whoever writes to the terminal; guards `reporter`'s text.
std::mutex terminal;
ProgressReporter* reporter = nullptr;

milliseconds age(const progress::Current& current, progress::Clock::time_point now) {
  return duration_cast<milliseconds>(now - current.since);
}

// Lines that stay get rarer: after half a second, 1.5, 3.5, 7.5, ...
milliseconds after(milliseconds told_at, milliseconds threshold) { return 2 * told_at + threshold; }

// Columns of the terminal that `fd` is, 0 if it is none or cannot rewrite a line.
size_t terminal_width(int fd) {
  const char* term = std::getenv("TERM");
  if (!isatty(fd) || !term || std::string_view(term) == "dumb") return 0;
  const size_t columns = window_columns(fd);
  return columns != 0 ? columns : kUsualWidth;
}

// `text` with at most `width` bytes, not cut inside a character.
std::string fitted(std::string text, size_t width) {
  if (text.size() <= width) return text;
  while (width > 0 && (static_cast<unsigned char>(text[width]) & 0xc0) == 0x80) --width;
  text.resize(width);
  return text;
}

}  // namespace

std::string ProgressText::update(const progress::Current& current, Clock::time_point now) {
  const milliseconds old = age(current, now);
  if (old < threshold_) return hide();
  const std::string line =
      fmt::format("blip: still {} ({:.1f} s)", escaped(current.doing), old.count() / 1000.0);
  if (is_terminal()) {
    shown_ = true;
    return kErase + fitted(line, width_ - 1);
  }
  if (current.since != since_) told_at_ = milliseconds(0);
  if (current.since == since_ && old < after(told_at_, threshold_)) return "";
  since_ = current.since;
  told_at_ = old;
  return line + "\n";
}

std::string ProgressText::hide() {
  if (!shown_) return "";
  shown_ = false;
  return kErase;
}

ProgressText::Clock::time_point ProgressText::next_look(const progress::Current& current,
                                                        Clock::time_point now) const {
  if (age(current, now) < threshold_) return current.since + threshold_;
  if (is_terminal() || current.since != since_) return now + kRefresh;
  return current.since + after(told_at_, threshold_);
}

ProgressReporter::ProgressReporter(int fd, milliseconds threshold, progress::Board& board)
    : fd_(fd), writer_(fd), board_(board), text_(threshold, terminal_width(fd)) {
  const std::lock_guard lock(terminal);
  reporter = this;
  thread_ = start_quiet_thread([this] { run(); });
}

ProgressReporter::~ProgressReporter() {
  stop_ = true;
  board_.wake();
  if (thread_.joinable()) thread_.join();
  const StatusPause pause;
  reporter = nullptr;
}

void ProgressReporter::run() {
  while (!stop_) {
    if (const auto current = board_.current()) {
      board_.wait_until(show(*current));
    } else {
      { const StatusPause pause; }
      board_.wait_for_step();
    }
  }
}

ProgressText::Clock::time_point ProgressReporter::show(const progress::Current& current) {
  const std::lock_guard lock(terminal);
  const auto now = progress::Clock::now();
  write(text_.update(current, now));
  return text_.next_look(current, now);
}

// Never waits for a reader: what is lost here is no loss. In the background a terminal belongs to others.
void ProgressReporter::write(const std::string& bytes) const {
  if (bytes.empty() || (writer_.is_terminal() && tcgetpgrp(fd_) != getpgrp())) return;
  (void)!writer_.write(bytes);
}

StatusPause::StatusPause() : lock_(terminal) {
  if (reporter) reporter->write(reporter->text_.hide());
}

}  // namespace blip::cli
