# SPDX-License-Identifier: MIT
# More functions than blip sets memory aside for to measure each. Nobody calls them.
    .text
    .altmacro
    .macro FUNCTION n
    .type crowd_\n, @function
crowd_\n:
    xor %eax, %eax
    nop
    nop
    ret
    .size crowd_\n, . - crowd_\n
    .endm
    .set i, 0
    .rept 150000
    FUNCTION %i
    .set i, i + 1
    .endr
    .section .note.GNU-stack, "", @progbits
