// SPDX-License-Identifier: MIT
// Stands in for a system call that may take memory away, or install a filter: docs/design/safe_reads.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "jit/program/environment.h"

namespace blip::jit {

// The number is in rax already, and what is displaced is `mov 8(%rsp), %r9`: libc's syscall().
inline constexpr uint32_t kAnyNumber = UINT32_MAX;

// For `mov $number, %eax; syscall` at `site`, or for that of kAnyNumber. Uses only rax, rcx, r11 and flags,
// which the system call destroys anyway. `runtime`: where the blob is.
Result<std::vector<uint8_t>> build_unmap_pad(TargetAddr at, TargetAddr site, uint32_t number,
                                             TargetAddr runtime, const ProcessEnvironment& env);

// True if a pad stands in for calls of this number: one of ring::kDooming, or kAnyNumber.
bool may_unmap(uint32_t number);

}  // namespace blip::jit
