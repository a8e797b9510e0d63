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

    // Offset 128: where the kernel calls blip's SIGTRAP handler, by way of a stub that sets rcx = abi::TrapTable*.
    // Arguments and stack are those of any handler; a handler of the target's gets them untouched.
    .balign 64
    .globl blip_trap
    .hidden blip_trap
    .type blip_trap, @function
blip_trap:
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
    .size blip_trap, . - blip_trap

    // Offset 192: its restorer, the very bytes by which unwinders know one.
    .balign 64
    .globl blip_restore
    .hidden blip_restore
    .type blip_restore, @function
blip_restore:
    .byte 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00  // mov rax, 15
    syscall
    .size blip_restore, . - blip_restore

    // Offset 256: instead of rt_sigaction(SIGTRAP, rsi, rdx, r10); rcx = abi::TrapTable*. As after a system call, only
    // rax, rcx and r11 are changed.
    .balign 64
    .globl blip_set_action
    .hidden blip_set_action
    .type blip_set_action, @function
blip_set_action:
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
    .size blip_set_action, . - blip_set_action

    // Offset 320 on: what pads of return probes leave to C++, with eax = id, rcx = control, rdx = slot or frame; the result
    // is in rdx. The monotonic ones take the address of clock_gettime in r8.
    .balign 64
    ENTRY blip_enter, blip_enter_call
    .balign 64
    ENTRY blip_find, blip_find_entered
    .balign 64
    ENTRY blip_leave, blip_leave_call
    .balign 64
    ENTRY blip_enter_monotonic, blip_enter_call_monotonic
    .balign 64
    ENTRY blip_measure, blip_measure_call
    .balign 64
    ENTRY blip_measure_monotonic, blip_measure_call_monotonic

    // Offset 704: eax = whether system calls may be made, rcx = control.
    .balign 64
    ENTRY blip_tell_libraries, blip_tell_of_libraries

    // Offset 768: rcx = control, rdx = where the thread's rseq_cs is.
    .org 768
    ENTRY blip_find_reading, blip_find_own_reading

    // Offset 832: before a system call that may take memory away, with its registers, eax = number, rcx = control. Like the
    // call itself, changes only rax, rcx and r11.
    .org 832
    .globl blip_begin_call
    .hidden blip_begin_call
    .type blip_begin_call, @function
blip_begin_call:
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
    .size blip_begin_call, . - blip_begin_call

    // Offset 896: eax = index of the hint, rcx = control, rdx = address.
    .org 896
    ENTRY blip_find_range, blip_find_valid_range
    // Offset 960: r8 and r9 are the fifth and sixth argument already.
    .org 960
    ENTRY blip_fetch, blip_fetch_from_self

    // Offset 1024: rax = where the hit is, rcx = abi::UnwindHeader*, rdx = rsp of the code, rbp its rbp. The id is in rdx.
    .org 1024
    .globl blip_backtrace
    .hidden blip_backtrace
    .type blip_backtrace, @function
blip_backtrace:
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    mov rdi, rcx
    mov rsi, rax
    mov rcx, rbp
    call blip_find_stack
    mov rdx, rax
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    ret
    .size blip_backtrace, . - blip_backtrace

    // Offset 1088: rax = collect::Table*, rcx = control, rdx = address, r8 = where to, r9 = elements. The size is in rdx.
    .org 1088
    .globl blip_collect
    .hidden blip_collect
    .type blip_collect, @function
blip_collect:
    push rsi
    push rdi
    push r8
    push r9
    push r10
    push r11
    mov rdi, rcx
    mov rsi, rax
    mov rcx, r9
    call blip_collect_from
    mov rdx, rax
    pop r11
    pop r10
    pop r9
    pop r8
    pop rdi
    pop rsi
    ret
    .size blip_collect, . - blip_collect

    .section .note.GNU-stack, "", @progbits
