// SPDX-License-Identifier: MIT
#include "cli/script_printer.h"

#include <fmt/format.h>

#include <cstdio>

#include "cli/notices.h"

namespace blip::cli {

namespace {

constexpr size_t kBatch = 64 << 10;
constexpr std::chrono::milliseconds kShortWait{10};
constexpr size_t kMostWaiting = 64 << 20;
constexpr unsigned kWarningsPerSecond = 100;

}  // namespace

void ScriptPrinter::write(std::string_view text) {
  if (output_.closed()) return;
  if (buffer_.size() + text.size() > kMostWaiting) {
    dropped_ += text.size();
    return;
  }
  buffer_ += text;
  if (buffer_.size() < kBatch) return;
  if (waits_) {
    finish();
  } else {
    flush();
  }
}

void ScriptPrinter::warn(std::string_view line) {
  const auto now = std::chrono::steady_clock::now();
  if (now - second_ >= std::chrono::seconds(1)) {
    second_ = now;
    warned_ = 0;
  }
  if (++warned_ > kWarningsPerSecond) {
    ++unsaid_;
  } else {
    say_error(line);
  }
}

void ScriptPrinter::write_error(std::string_view line) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

void ScriptPrinter::flush() {
  if (buffer_.empty()) {
    output_.check_reader();
  } else {
    output_.offer(buffer_);
  }
}

bool ScriptPrinter::is_full() {
  if (waits_ || output_.closed() || buffer_.size() < kBatch) return false;
  output_.offer(buffer_, kShortWait);
  return buffer_.size() >= kBatch;
}

void ScriptPrinter::finish() {
  if (!buffer_.empty()) output_.write(buffer_);
  buffer_.clear();
}

void ScriptPrinter::tell_left_out() const {
  if (dropped_ != 0)
    say_error(
        fmt::format("warning: {} bytes that the script printed were left out: nobody read them", dropped_));
  if (unsaid_ != 0) say_error(fmt::format("warning: {} more warnings came too fast to be shown", unsaid_));
}

}  // namespace blip::cli
