// SPDX-License-Identifier: MIT
// Offset 0 of the blob. A pad calls it in the middle of anything, so every register but rax, rcx, rdx survives; the
// compiler's code keeps rbx, rbp and r12-r15 itself and never touches vector registers.
    .intel_syntax noprefix
    .section .text.entry, "ax", @progbits
    .globl blip_reserve
    .hidden blip_reserve
    .type blip_reserve, @function
blip_reserve:
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    mov rdi, rcx
    mov esi, eax
    call blip_reserve_slot
    mov rcx, rdx
    mov rdx, rax
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    ret
    .size blip_reserve, . - blip_reserve

    .section .note.GNU-stack, "", @progbits
