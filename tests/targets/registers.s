# SPDX-License-Identifier: MIT
# fill_registers_and_call: every general register but rsp holds 0x1100 + its number at the entry of known_registers,
# every xmm register a pattern. Returns 0 if all still hold them afterwards.
        .text
        .globl known_registers
        .type known_registers, @function
        .balign 16
known_registers:
        mov %rax, %rax
        mov %rcx, %rcx
        ret
        .size known_registers, . - known_registers

        .macro verify register, value
        cmp $\value, \register
        jne 1f
        .endm

        .globl fill_registers_and_call
        .type fill_registers_and_call, @function
        .balign 16
fill_registers_and_call:
        push %rbx
        push %rbp
        push %r12
        push %r13
        push %r14
        push %r15
        sub $24, %rsp
        mov $0x1100, %eax
        movq %rax, %xmm0
        pshufd $0, %xmm0, %xmm0
        movdqa %xmm0, (%rsp)
        .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movdqa %xmm0, %xmm\n
        .endr
        mov $0x1101, %ecx
        mov $0x1102, %edx
        mov $0x1103, %ebx
        mov $0x1105, %ebp
        mov $0x1106, %esi
        mov $0x1107, %edi
        mov $0x1108, %r8d
        mov $0x1109, %r9d
        mov $0x110a, %r10d
        mov $0x110b, %r11d
        mov $0x110c, %r12d
        mov $0x110d, %r13d
        mov $0x110e, %r14d
        mov $0x110f, %r15d
        call known_registers
        verify %rax, 0x1100
        verify %rcx, 0x1101
        verify %rdx, 0x1102
        verify %rbx, 0x1103
        verify %rbp, 0x1105
        verify %rsi, 0x1106
        verify %rdi, 0x1107
        verify %r8, 0x1108
        verify %r9, 0x1109
        verify %r10, 0x110a
        verify %r11, 0x110b
        verify %r12, 0x110c
        verify %r13, 0x110d
        verify %r14, 0x110e
        verify %r15, 0x110f
        .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        pcmpeqd (%rsp), %xmm\n
        pmovmskb %xmm\n, %eax
        cmp $0xffff, %eax
        jne 1f
        .endr
        xor %eax, %eax
        jmp 2f
1:      mov $1, %eax
2:      add $24, %rsp
        pop %r15
        pop %r14
        pop %r13
        pop %r12
        pop %rbp
        pop %rbx
        ret
        .size fill_registers_and_call, . - fill_registers_and_call
        .section .note.GNU-stack, "", @progbits
