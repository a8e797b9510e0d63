// SPDX-License-Identifier: MIT
// Code that is not a probe's own: shared by the pads of an area, or standing in for a clone-like system call.
#pragma once

#include <cstdint>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "jit/environment.h"

namespace blip::jit {

// The first bytes of a pad area: runtime blob, then the sub-buffer switch.
struct AreaPrologue {
  std::vector<uint8_t> code;
  AreaStubs stubs;
  TargetAddr safe_load{};  // an abi::SafeLoad; 0: what can be read is not known here
};
Result<AreaPrologue> build_area_prologue(TargetAddr at, const Environment& env);

// Stands in for `mov $number, %eax; syscall` at `site` (vfork, clone, clone3): holds the gate while a child
// that shares the thread's TLS may run, for such a child would write into rings under its parent's name and
// without being restarted; marks a new thread's rseq area as not registered yet. Uses only rax, rcx, r11 and
// flags, which the system call destroys anyway.
inline constexpr uint64_t kClonePadSize = 448;
inline constexpr uint64_t kCloneSiteSize = 7;  // both instructions
Result<std::vector<uint8_t>> build_clone_pad(TargetAddr at, TargetAddr site, uint32_t number,
                                             const Environment& env);

}  // namespace blip::jit
