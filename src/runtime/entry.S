// SPDX-License-Identifier: MIT
// Offsets 0 and 64 of the blob. A pad calls them in the middle of anything, so every register but rax, rcx, rdx survives;
// the compiler's code keeps rbx, rbp and r12-r15 itself and never touches vector registers.
    .intel_syntax noprefix
    .section .text.entry, "ax", @progbits

    .macro ENTRY name, function
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    mov rdi, rcx
    mov esi, eax
    call \function
    mov rcx, rdx
    mov rdx, rax
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    ret
    .size \name, . - \name
    .endm

    ENTRY blip_reserve, blip_reserve_slot
    .balign 64
    ENTRY blip_reserve_monotonic, blip_reserve_slot_monotonic  // rdx is the third argument already

    .section .note.GNU-stack, "", @progbits
