// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "base/addr.h"
#include "base/result.h"
#include "x86/decode.h"
#include "x86/rewrite.h"

namespace blip::x86 {

// The bytes a jump replaces.
struct Window {
  TargetAddr start;
  uint8_t length = 0;  // whole instructions, to be relocated; padding not counted
  Step step = Step::kWindow;
  uint8_t padding = 0;       // bytes of nop or int3 behind a ret or jmp that the jump also covers
  bool needs_proof = false;  // the interior must be free of entry points: see InteriorSet
  bool flags_live = false;   // the code at start may read status flags it did not write
  bool self_branch = false;  // a branch of the function leads to start: the red zone may be in use there
  uint8_t lead = 0;          // bytes from start on that must run before the probe's program: see GoStackCheck

  // Everything the patch owns: [start, end()).
  TargetAddr end() const { return start + length + padding; }
};

struct FunctionBytes {
  std::span<const uint8_t> bytes;  // the whole function, as far as its size is known
  TargetAddr addr;
  std::span<const uint8_t> after;  // what follows it, up to the next symbol or the end of the segment
};

struct WindowOptions {
  bool go = false;  // a goroutine may be parked anywhere: single instructions, or the stack check
  bool shadow_stack = false;
  bool verdict_only = false;  // flags_live and self_branch, which cost most and refuse nothing, are left out
};

// The site of an entry probe: behind a leading endbr64, the first of the ladder's steps that fits. The window
// can be relocated to any place near; whether its interior is free (needs_proof) is for the caller to find
// out. Otherwise kUnsupported with a reason for users.
Result<Window> entry_window(const FunctionBytes& function, const WindowOptions& options = {});

}  // namespace blip::x86
