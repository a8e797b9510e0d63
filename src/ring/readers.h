// SPDX-License-Identifier: MIT
// Who reads without asking the kernel, and where. A section that is in a page fault when the memory is about
// to be taken away is restarted only after the kernel has looked for that memory. So each says where it
// reads, and who takes memory away waits for those that may be at it. Freestanding: runs inside the target.
#pragma once

#include "abi/layout.h"
#include "ring/own_memory.h"

namespace blip::ring {

// Returns the place where the thread whose rseq_cs is at `thread` says what it reads; null if no place is
// left.
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

// Memory that is about to be taken away.
struct Taken {
  uint64_t begin = 0, end = 0;
  uint64_t other_begin = 0, other_end = 0;
};

// The memory that threads are known by is taken away: they have ended.
inline void forget_readers(abi::RangeControl& ranges, uint64_t begin, uint64_t end) {
  for (uint64_t& reader : ranges.readers) {
    uint64_t thread = __atomic_load_n(&reader, __ATOMIC_RELAXED);
    if (thread >= begin && thread < end)
      __atomic_compare_exchange_n(&reader, &thread, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  }
}

namespace readers {

inline bool overlaps(const abi::Reading& reading, const Taken& taken) {
  const uint64_t first = __atomic_load_n(&reading.address, __ATOMIC_SEQ_CST);
  const uint64_t last = first + abi::kMaxReadingSize;
  const auto in = [&](uint64_t begin, uint64_t end) { return begin < end && first < end && last > begin; };
  return in(taken.begin, taken.end) || in(taken.other_begin, taken.other_end);
}

// Stands for a word that cannot be known. A word where there is no memory at all counts as 0.
inline constexpr uint64_t kUnknown = 1;
[[gnu::noinline]] inline uint64_t own_word(long tid, uint64_t address) {
  constexpr long kEfault = -14;
  uint64_t word = 0;
  const long got = read_own_memory(tid, &word, address, sizeof word);
  if (got == sizeof word) return word;
  return got == kEfault ? 0 : kUnknown;
}

// True if the thread is in a section of this trace's pads. The kernel forgets a section when it restarts it,
// and pads do when they leave it; other libraries may not.
inline bool is_in_section(long tid, const uint8_t* control, uint64_t thread) {
  const uint64_t section = own_word(tid, thread);
  if (section == 0 || section == kUnknown) return section == kUnknown;
  const uint64_t owner = own_word(tid, section - abi::kSectionOwner);
  return owner == reinterpret_cast<uint64_t>(control) || owner == kUnknown;
}

// For all readers of a call together: it is late where one is held by a debugger, or by a page that does not
// come.
class Patience {
 public:
  // False: it is over. Else gives others the CPU, the longer the more often it was in vain.
  bool pause() {
    constexpr uint32_t kYields = 20, kMost = 200'000;  // where there is no clock either
    constexpr Time kSlice = {0, 100'000};
    if (pauses_++ < kYields) return machine::system_call(machine::kSysSchedYield), true;
    constexpr int64_t kSeconds = 10;
    const int64_t now = seconds();
    if (until_ == 0) until_ = now + kSeconds;
    if (now >= until_ || pauses_ > kMost) return false;
    const Time slice = kSlice;
    machine::system_call(machine::kSysNanosleep, reinterpret_cast<long>(&slice));
    return true;
  }

 private:
  struct Time {
    int64_t seconds, nanoseconds;
  };
  static int64_t seconds() {
    constexpr long kMonotonic = 1;
    Time now = {0, 0};
    machine::system_call(machine::kSysClockGettime, kMonotonic, reinterpret_cast<long>(&now));
    return now.seconds;
  }

  uint32_t pauses_ = 0;
  int64_t until_ = 0;
};

}  // namespace readers

// True if a section may be reading it, or its thread's last section did.
inline bool may_be_read(const abi::RangeControl& ranges, const Taken& taken) {
  for (uint32_t i = 0; i < abi::kMaxReaders; ++i)
    if (__atomic_load_n(&ranges.readers[i], __ATOMIC_SEQ_CST) != 0 &&
        readers::overlaps(ranges.readings[i], taken))
      return true;
  return false;
}

// After all sections were restarted: none that began before is still about to read there, unless it takes
// longer than anybody has patience for.
inline void await_readers(uint8_t* control, const abi::RangeControl& ranges, const Taken& taken) {
  auto* page = reinterpret_cast<abi::GatePage*>(control - abi::kGatePageSize);
  readers::Patience patience;
  for (uint32_t i = 0; i < abi::kMaxReaders; ++i) {
    const uint64_t thread = __atomic_load_n(&ranges.readers[i], __ATOMIC_SEQ_CST);
    if (thread == 0) continue;
    const abi::Reading& reading = ranges.readings[i];
    const uint64_t sections = __atomic_load_n(&reading.sections, __ATOMIC_SEQ_CST);
    bool waits = true;
    while (waits && readers::overlaps(reading, taken) &&
           __atomic_load_n(&reading.sections, __ATOMIC_SEQ_CST) == sections) {
      if (!begin_own_call(page)) return;  // who forbade calls has waited
      waits = readers::is_in_section(own_tid(page), control, thread) && patience.pause();
      end_own_call(page);
    }
  }
}

}  // namespace blip::ring
