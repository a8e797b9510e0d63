// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace blip::machine {

[[gnu::always_inline]] inline uint64_t read_counter() { return __builtin_ia32_rdtsc(); }

// After every earlier load and before every later one.
inline uint64_t read_counter_in_order() {
  asm volatile("lfence" ::: "memory");
  const uint64_t count = read_counter();
  asm volatile("lfence" ::: "memory");
  return count;
}

// IA32_TSC_AUX and the limit of a segment made for it hold node << 12 | cpu on Linux.
inline constexpr unsigned kCpuMask = 0xfff;

struct CounterOnCpu {
  uint64_t counter;
  uint32_t cpu;
};

[[gnu::always_inline]] inline CounterOnCpu read_counter_on_cpu() {
  unsigned aux;
  const uint64_t counter = __builtin_ia32_rdtscp(&aux);
  return {counter, aux & kCpuMask};
}

[[gnu::always_inline]] inline uint32_t current_cpu() {
  constexpr unsigned kCpuNodeSegment = 0x7b;  // __CPUNODE_SEG of <asm/segment.h>
  unsigned node_and_cpu;
  asm volatile("lsl %1, %0" : "=r"(node_and_cpu) : "r"(kCpuNodeSegment) : "cc");
  return node_and_cpu & kCpuMask;
}

// The first word of a thread's block is its own address.
[[gnu::always_inline]] inline uint64_t thread_pointer() {
  uint64_t pointer;
  asm volatile("movq %%fs:0, %0" : "=r"(pointer));
  return pointer;
}

// The word so many bytes from the thread pointer.
[[gnu::always_inline]] inline int32_t thread_word(int64_t offset) {
  int32_t word;
  asm volatile("movl %%fs:(%1), %0" : "=r"(word) : "r"(offset));
  return word;
}

inline constexpr long kSysSchedYield = 24, kSysNanosleep = 35, kSysGetpid = 39, kSysGettid = 186,
                      kSysFutex = 202, kSysClockGettime = 228, kSysProcessVmReadv = 310,
                      kSysProcessVmWritev = 311, kSysMembarrier = 324;

// Six arguments are few instructions more than fewer.
[[gnu::always_inline]] inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0,
                                               long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

[[gnu::always_inline]] inline long system_call_0(long number) {
  long result;
  asm volatile("syscall" : "=a"(result) : "0"(number) : "rcx", "r11", "memory");
  return result;
}

[[gnu::always_inline]] inline long system_call_2(long number, long a, long b) {
  long result = number;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b) : "rcx", "r11", "memory");
  return result;
}

[[gnu::always_inline]] inline long system_call_4(long number, long a, long b, long c, long d) {
  register long r10 asm("r10") = d;
  long result = number;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}

}  // namespace blip::machine
