// SPDX-License-Identifier: MIT
// Which bytes of the text change, and into what. Pure. See docs/design/patch_plan.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "abi/layout.h"
#include "base/addr.h"
#include "base/result.h"
#include "probe/code/site.h"

namespace blip::probe {

// A few bytes inside one page that are replaced by a jump, or by the first bytes of one.
struct Edit {
  static constexpr uint32_t kNoPatch = UINT32_MAX;

  TargetAddr addr;
  TargetAddr pad;      // that it serves
  uint32_t patch = 0;  // index of the patch it belongs to
  uint16_t order = 0;  // written after all of a lower order, restored before them
  uint8_t size = 0;    // bytes that change
  uint8_t length = 0;  // of the jump: its bytes from `size` on stand there already, or by edits before it
  uint8_t window = 0;  // bytes from addr on that may not be executed in place any more; 0: a springboard
  std::array<uint8_t, abi::kMaxEdit> original{};
  std::array<uint8_t, abi::kMaxEdit> changed{};  // all `length` bytes

  std::span<const uint8_t> original_bytes() const { return {original.data(), size}; }
  std::span<const uint8_t> changed_bytes() const { return {changed.data(), size}; }
  // The bytes that must follow for the jump to lead to the right place.
  std::span<const uint8_t> tail() const { return {changed.data() + size, size_t{length} - size}; }
  TargetAddr end() const { return addr + size; }
  bool is_short_jump() const { return length == 2; }
  // The target of a short jump.
  TargetAddr short_target() const {
    return addr + length + static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(changed[1])));
  }
};

// A jump to `target` at `at`, of which only `room` may be changed, the bytes that stand there now.
Result<Edit> jump_edit(TargetAddr at, std::span<const uint8_t> room, TargetAddr target, uint8_t prefixes);

// The edits that lead from a site to its pad: one, or two where a springboard is between. `host` is the site
// in whose bytes the springboard lies; null: it has its own. kUnsupported if there is no such jump.
Result<std::vector<Edit>> site_edits(const Site& site, TargetAddr pad, const Site* host);

// The five bytes that a trampoline at `entry` consists of.
Result<std::array<uint8_t, abi::kJumpSize>> trampoline(TargetAddr entry, TargetAddr pad);

}  // namespace blip::probe
