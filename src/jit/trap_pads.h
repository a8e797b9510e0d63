// SPDX-License-Identifier: MIT
// Generated code around the runtime's SIGTRAP handler. See docs/design/traps.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/addr.h"
#include "base/result.h"

namespace blip::jit {

// The places of the handler's runtime (the blob) and of its abi::TrapTable.
struct TrapPlaces {
  TargetAddr runtime;
  TargetAddr table;
};

inline constexpr uint64_t kTrapPadSize = 64;

// Builds the code that the kernel calls for SIGTRAP.
Result<std::vector<uint8_t>> build_trap_stub(TargetAddr at, const TrapPlaces& places);

// Stands in for `mov $13, %eax; syscall` at `site`, rt_sigaction: for SIGTRAP the table is changed, for any
// other signal the kernel's. Uses only rax, rcx, r11 and flags, which must be dead behind the site.
inline constexpr uint32_t kSigactionNumber = 13;
inline constexpr uint64_t kSigactionSiteSize = 7;  // both instructions
Result<std::vector<uint8_t>> build_sigaction_pad(TargetAddr at, TargetAddr site, const TrapPlaces& places);

}  // namespace blip::jit
