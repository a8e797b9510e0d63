// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "jit/environment.h"
#include "jit/program.h"

namespace blip::jit {

// The place a pad stands in for: `window` are the whole instructions that the jump at `addr` replaces.
struct PadSite {
  TargetAddr addr;
  std::span<const uint8_t> window;
  // Whole instructions from `addr` on, at least the window: if any, their copies run first, the program runs
  // if they fall through, and the way back leads behind them.
  std::span<const uint8_t> lead{};
  bool flags_live = true;
  bool skip_red_zone = true;
  bool shadow_stack = false;
  TargetAddr resume{};  // where to go on behind the window; 0: right behind it
};

struct Pad {
  std::vector<uint8_t> code;
  // Offset of an instruction in the window -> offset of its copy in `code`: where a thread found there goes
  // on.
  std::vector<std::pair<uint8_t, uint16_t>> heads;
};

// An upper bound of a pad's size, before its address is known.
inline constexpr uint64_t kPadAlign = 32;
uint64_t max_pad_size(const Program& program);

// The code that runs at a hit and then does what `site` did, for the address `at`. Pure. Fails with
// kUnsupported if the displaced instructions cannot work from there.
Result<Pad> build_pad(TargetAddr at, const PadSite& site, const Program& program, const Environment& env,
                      const AreaStubs& stubs);

}  // namespace blip::jit
