// SPDX-License-Identifier: MIT
// Called where the loader tells debuggers that its list of libraries has changed. The traced process waits
// here until blip has looked, so that what was loaded is probed before any of it runs; but never long, and
// never again once it was in vain. No data, no calls out, general registers only; errno is not touched.
#include "machine/instructions.h"
#include "ring/system_calls.h"

namespace {

using blip::abi::LibraryWord;

constexpr long kWait = 0, kWake = 1;

struct Time {
  int64_t seconds, nanoseconds;
};

[[gnu::always_inline]] inline bool futex(blip::abi::GatePage* page, uint32_t* word, long operation,
                                         long value, const Time* time) {
  if (!blip::ring::begin_own_call(page)) return false;
  blip::machine::system_call_4(blip::machine::kSysFutex, reinterpret_cast<long>(word), operation, value,
                               reinterpret_cast<long>(time));
  blip::ring::end_own_call(page);
  return true;
}

// In slices, so that no clock has to be asked: a filter that came after blip may not like that. Whatever ends
// one, time or a signal, it counts.
[[gnu::always_inline]] inline bool wait_for(blip::abi::GatePage* page, uint32_t* word, uint32_t mine,
                                            uint32_t slices) {
  const Time slice{0, blip::abi::kLibrarySliceNs};
  for (;; --slices) {
    const uint32_t now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (static_cast<int32_t>(now - mine) >= 0) return true;
    if (slices == 0 || !futex(page, word, kWait, now, &slice)) return false;
  }
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) void blip_tell_of_libraries(uint8_t* control,
                                                                             uint32_t may_call) {
  auto& word = reinterpret_cast<blip::abi::DataHeader*>(control)->libraries;
  auto* gate = reinterpret_cast<blip::abi::GatePage*>(control - blip::abi::kGatePageSize);
  if (gate->pid != word.pid) {
    __atomic_add_fetch(&word.elsewhere, 1, __ATOMIC_RELAXED);
    return;
  }
  const uint32_t mine = __atomic_add_fetch(&word.changes, 1, __ATOMIC_ACQ_REL);
  if (!may_call || !__atomic_load_n(&word.hold, __ATOMIC_ACQUIRE)) return;
  futex(gate, &word.changes, kWake, INT32_MAX, nullptr);
  if (wait_for(gate, &word.looked, mine, blip::abi::kUnseenSlices)) return;
  const bool seen = static_cast<int32_t>(__atomic_load_n(&word.seen, __ATOMIC_ACQUIRE) - mine) >= 0;
  if (seen && wait_for(gate, &word.looked, mine, blip::abi::kLookSlices)) return;
  __atomic_store_n(&word.hold, 0, __ATOMIC_RELEASE);
}
