// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace blip::machine {

[[gnu::always_inline]] inline uint64_t read_counter() {
  uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}

// After every earlier load and before every later one.
inline uint64_t read_counter_in_order() {
  asm volatile("isb" ::: "memory");
  const uint64_t count = read_counter();
  asm volatile("isb" ::: "memory");
  return count;
}

[[gnu::always_inline]] inline uint64_t thread_pointer() {
  uint64_t pointer;
  asm volatile("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
}

// The word so many bytes from the thread pointer.
[[gnu::always_inline]] inline int32_t thread_word(int64_t offset) {
  return *reinterpret_cast<const volatile int32_t*>(thread_pointer() + static_cast<uint64_t>(offset));
}

inline constexpr long kSysSchedYield = 124, kSysNanosleep = 101, kSysGetpid = 172, kSysGettid = 178,
                      kSysFutex = 98, kSysClockGettime = 113, kSysProcessVmReadv = 270,
                      kSysProcessVmWritev = 271, kSysMembarrier = 283, kSysGetcpu = 168;

[[gnu::always_inline]] inline long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0,
                                               long e = 0, long f = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  register long x4 asm("x4") = e;
  register long x5 asm("x5") = f;
  asm volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

[[gnu::always_inline]] inline long system_call_0(long number) { return system_call(number); }
[[gnu::always_inline]] inline long system_call_2(long number, long a, long b) {
  return system_call(number, a, b);
}
[[gnu::always_inline]] inline long system_call_4(long number, long a, long b, long c, long d) {
  return system_call(number, a, b, c, d);
}

// No register tells user code its CPU; a writer for this processor will take it from the rseq area.
inline uint32_t current_cpu() {
  uint32_t cpu = 0;
  system_call_4(kSysGetcpu, reinterpret_cast<long>(&cpu), 0, 0, 0);
  return cpu;
}

struct CounterOnCpu {
  uint64_t counter;
  uint32_t cpu;
};

inline CounterOnCpu read_counter_on_cpu() { return {read_counter(), current_cpu()}; }

}  // namespace blip::machine
