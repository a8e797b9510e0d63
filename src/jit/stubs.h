// SPDX-License-Identifier: MIT
// Code that is not a probe's own: shared by the pads of an area, or standing in for a clone-like system call.
#pragma once

#include <cstdint>
#include <vector>

#include "base/addr.h"
#include "base/result.h"
#include "jit/program/environment.h"
#include "x86/flow/syscall_sites.h"

namespace blip::jit {

// The first bytes of a pad area: runtime blob, then the code of each channel.
struct AreaPrologue {
  std::vector<uint8_t> code;
  AreaStubs stubs;
};
Result<AreaPrologue> build_area_prologue(TargetAddr at, const Environment& env);

// Stands in for `mov $number, %eax; syscall` at `site` (vfork, clone, clone3): holds the gate while a child
// that shares the thread's TLS may run, for such a child would write into rings under its parent's name and
// without being restarted; marks a new thread's rseq area as not registered yet. Uses only rax, rcx, r11 and
// flags, which the system call destroys anyway. With births who is born tells of it (docs/design/
// lifecycle.md), below its stack's red zone; `reserve` as of AreaStubs.
inline constexpr uint64_t kClonePadSize = 1280;
inline constexpr uint64_t kSyscallSiteSize = 7;  // both instructions
Result<std::vector<uint8_t>> build_clone_pad(TargetAddr at, const x86::SyscallSite& site,
                                             const Environment& env, TargetAddr reserve = {});

// Records of blip's own about lives: where the thread and the value are. Of a birth the value is the pid of
// the parent, 0 if it is not known, or kSharesMemory: the process that the record is of.
inline constexpr uint16_t kLifeTid = 8;
inline constexpr uint16_t kLifeValue = 12;
inline constexpr uint32_t kLifeSize = 24;
inline constexpr int64_t kSharesMemory = -1;

}  // namespace blip::jit
