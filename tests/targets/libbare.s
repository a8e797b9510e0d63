# SPDX-License-Identifier: MIT
# A library without symbols or unwind tables.
        nop
        ret
        .section .note.GNU-stack, "", @progbits
