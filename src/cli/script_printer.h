// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/output/output.h"
#include "script/front/script_output.h"

namespace blip::cli {

// Collects what a script prints and writes it in batches: when 64 KiB are full, and when flush() is called. While probes are in a
// target it does not wait for a reader: is_full() says that no more can be taken for now. What one handler prints beyond a limit
// while nobody reads, and warnings that come faster than anybody reads, are left out and told at the end.
class ScriptPrinter final : public script::Writer {
 public:
  explicit ScriptPrinter(Output& output) : output_(output) {}

  void write(std::string_view text) override;
  void warn(std::string_view line) override;
  void write_error(std::string_view line) override;

  // Writes what there is room for.
  void flush();
  // Waits a little for room before it says yes.
  bool is_full();
  // From now on text waits for its reader, as long as the output does.
  void wait_for_reader() { waits_ = true; }
  // Writes everything.
  void finish();
  // After that.
  void tell_left_out() const;

 private:
  Output& output_;
  std::string buffer_;
  bool waits_ = false;
  uint64_t dropped_ = 0;  // bytes
  std::chrono::steady_clock::time_point second_{};
  unsigned warned_ = 0;  // since then
  uint64_t unsaid_ = 0;  // warnings
};

}  // namespace blip::cli
