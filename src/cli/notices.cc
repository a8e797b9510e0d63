// SPDX-License-Identifier: MIT
#include "cli/notices.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "cli/output/color.h"
#include "cli/output/escape.h"
#include "cli/output/output.h"

namespace blip::cli {
namespace {

constexpr std::chrono::seconds kPatience{3};
constexpr size_t kMostKept = 64 << 20;

bool error_color = false;

// The lines that stderr has no room for yet, in order.
class Lines {
 public:
  void add(std::string_view text) {
    if (kept_.size() + text.size() > kMostKept) {
      dropped_ += text.size();
    } else {
      kept_ += text;
    }
    offer();
  }
  void offer() { output_.offer(kept_); }
  void write() {
    if (dropped_ != 0)
      kept_ += fmt::format("blip: {} bytes of messages that nobody read were dropped\n", dropped_);
    dropped_ = 0;
    output_.write(kept_);
    kept_.clear();
  }

 private:
  Output output_{STDERR_FILENO, +[]() -> Patience { return kPatience; }};
  std::string kept_;
  size_t dropped_ = 0;
};

Lines& lines() {
  static Lines all;
  return all;
}

void write_line(std::string_view prefix, std::string_view text) {
  std::string line(prefix);
  line += ' ';
  // Lines of a message that follow the first show what the user wrote, indented: see script's diagnostics.
  constexpr std::string_view kNextLine = "\n  ";
  for (size_t end; (end = text.find(kNextLine)) != std::string_view::npos;
       text.remove_prefix(end + kNextLine.size())) {
    append_escaped(line, text.substr(0, end));
    line += kNextLine;
  }
  append_escaped(line, text);
  line += '\n';
  lines().add(line);
}

}  // namespace

std::string armed_line(const session::Armed& armed) {
  std::string line = fmt::format("armed {} probes in {:.1f} ms (target paused {:.2f} ms)", armed.probes,
                                 armed.total_ms, armed.paused_ms);
  if (!armed.refused.empty()) line += fmt::format(", {} refused (-v lists them)", armed.refused.size());
  if (armed.traps != 0) line += fmt::format(", {} by traps (slow)", armed.traps);
  return line;
}

std::string summary_line(const session::Summary& summary) {
  std::string line =
      fmt::format("{} events, {} discarded, {} skipped", summary.events, summary.discarded, summary.skipped);
  if (!summary.output_dir.empty()) line += fmt::format("; trace in {}", summary.output_dir);
  return line;
}

std::string refusal_line(const session::Refusal& refusal) {
  return fmt::format("refused {}: {}", refusal.probe, refusal.reason);
}

void say(std::string_view text) { write_line("blip:", text); }

void say_error(std::string_view text) {
  write_line(error_color ? fmt::format("{}blip:{}", kErrorColor, kPlain) : "blip:", text);
}

bool tell_output(const Output& output, std::string_view name) {
  if (output.given_up() != 0)
    say_error(fmt::format("warning: nobody read {}: {} bytes of output are lost", name, output.given_up()));
  if (output.error() == 0) return true;
  say_error(fmt::format("{}: {}", name, std::strerror(output.error())));
  return false;
}

void use_error_color(bool color) { error_color = color; }
void say_text(std::string_view text) { lines().add(text); }
void say_kept() { lines().offer(); }
void say_rest() { lines().write(); }

}  // namespace blip::cli
