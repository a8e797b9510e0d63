# SPDX-License-Identifier: MIT
# Functions no compiler writes: flags that live across the entry, branches and calls in the first bytes, tiny bodies
# without padding. odd_call(function, x, flags) calls one with these flags and returns rax.
        .text
        .macro odd name
        .globl odd_\name
        .type odd_\name, @function
odd_\name:
        .endm
        .macro end name
        .size odd_\name, . - odd_\name
        .pushsection .data.rel.ro.table, "aw"
        .quad odd_\name, 9f
        .popsection
        .pushsection .rodata
9:      .asciz "\name"
        .popsection
        .endm

        .pushsection .data.rel.ro.table, "aw"
        .balign 8
        .globl odd_functions
odd_functions:
        .popsection

        odd setc                        # CF is an argument
        setc %al
        movzbl %al, %eax
        ret
        end setc

        odd jc                          # a short branch on CF first
        jc 1f
        mov $1, %eax
        ret
1:      mov $2, %eax
        ret
        end jc

        odd adc
        adc $0, %rdi
        mov %rdi, %rax
        ret
        end adc

        odd all_flags                   # all status flags as they came
        pushfq
        pop %rax
        and $0x8d5, %eax
        ret
        end all_flags

        odd lea_then_flags              # the first instruction does not touch flags, the second reads them
        lea 1(%rdi), %rax
        seto %dl
        movzbl %dl, %edx
        add %rdx, %rax
        ret
        end lea_then_flags

        odd entry_is_loop               # a branch back to the entry itself
        lea -1(%rdi), %rdi
        test %rdi, %rdi
        jg odd_entry_is_loop
        mov %rdi, %rax
        ret
        end entry_is_loop

        odd branch_inside               # a branch into the second instruction
        mov %rdi, %rax
1:      dec %rax
        jg 1b
        ret
        end branch_inside

        odd call_first                  # the callee looks at its return address
        call odd_return_offset
        nop
        ret
        end call_first

        odd get_pc
        call 1f
1:      pop %rax
        lea 1b(%rip), %rdx
        sub %rdx, %rax
        ret
        end get_pc

        odd jrcxz
        mov %rdi, %rcx
        jrcxz 1f
        mov $11, %eax
        ret
1:      mov $12, %eax
        ret
        end jrcxz

        odd loop
        mov %edi, %ecx
        and $15, %ecx
        inc %ecx
        xor %eax, %eax
1:      add $3, %rax
        loop 1b
        ret
        end loop

        odd rip_relative
        mov odd_value(%rip), %rax
        add %rdi, %rax
        ret
        end rip_relative

        odd rip_immediate               # displacement and immediate in one instruction
        cmpl $0x12345678, odd_value(%rip)
        sete %al
        movzbl %al, %eax
        ret
        end rip_immediate

        odd short_jump_first
        jmp 1f
        nop
        nop
        nop
1:      lea 7(%rdi), %rax
        ret
        end short_jump_first

        odd tail
        jmp odd_rip_relative
        end tail

        odd prefixed
        lock incl odd_counter(%rip)
        mov %rdi, %rax
        ret
        end prefixed

        odd system_call                 # getppid
        mov $110, %eax
        syscall
        test %eax, %eax
        setg %al
        movzbl %al, %eax
        ret
        end system_call

        odd xmm
        movq %rdi, %xmm7
        paddq %xmm7, %xmm7
        movq %xmm7, %rax
        ret
        end xmm

        odd stack_heavy
        push %rdi
        push %rsi
        pop %rdx
        pop %rax
        ret
        end stack_heavy

        odd ret_only
        ret
        end ret_only

        odd three_bytes
        xor %eax, %eax
        ret
        end three_bytes

        odd after_three_bytes
        mov %rdi, %rax
        not %rax
        ret
        end after_three_bytes

        .type odd_return_offset, @function
odd_return_offset:
        mov (%rsp), %rax
        lea odd_call_first(%rip), %rdx
        sub %rdx, %rax
        ret
        .size odd_return_offset, . - odd_return_offset

        .globl odd_call
        .type odd_call, @function
odd_call:
        push %rbx
        mov %rdi, %r11
        mov %rsi, %rdi
        mov $77, %eax
        push %rdx
        popfq
        call *%r11
        pop %rbx
        ret
        .size odd_call, . - odd_call

# Never called: no copy of their first instructions can be right.
        .balign 16
        .macro refused name
        .globl odd_\name
        .type odd_\name, @function
odd_\name:
        .endm
        refused undefined
        ud2
        .size odd_undefined, . - odd_undefined
        refused halts
        hlt
        ret
        .size odd_halts, . - odd_halts
        refused transaction
        xbegin 1f
1:      ret
        .size odd_transaction, . - odd_transaction
        refused overlapped
        .byte 0xf0                      # lock
1:      cmpxchg %rcx, (%rdi)
        jne 1b
        ret
        .size odd_overlapped, . - odd_overlapped

        .pushsection .data.rel.ro.table, "aw"
        .quad 0, 0
        .popsection
        .section .rodata
        .balign 8
odd_value:
        .quad 0x12345678
        .data
        .balign 8
odd_counter:
        .quad 0
        .section .note.GNU-stack, "", @progbits
