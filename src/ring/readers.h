// SPDX-License-Identifier: MIT
// Who reads without asking the kernel, and where. A section that is in a page fault when the memory is about
// to be taken away is restarted only after the kernel has looked for that memory. So each says where it
// reads, and who takes memory away waits for those that may be at it. Freestanding: runs inside the target.
#pragma once

#include "abi/layout.h"
#include "ring/own_memory.h"

namespace blip::ring {

// Where the thread whose rseq_cs is at `thread` says what it reads; null: there is no place left.
inline abi::Reading* find_reading(abi::RangeControl& ranges, uint64_t thread) {
  constexpr uint32_t kPlaces = 64;  // to look at
  for (uint32_t i = 0; i < kPlaces; ++i) {
    const uint32_t index = (abi::reader_index(thread) + i) % abi::kMaxReaders;
    uint64_t there = __atomic_load_n(&ranges.readers[index], __ATOMIC_RELAXED);
    if (there == 0 && __atomic_compare_exchange_n(&ranges.readers[index], &there, thread, false,
                                                  __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      there = thread;
    if (there == thread) return &ranges.readings[index];
  }
  return nullptr;
}

// The memory that threads are known by is taken away: they have ended.
inline void forget_readers(abi::RangeControl& ranges, uint64_t begin, uint64_t end) {
  for (uint64_t& reader : ranges.readers) {
    uint64_t thread = __atomic_load_n(&reader, __ATOMIC_RELAXED);
    if (thread >= begin && thread < end)
      __atomic_compare_exchange_n(&reader, &thread, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  }
}

namespace readers {

inline bool may_overlap(const abi::Reading& reading, uint64_t begin, uint64_t end) {
  const uint64_t address = __atomic_load_n(&reading.address, __ATOMIC_SEQ_CST);
  return address < end && (address >= begin || begin - address < abi::kMaxReadingSize);
}

// 0: or it is not there.
[[gnu::noinline]] inline uint64_t own_word(long pid, uint64_t address) {
  uint64_t word = 0;
  return copy_own_memory(pid, &word, address, sizeof word) ? word : 0;
}

// Whether the thread is in a section of this trace's pads. The kernel forgets a section when it restarts it,
// and pads do when they leave it; other libraries may not.
inline bool is_in_section(long pid, const uint8_t* control, uint64_t thread) {
  const uint64_t section = own_word(pid, thread);
  return section != 0 && own_word(pid, section - abi::kSectionOwner) == reinterpret_cast<uint64_t>(control);
}

// Gives others the CPU, the longer the more often it was in vain.
inline void pause(uint32_t tries) {
  constexpr long kSchedYield = 24, kNanosleep = 35;
  constexpr uint32_t kYields = 20;
  const struct { int64_t seconds, nanoseconds; } slice = {0, 100'000};
  if (tries < kYields)
    system_call(kSchedYield);
  else
    system_call(kNanosleep, reinterpret_cast<long>(&slice));
}

// Until the thread has left the section that it may be in.
inline void await(long pid, const uint8_t* control, uint64_t thread, const abi::Reading& reading) {
  constexpr uint32_t kTries = 10'000;
  const uint64_t sections = __atomic_load_n(&reading.sections, __ATOMIC_SEQ_CST);
  for (uint32_t tries = 0; tries < kTries && is_in_section(pid, control, thread) &&
                           __atomic_load_n(&reading.sections, __ATOMIC_SEQ_CST) == sections;
       ++tries)
    pause(tries);
}

}  // namespace readers

// After all sections were restarted: none that began before is still about to read in [begin, end). A thread
// that a debugger holds in the middle of one, or a disk, is waited for no longer than a second or two.
inline void await_readers(uint8_t* control, const abi::RangeControl& ranges, uint64_t begin, uint64_t end) {
  auto* page = reinterpret_cast<abi::GatePage*>(control - abi::kGatePageSize);
  if (begin >= end) return;
  for (uint32_t i = 0; i < abi::kMaxReaders; ++i) {
    const uint64_t thread = __atomic_load_n(&ranges.readers[i], __ATOMIC_SEQ_CST);
    if (thread == 0 || !readers::may_overlap(ranges.readings[i], begin, end)) continue;
    if (!begin_own_call(page)) return;  // who forbade calls has waited
    readers::await(own_pid(page), control, thread, ranges.readings[i]);
    end_own_call(page);
  }
}

}  // namespace blip::ring
