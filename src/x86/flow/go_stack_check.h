// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace blip::x86 {

// The code by which a Go function makes sure that its stack is large enough, before anything else:
//
//   [mov %fs:-8, %rcx]        assembly functions, and all of them before Go 1.17
//   [lea -frame(%rsp), %r12]  large frames
//   cmp  0x10(%r14), %rsp     g.stackguard0
//   jbe  call_morestack       and from there back to the entry
//
// Code behind it runs once per call and has at least 800 bytes of stack below it.
struct GoStackCheck {
  uint8_t length = 0;  // of all of it
  // The number of first instructions that can be replaced: a goroutine may be parked at any instruction
  // except at the jbe, which the compiler marks as no place for preemption.
  uint8_t replaceable = 0;
};

// The check at the start of a function's bytes; nothing if there is none of a known form.
std::optional<GoStackCheck> go_stack_check(std::span<const uint8_t> function);

}  // namespace blip::x86
