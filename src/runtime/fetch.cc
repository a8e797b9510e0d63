// SPDX-License-Identifier: MIT
// Reads of the target's own memory where nobody knows whether it is there: the kernel is asked, which says so
// instead of sending a signal. No data, no calls out, general registers only; errno is not touched.
#include "runtime/fetch.h"

#include "machine/instructions.h"
#include "ring/own_memory.h"

namespace {

using blip::abi::GatePage;
using blip::runtime::Fetch;

struct Fetched {
  uint64_t ok, value;
};

constexpr Fetched kFault{0, 0};

[[gnu::always_inline]] inline bool may_read(const GatePage* page, uint64_t address) {
  if (address < blip::runtime::kLowestAddress || address >> blip::runtime::kAddressBits != 0) return false;
  return (page->gate & blip::abi::kGateIgnored) == 0;
}

// Below the thread pointer there may be nothing yet: it is believed where the tid is (ring::current_tid).
[[gnu::always_inline]] inline Fetched thread_pointer(GatePage* page) {
  constexpr long kArchPrctl = 158, kGetFs = 0x1003;
  uint64_t pointer = 0;
  if (page->gate == blip::abi::kGateOpen && page->tid_offset != blip::abi::kNoTidOffset) {
    pointer = blip::machine::thread_pointer();
    return {1, pointer};
  }
  if (!blip::ring::begin_own_call(page)) return kFault;
  const long failed = blip::machine::system_call(kArchPrctl, kGetFs, reinterpret_cast<long>(&pointer));
  blip::ring::end_own_call(page);
  return failed ? kFault : Fetched{1, pointer};
}

[[gnu::always_inline]] inline uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Page by page, so that what lies in front of a page that is not there can be read; what is to be compared,
// a few bytes at a time. One loop for all, for the sake of the stack.
[[gnu::always_inline]] inline Fetched read_pages(long tid, Fetch what, uint64_t address, uint8_t* buffer,
                                                 uint64_t size) {
  constexpr uint64_t kPageSize = blip::abi::kPageSize;
  const bool compares = what == Fetch::kTextIs || what == Fetch::kBytesAre;
  const bool is_text = what == Fetch::kText;
  uint64_t few[2] = {0, 0};
  auto* const some_bytes = reinterpret_cast<uint8_t*>(few);
  bool same = true;
  for (uint64_t done = 0, some; done != size; done += some) {
    some = least(size - done, kPageSize - (address + done) % kPageSize);
    if (compares) some = least(some, sizeof few);
    uint8_t* const to = compares ? some_bytes : (what == Fetch::kLoad ? some_bytes : buffer) + done;
    if (!blip::ring::copy_own_memory(tid, to, address + done, some)) {
      if (!is_text || done == 0) return kFault;
      size = done;  // the beginning of a text
      break;
    }
    for (uint64_t i = 0; i < some; ++i) {
      if (is_text && to[i] == 0) return {1, done + i};
      if (compares) same &= to[i] == buffer[done + i];
      if (!same && what == Fetch::kTextIs) return {1, 0};
    }
  }
  if (what == Fetch::kLoad) return {1, few[0]};
  return {1, compares ? same : is_text ? size | blip::abi::kLengthCut : size};
}

[[gnu::always_inline]] inline Fetched read(GatePage* page, Fetch what, uint64_t address, uint8_t* buffer,
                                           uint64_t size) {
  const bool calls = size != 0 && may_read(page, address) && blip::ring::begin_own_call(page);
  Fetched got = kFault;
  if (calls || size == 0)
    got = read_pages(calls ? blip::ring::own_tid(page) : 0, what, address, buffer, size);
  if (calls) blip::ring::end_own_call(page);
  if (got.ok) return got;
  for (uint64_t i = 0; what == Fetch::kBytes && i < size; ++i) buffer[i] = 0;
  return kFault;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) Fetched blip_fetch_from_self(uint8_t* control, uint32_t what,
                                                                              uint64_t address, uint64_t,
                                                                              uint8_t* buffer,
                                                                              uint64_t size) {
  auto* page = reinterpret_cast<GatePage*>(control - blip::abi::kGatePageSize);
  const auto kind = static_cast<Fetch>(what & 0xff);
  if (kind == Fetch::kThreadPointer) return thread_pointer(page);
  return read(page, kind, address, buffer, kind == Fetch::kLoad ? what >> 8 : size);
}
