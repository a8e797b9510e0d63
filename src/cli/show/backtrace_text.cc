// SPDX-License-Identifier: MIT
#include "cli/show/backtrace_text.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "base/path.h"
#include "cli/output/escape.h"
#include "ctf/schema.h"

namespace blip::cli {

namespace {

using session::NamedFrame;

void append_text_frame(std::string& out, size_t number, uint64_t address, const NamedFrame& frame) {
  fmt::format_to(std::back_inserter(out), "      #{} ", number);
  if (frame.function.empty()) {
    fmt::format_to(std::back_inserter(out), "{:#x}", address);
  } else {
    append_escaped(out, frame.function);
    if (frame.is_inlined) out += " [inlined]";
    if (frame.offset) fmt::format_to(std::back_inserter(out), "+{:#x}", *frame.offset);
  }
  if (!frame.module.empty()) {
    out += " (";
    append_escaped(out, frame.module);
    out += ')';
  }
  if (!frame.file.empty()) {
    out += ' ';
    append_escaped(out, basename_of(frame.file));
    if (frame.line != 0) fmt::format_to(std::back_inserter(out), ":{}", frame.line);
  }
  out += '\n';
}

void append_json_frame(std::string& out, uint64_t address, const NamedFrame& frame) {
  const auto text = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    fmt::format_to(std::back_inserter(out), ",\"{}\":", name);
    append_json_string(out, value);
  };
  fmt::format_to(std::back_inserter(out), "{{\"ip\":{}", address);
  text("function", frame.function);
  if (frame.offset) fmt::format_to(std::back_inserter(out), ",\"offset\":{}", *frame.offset);
  text("module", frame.module);
  text("file", frame.file);
  if (frame.line != 0) fmt::format_to(std::back_inserter(out), ",\"line\":{}", frame.line);
  if (frame.is_inlined) out += ",\"inlined\":true";
  out += '}';
}

}  // namespace

const std::vector<NamedFrame>& Backtrace::names(size_t index, const session::FrameNamer* name_of) const {
  static const std::vector<NamedFrame> nameless(1);
  if (!name_of) return nameless;
  const size_t bit = ctf::StackInfo::kFirstBit + index;
  const bool is_return = index != 0 && (bit >= 64 || (info >> bit & 1) == 0);
  return (*name_of)(vpid, frames[index], is_return);
}

std::string_view Backtrace::cut() const { return session::why_cut(static_cast<uint8_t>(info)); }

void Backtrace::append_text(std::string& out, const session::FrameNamer* name_of) const {
  size_t number = 0;
  for (size_t i = 0; i < frames.size(); ++i)
    for (const NamedFrame& frame : names(i, name_of)) append_text_frame(out, number++, frames[i], frame);
  if (!cut().empty()) fmt::format_to(std::back_inserter(out), "      ... {}\n", cut());
}

void Backtrace::append_json(std::string& out, const session::FrameNamer* name_of) const {
  out += ",\"backtrace\":[";
  bool is_first = true;
  for (size_t i = 0; i < frames.size(); ++i)
    for (const NamedFrame& frame : names(i, name_of)) {
      if (!std::exchange(is_first, false)) out += ',';
      append_json_frame(out, frames[i], frame);
    }
  out += ']';
  if (cut().empty()) return;
  out += ",\"backtrace_cut\":";
  append_json_string(out, cut());
}

}  // namespace blip::cli
