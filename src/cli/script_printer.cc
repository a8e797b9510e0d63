// SPDX-License-Identifier: MIT
#include "cli/script_printer.h"

#include <cstdio>

#include "cli/notices.h"

namespace blip::cli {

namespace {

constexpr size_t kBatch = 64 << 10;
constexpr std::chrono::milliseconds kShortWait{10};

}  // namespace

void ScriptPrinter::write(std::string_view text) {
  if (output_.closed()) return;
  buffer_ += text;
  if (buffer_.size() < kBatch) return;
  if (waits_) {
    finish();
  } else {
    flush();
  }
}

void ScriptPrinter::warn(std::string_view line) { say_error(line); }

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

}  // namespace blip::cli
