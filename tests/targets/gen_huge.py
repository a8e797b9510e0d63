#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes assembly: COUNT functions huge_NNN (rdi -> rax), each followed by MEBIBYTE bytes of never reached code, and a
table of them. Every function calls the one at the other end of the text, so that near calls span all of it."""
import sys

MEBIBYTE = 1 << 20


def main():
    count = int(sys.argv[1])
    print("    .text")
    print("    .globl huge_leaf\n    .type huge_leaf, @function\nhuge_leaf:\n    lea 7(%rdi,%rdi,2), %rax\n    ret")
    print("    .size huge_leaf, . - huge_leaf")
    for i in range(count):
        callee = f"huge_{count - 1 - i:03}" if i < count // 2 else "huge_leaf"
        print(f"    .p2align 4\n    .globl huge_{i:03}\n    .type huge_{i:03}, @function\nhuge_{i:03}:")
        print(f"    push %rbx\n    mov %rdi, %rbx\n    call {callee}\n    lea {i}(%rax,%rbx), %rax\n    pop %rbx\n    ret")
        print(f"    .size huge_{i:03}, . - huge_{i:03}\n    .fill {MEBIBYTE}, 1, 0x90")
    print("    .section .data.rel.ro, \"aw\"\n    .globl many_functions\nmany_functions:")
    for i in range(count):
        print(f"    .quad huge_{i:03}")
    print(f"    .section .rodata\n    .globl many_count\nmany_count:\n    .quad {count}")
    print('    .section .note.GNU-stack, "", @progbits')


if __name__ == "__main__":
    main()
