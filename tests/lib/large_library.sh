#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes liblarge.so in this directory: one function of 24 MB, as in a stripped program with few names. It begins with a
# system call whose number is not known, and holds the bytes of one in every sixth instruction.
set -e
python3 - << 'END'
# mov %eax,%ecx; add $0x50f,%ecx; je .+4; test %ecx,%edx; lea 0x10(%rdi),%rsi; mov (%rsi),%rdx
block = bytes.fromhex("89c1 81c10f050000 7402 85ca 488d7710 488b16")
open("large.bin", "wb").write(bytes.fromhex("89f8 0f05") + block * (24_000_000 // len(block)) + b"\xc3")
END
cat > large.s << 'END'
.globl large_begin
.type large_begin, @function
large_begin: .incbin "large.bin"
.section .note.GNU-stack, "", @progbits
END
cc -shared -nostdlib -o liblarge.so large.s
rm large.bin large.s
