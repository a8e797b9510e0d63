// SPDX-License-Identifier: MIT
// For tests only, in one file of a program: a real restartable sequence that reads as
// docs/design/safe_reads.md says.
#pragma once

#include <cstdint>

// Reads a word of every cache line of a page, again and again: for longer than the kernel needs to unmap it.
// 1: done; 0: not valid, or interrupted.
extern "C" uint64_t blip_test_safe_read(uint8_t* control, uint64_t addr, uint64_t* out, const uint64_t* hint,
                                        int64_t rseq_offset, const uint64_t* word);

asm(R"(
    .intel_syntax noprefix
    .section .data.rel.ro, "aw", @progbits
    .balign 32
blip_test_safe_read_cs:
    .long 0, 0
    .quad blip_test_safe_read_start, blip_test_safe_read_end - blip_test_safe_read_start, blip_test_safe_read_abort

    .text
    .globl blip_test_safe_read
blip_test_safe_read:
    lea rax, [rip + blip_test_safe_read_cs]
    mov fs:[r8 + 8], rax
blip_test_safe_read_start:
    mov rax, [rcx]
    mov r10, rax
    shr r10, 32
    add r10, rdi                        # the range
    mov r11, [r10 + 8]
    cmp rsi, [r10]
    jb 1f
    cmp eax, [r9]                       # its publication; after the loads of the range
    jne 1f
    sub r11, rsi
    jb 1f
    mov eax, 4096
    cmp r11, rax
    jb 1f
    mov r11d, 64
2:  mov eax, 4096
3:  sub rax, 64
    mov r10, [rsi + rax]
    jnz 3b
    dec r11d
    jnz 2b
    mov [rdx], r10
blip_test_safe_read_end:
    mov eax, 1
    ret
    .byte 0x0f, 0xb9, 0x3d
    .long 0x53053053
blip_test_safe_read_abort:
1:  xor eax, eax
    ret
    .att_syntax
    .text
)");
