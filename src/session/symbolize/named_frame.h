// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace blip::session {

// A function at an address of a backtrace.
struct NamedFrame {
  std::string function;            // demangled, without parameters; empty: not known
  std::optional<uint64_t> offset;  // of the address in it; of one that was inlined none
  std::string module;              // basename of its file; empty: the address is in none
  std::string file;                // of the source, with its directory; empty: not known
  uint32_t line = 0;
  bool is_inlined = false;  // into the next one
};

// Innermost first, at least one, the last not inlined. `is_return`: a return address, of which the call
// before counts. `vpid`: of the process, as it sees itself. Good until the next call.
using FrameNamer =
    std::function<const std::vector<NamedFrame>&(int32_t vpid, uint64_t address, bool is_return)>;

// Why a backtrace is not whole, by the low bits of ctf::StackInfo; empty if it is.
std::string_view why_cut(uint8_t end);

}  // namespace blip::session
