// SPDX-License-Identifier: MIT
// The functions that are traced.
#pragma once

int work(int value, const char* text);
int spin_work(int value, const char* text);  // works for burst_spin steps (burst.h)

// entry.S: the same little work behind three kinds of first instruction, and spin_work behind two.
int entry_mov(int value, const char* text);   // cannot be emulated: the kernel single-steps it out of line
int entry_push(int value, const char* text);  // the usual prologue: the kernel emulates it
int entry_nop5(int value, const char* text);  // five-byte nop: new kernels replace it by a call
int entry_nop5_too(int value, const char* text);
int spin_push(int value, const char* text);
int spin_nop5(int value, const char* text);
