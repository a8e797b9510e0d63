// SPDX-License-Identifier: MIT
// The frames of a backtrace, as text below their event or as JSON in it:
//
//       #0 malloc+0x0 (libc.so.6)
//       #1 make_node [inlined] (server) node.c:12
//       #2 serve+0x1c (server) server.c:310
//       ... no unwind information
//   ,"backtrace":[{"ip":140245,"function":"malloc","offset":0,"module":"libc.so.6"},...],"backtrace_cut":"..."
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/symbolize/named_frame.h"

namespace blip::cli {

struct Backtrace {
  std::vector<uint64_t> frames;
  uint64_t info = 0;  // ctf::StackInfo
  int32_t vpid = 0;

  // Nobody to ask for names: addresses are all there is.
  void append_text(std::string& out, const session::FrameNamer* name_of) const;
  void append_json(std::string& out, const session::FrameNamer* name_of) const;

 private:
  const std::vector<session::NamedFrame>& names(size_t index, const session::FrameNamer* name_of) const;
  // Why it is not whole; empty if it is.
  std::string_view cut() const;
};

}  // namespace blip::cli
