# SPDX-License-Identifier: MIT
# Code whose every instruction is known: where it is, what it leaves in rdi, how often it runs.
        .text
        .globl straight, looped, dispatch, quirky
        .type straight, @function
        .balign 16
straight:
        lea 1(%rdi), %rdi           # +0x0
        add %rdi, %rdi              # +0x4   rdi = i + 1
        xor $0x55, %rdi             # +0x7   rdi = 2 * (i + 1)
        mov %rdi, %rax              # +0xb   rdi = 2 * (i + 1) ^ 0x55
        ret                         # +0xe
        .size straight, . - straight

        .type looped, @function
        .balign 16
looped:
        xor %eax, %eax              # +0x0
1:      add %rdi, %rax              # +0x2   n times
        dec %rdi                    # +0x5   n times
        jnz 1b                      # +0x8   n times
        ret                         # +0xa
        .size looped, . - looped

# dispatch(i): short instructions of all kinds that change the flow.
        .type dispatch, @function
        .balign 16
dispatch:
        push %rbx                   # +0x0
        push %rdi                   # +0x1
        pop %rbx                    # +0x2
        test $1, %bl                # +0x3
        jz 1f                       # +0x6   half of the calls
        inc %rbx                    # +0x8
        call 2f                     # +0xb
        jmp 3f                      # +0x10
1:      dec %rbx                    # +0x12
        call 2f                     # +0x15
3:      pop %rbx                    # +0x1a
        ret                         # +0x1b
2:      lea (%rbx,%rbx,2), %rax     # +0x1c
        ret                         # +0x20
        .size dispatch, . - dispatch

# A function whose middle is data, which is jumped over.
        .type quirky, @function
        .balign 16
quirky:
        mov %rdi, %rax              # +0x0
        jmp 1f                      # +0x3
        .byte 0x06, 0x06            # +0x5
1:      inc %rax                    # +0x7
        ret                         # +0xa
        .size quirky, . - quirky
        .section .note.GNU-stack, "", @progbits
