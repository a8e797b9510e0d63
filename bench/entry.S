// SPDX-License-Identifier: MIT
// What a kernel uprobe costs depends on the instruction it stands on: functions that begin in the ways that differ.
        .text

        .macro entry name
        .p2align 4
        .globl \name
        .type \name, @function
\name:
        .endm

        .macro done name
        .size \name, . - \name
        .endm

entry entry_mov
        mov     %edi, %eax
        imul    $16777619, %eax, %eax
        ret
done entry_mov

entry entry_push
        push    %rbp
        mov     %rsp, %rbp
        imul    $16777619, %edi, %eax
        pop     %rbp
        ret
done entry_push

entry entry_nop5
        .byte   0x0f, 0x1f, 0x44, 0x00, 0x00    // nopl 0(%rax,%rax,1)
        imul    $16777619, %edi, %eax
        ret
done entry_nop5

entry entry_nop5_too
        .byte   0x0f, 0x1f, 0x44, 0x00, 0x00    // nopl 0(%rax,%rax,1)
        imul    $16777619, %edi, %eax
        ret
done entry_nop5_too

entry spin_push
        push    %rbp
        mov     %rsp, %rbp
        call    spin_work
        pop     %rbp
        ret
done spin_push

entry spin_nop5
        .byte   0x0f, 0x1f, 0x44, 0x00, 0x00    // nopl 0(%rax,%rax,1)
        jmp     spin_work
done spin_nop5

        .section .note.GNU-stack, "", @progbits
