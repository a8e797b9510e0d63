// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "jit/program/action.h"
#include "jit/program/environment.h"

namespace blip::jit {

// The actions before one instruction of a window, in the order in which they run.
struct PadPoint {
  uint8_t offset = 0;  // of the instruction; the window's size: of the one behind it, which stays there
  std::vector<const Action*> actions{};
  bool flags_live = true;            // the code may read status flags it did not write
  bool skip_red_zone = true;         // there may be data below rsp
  uint16_t live_registers = 0xffff;  // bit n: general register n may be read before it is written
};

// The place a pad stands in for: `window` are the whole instructions that are run in the pad instead.
struct PadSite {
  TargetAddr addr;
  std::span<const uint8_t> window;
  std::span<const PadPoint> points{};  // ascending; none: just moved
  // Whole instructions from `addr` on, at least the window: if any, their copies run first, the actions run
  // if they fall through, and the way back leads behind them. The point is then at offset 0.
  std::span<const uint8_t> lead{};
  bool shadow_stack = false;
  TargetAddr resume{};  // where to go on behind the window; 0: right behind it
};

struct Pad {
  std::vector<uint8_t> code;
  // Offset of an instruction in the window -> offset in `code` where a thread found there goes on: first the
  // one before its actions, then its copy. Last, if control gets there: the end of the window -> the jump
  // back.
  std::vector<std::pair<uint8_t, uint16_t>> heads;
};

// An upper bound of a pad's size, before its address is known.
inline constexpr uint64_t kPadAlign = 32;
uint64_t max_pad_size(const PadSite& site);

// The code that runs at hits and does what `site` did, for the address `at`. Pure. Fails with kUnsupported if
// the displaced instructions cannot work from there.
Result<Pad> build_pad(TargetAddr at, const PadSite& site, const Environment& env, const AreaStubs& stubs);

}  // namespace blip::jit
