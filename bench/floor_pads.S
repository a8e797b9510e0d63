// SPDX-License-Identifier: MIT
// Each function is `work` with its first instruction replaced by a jump to a pad, which does its job, executes the
// displaced instruction and jumps back. An event is 16 bytes: timestamp, value, id.

#define RING_POS 0
#define RING_MASK 8
#define RING_DATA 16
#define RING_COUNT 24
#define RING_SHIFT 6
#define EVENT_SIZE 16
#define EVENT_ID 1
// struct rseq of the kernel; the signature is the one glibc registers for x86.
#define RSEQ_CPU_ID 4
#define RSEQ_CS 8
#define RSEQ_SIGNATURE 0x53053053

.macro function name
        .globl \name
        .type \name, @function
        .p2align 6
\name:
.endm

.macro displaced
        imul $16777619, %edi, %eax
.endm

// The entry of a patched function: a 5-byte jump, one byte left over, and the way back.
.macro patched name
        function \name
        jmp pad_\name
        nop
back_\name:
        ret
        .size \name, . - \name
        .p2align 6
pad_\name:
.endm

.macro leave name
        displaced
        jmp back_\name
.endm

// Between these two the kernel sends a preempted or migrated thread to the abort address, which starts again.
// rcx holds the offset of the rseq area from the thread pointer until the section loads over it.
.macro section_begin name
restart_\name:
        lea descriptor_\name(%rip), %rax
        mov floor_rseq_offset(%rip), %rcx
        mov %rax, %fs:RSEQ_CS(%rcx)
begin_\name:
.endm

.macro section_end name
end_\name:
.endm

.macro section_table name
        .byte 0x0f, 0xb9, 0x3d          // ud1 with the signature as its operand
        .long RSEQ_SIGNATURE
abort_\name:
        jmp restart_\name
        .pushsection .data.rel.local, "aw"
        .p2align 5
descriptor_\name:
        .long 0, 0
        .quad begin_\name, end_\name - begin_\name, abort_\name
        .popsection
.endm

// rcx: cpu number in, its ring out; clobbers rdx.
.macro ring_of_cpu
        shl $RING_SHIFT, %ecx
        lea floor_rings(%rip), %rdx
        add %rdx, %rcx
.endm

        .text

function floor_plain
        displaced
        ret
        .size floor_plain, . - floor_plain

function floor_rdtsc
        rdtsc
        displaced
        ret
        .size floor_rdtsc, . - floor_rdtsc

function floor_rdtsc_twice
        rdtsc
        rdtsc
        displaced
        ret
        .size floor_rdtsc_twice, . - floor_rdtsc_twice

patched floor_jump
        leave floor_jump

patched floor_rseq_event
        push %rax
        push %rcx
        push %rdx
        section_begin floor_rseq_event
        mov %fs:RSEQ_CPU_ID(%rcx), %ecx
        ring_of_cpu                     // before rdtsc: 2 ns less than after it
        rdtsc
        shl $32, %rdx
        or %rdx, %rax
        mov RING_POS(%rcx), %rdx
        and RING_MASK(%rcx), %rdx
        add RING_DATA(%rcx), %rdx
        mov %rax, (%rdx)
        mov %edi, 8(%rdx)
        movl $EVENT_ID, 12(%rdx)
        addq $EVENT_SIZE, RING_POS(%rcx)
        section_end floor_rseq_event
        pop %rdx
        pop %rcx
        pop %rax
        leave floor_rseq_event
        section_table floor_rseq_event

patched floor_rseq_count
        push %rax
        push %rcx
        section_begin floor_rseq_count
        mov %fs:RSEQ_CPU_ID(%rcx), %ecx
        shl $RING_SHIFT, %ecx
        lea floor_rings(%rip), %rax
        incq RING_COUNT(%rax, %rcx)
        section_end floor_rseq_count
        pop %rcx
        pop %rax
        leave floor_rseq_count
        section_table floor_rseq_count

// Without rseq: reserve by compare-and-swap, whoever shares the ring. rdtscp also names the CPU.
patched floor_locked_event
        push %rax
        push %rcx
        push %rdx
        push %r8
        push %r9
1:      rdtscp
        and $0xfff, %ecx
        shl $32, %rdx
        or %rax, %rdx
        mov %rdx, %r8
        ring_of_cpu
        mov RING_POS(%rcx), %rax
        lea EVENT_SIZE(%rax), %r9
        lock cmpxchg %r9, RING_POS(%rcx)
        jne 1b
        and RING_MASK(%rcx), %rax
        add RING_DATA(%rcx), %rax
        mov %r8, (%rax)
        mov %edi, 8(%rax)
        movl $EVENT_ID, 12(%rax)
        pop %r9
        pop %r8
        pop %rdx
        pop %rcx
        pop %rax
        leave floor_locked_event

        .section .note.GNU-stack, "", @progbits
