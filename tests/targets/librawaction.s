# SPDX-License-Identifier: MIT
# Asks for a signal's action by a system call of its own, behind which the carry flag still matters.
        .globl raw_sigaction
        .type raw_sigaction, @function
raw_sigaction:
        mov $8, %r10d
        xor %edx, %edx
        xor %esi, %esi
        mov $1, %edi
        stc
        mov $13, %eax
        syscall
        adc $0, %rax
        ret
        .size raw_sigaction, . - raw_sigaction
        .section .note.GNU-stack, "", @progbits
