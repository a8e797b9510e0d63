# SPDX-License-Identifier: MIT
# Functions that all return rdi + rsi, each with other short instructions in the first five bytes.
        .text
        .macro tiny name
        .globl \name
        .type \name, @function
        .balign 16
\name:
        .endm
        .macro done name
        .size \name, . - \name
        .endm

        tiny tiny_mov_add
        mov %rdi, %rax
        add %rsi, %rax
        ret
        done tiny_mov_add

        tiny tiny_lea
        lea (%rdi,%rsi), %rax
        nop
        nop
        ret
        done tiny_lea

        tiny tiny_push_pop
        push %rbx
        mov %rdi, %rbx
        add %rsi, %rbx
        mov %rbx, %rax
        pop %rbx
        ret
        done tiny_push_pop

        tiny tiny_nops
        nop
        nop
        nop
        nop
        nop
        lea (%rdi,%rsi), %rax
        ret
        done tiny_nops

        tiny tiny_endbr
        endbr64
        mov %rsi, %rax
        add %rdi, %rax
        ret
        done tiny_endbr

        tiny tiny_frame
        push %rbp
        mov %rsp, %rbp
        sub $16, %rsp
        mov %rdi, -8(%rbp)
        mov -8(%rbp), %rax
        add %rsi, %rax
        leave
        ret
        done tiny_frame

        tiny tiny_rip
        mov tiny_zero(%rip), %rax
        add %rdi, %rax
        add %rsi, %rax
        ret
        done tiny_rip

        tiny tiny_short_jump
        test %rdi, %rdi
        je 1f
        mov %rdi, %rax
        add %rsi, %rax
        ret
1:      mov %rsi, %rax
        ret
        done tiny_short_jump

        tiny tiny_xor
        xor %eax, %eax
        push %rdi
        pop %rax
        nop
        add %rsi, %rax
        ret
        done tiny_xor

        tiny tiny_nop5
        .byte 0x0f, 0x1f, 0x44, 0x00, 0x00
        lea (%rsi,%rdi), %rax
        ret
        done tiny_nop5

        .section .rodata
        .balign 8
tiny_zero:
        .quad 0
        .section .data.rel.ro, "aw"
        .globl tiny_functions
        .balign 8
tiny_functions:
        .quad tiny_mov_add, tiny_lea, tiny_push_pop, tiny_nops, tiny_endbr
        .quad tiny_frame, tiny_rip, tiny_short_jump, tiny_xor, tiny_nop5
        .section .rodata
        .globl tiny_count
        .balign 8
tiny_count:
        .quad 10
        .section .note.GNU-stack, "", @progbits
