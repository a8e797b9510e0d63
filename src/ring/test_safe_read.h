// SPDX-License-Identifier: MIT
// For tests only, in one file of a program: a real restartable sequence that reads as
// docs/design/safe_reads.md says.
#pragma once

#include <sys/rseq.h>

#include <cstdint>

#include "ring/ranges.h"

// The one whose sections these are: the control address, before the first read.
extern "C" uint64_t blip_test_safe_read_owner;

// Reads a word of every cache line of a page, again and again: for longer than the kernel needs to unmap it.
// 1: done; 0: not valid, or interrupted.
extern "C" uint64_t blip_test_safe_read(uint64_t addr, uint64_t* out, const uint64_t* hint,
                                        int64_t rseq_offset, const uint64_t* word,
                                        blip::abi::Reading* reading);

asm(R"(
    .intel_syntax noprefix
    .data
    .balign 32
    .quad 0, 0, 0
    .globl blip_test_safe_read_owner
blip_test_safe_read_owner:
    .quad 0
blip_test_safe_read_cs:
    .long 0, 0
    .quad blip_test_safe_read_start, blip_test_safe_read_end - blip_test_safe_read_start, blip_test_safe_read_abort

    .text
    .globl blip_test_safe_read
blip_test_safe_read:
    lea rax, [rip + blip_test_safe_read_cs]
    mov fs:[rcx + 8], rax
blip_test_safe_read_start:
    mov [r9], rdi                       # what is read, before anything is known of it
    mov rax, [rdx]
    mov r10, rax
    shr r10, 32
    add r10, [rip + blip_test_safe_read_owner]  # the range
    mov r11, [r10 + 8]
    cmp rdi, [r10]
    jb 1f
    cmp eax, [r8]                       # its publication; after the loads of the range
    jne 1f
    sub r11, rdi
    jb 1f
    mov eax, 4096
    cmp r11, rax
    jb 1f
    mov r11d, 64
2:  mov eax, 4096
3:  sub rax, 64
    mov r10, [rdi + rax]
    jnz 3b
    dec r11d
    jnz 2b
    mov [rsi], r10
blip_test_safe_read_end:
    mov qword ptr fs:[rcx + 8], 0
    mov eax, 1
    ret
    .byte 0x0f, 0xb9, 0x3d
    .long 0x53053053
blip_test_safe_read_abort:
1:  mov qword ptr fs:[rcx + 8], 0
    xor eax, eax
    ret
    .att_syntax
    .text
)");

namespace blip::ring {

// A read of this thread, with the hint's number.
inline bool test_safe_read(uint8_t* control, uint64_t addr, uint32_t hint) {
  const uint64_t thread =
      reinterpret_cast<uint64_t>(__builtin_thread_pointer()) + static_cast<uint64_t>(__rseq_offset) + 8;
  abi::RangeControl& ranges = *range_control(control);
  abi::Reading* reading = find_reading(ranges, thread);
  const auto* hints =
      reinterpret_cast<const uint64_t*>(control - abi::kGatePageSize + abi::kRangeHintsOffset);
  uint64_t value;
  if (reading == nullptr) return false;
  __atomic_fetch_add(&reading->sections, 1, __ATOMIC_RELAXED);
  return blip_test_safe_read(addr, &value, hints + hint, __rseq_offset, &ranges.word, reading) != 0;
}

}  // namespace blip::ring
