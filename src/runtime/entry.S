// SPDX-License-Identifier: MIT
// The entries of the blob, each in its slot of entries.h. A pad calls them in the middle of anything, so every register but
// rax, rcx, rdx survives; the compiler's code keeps rbx, rbp and r12-r15 itself and never touches vector registers.
    .intel_syntax noprefix
    .section .text.entry, "ax", @progbits

// slot_SYMBOL: where an entry begins.
#define BLIP_ENTRY(name, number, symbol, part, stack) .set slot_##symbol, number * 64
#include "runtime/entries.h"
#undef BLIP_ENTRY

    // An entry that grew out of its slot is an error: the assembler does not move .org backwards.
    .macro BEGIN name
    .org slot_\name
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    .endm

    .macro END name
    .size \name, . - \name
    .endm

    .macro SAVE
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    .endm

    .macro RESTORE
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    .endm

    // rcx, eax, rdx and what r8 and r9 hold are the arguments; rcx = the first word returned, rdx = the second, or the only
    // one.
    .macro ENTRY name, function
    BEGIN \name
    SAVE
    mov rdi, rcx
    mov esi, eax
    call \function
    mov rcx, rdx
    mov rdx, rax
    RESTORE
    ret
    END \name
    .endm

    ENTRY blip_reserve, blip_reserve_slot
    ENTRY blip_reserve_monotonic, blip_reserve_slot_monotonic

    // The kernel calls blip's SIGTRAP handler here, by way of a stub. Arguments and stack are those of any handler; a handler
    // of the target's gets them untouched.
    BEGIN blip_trap
    push rdi
    push rsi
    push rdx
    mov rdi, rcx
    lea rcx, [rsp+24]
    call blip_handle_trap
    pop rdx
    pop rsi
    pop rdi
    test rax, rax
    jnz 1f
    ret
1:  mov rcx, rax
    xor eax, eax
    jmp rcx
    END blip_trap

    BEGIN blip_restore
    .byte 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00  // mov rax, 15
    syscall
    END blip_restore

    BEGIN blip_set_action
    push rdi
    push rsi
    push rdx
    push r8
    push r9
    push r10
    mov rdi, rcx
    mov rcx, r10
    call blip_change_action
    pop r10
    pop r9
    pop r8
    pop rdx
    pop rsi
    pop rdi
    ret
    END blip_set_action

    ENTRY blip_enter, blip_enter_call
    ENTRY blip_find, blip_find_entered
    ENTRY blip_leave, blip_leave_call
    ENTRY blip_enter_monotonic, blip_enter_call_monotonic
    ENTRY blip_measure, blip_measure_call
    ENTRY blip_measure_monotonic, blip_measure_call_monotonic
    ENTRY blip_tell_libraries, blip_tell_of_libraries
    ENTRY blip_find_reading, blip_find_own_reading

    // The arguments of the system call, as an array.
    BEGIN blip_begin_call
    push r9
    push r8
    push r10
    push rdx
    push rsi
    push rdi
    mov rdi, rcx
    mov esi, eax
    mov rdx, rsp
    call blip_begin_system_call
    pop rdi
    pop rsi
    pop rdx
    pop r10
    pop r8
    pop r9
    ret
    END blip_begin_call

    ENTRY blip_find_range, blip_find_valid_range
    ENTRY blip_fetch, blip_fetch_from_self

    BEGIN blip_backtrace
    SAVE
    mov rdi, rcx
    mov rsi, rax
    mov rcx, rbp
    call blip_find_stack
    mov rdx, rax
    RESTORE
    ret
    END blip_backtrace

    BEGIN blip_collect
    SAVE
    mov rdi, rcx
    mov rsi, rax
    mov rcx, r9
    call blip_collect_from
    mov rdx, rax
    RESTORE
    ret
    END blip_collect
    .org slot_blip_collect + 64

    .section .note.GNU-stack, "", @progbits
