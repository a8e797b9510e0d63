// SPDX-License-Identifier: MIT
// Values whose parts lie in many places: see collect/collect.h. No data, general registers only; the only
// call out is to the abi::SafeLoad that the pad names.
#include "collect/collect.h"

#include "abi/unwind.h"
#include "ring/own_memory.h"
#include "runtime/fetch.h"

namespace {

using namespace blip;

struct OwnMemory {
  abi::GatePage* page;
  uint64_t safe_load;

  __attribute__((noinline)) bool read(void* to, uint64_t address, uint32_t size) const {
    if (address < runtime::kLowestAddress || (address + size) >> runtime::kAddressBits != 0) return false;
    if ((page->gate & abi::kGateIgnored) != 0) return false;
    auto* bytes = static_cast<uint8_t*>(to);
    if (safe_load != 0 && load_all(bytes, address, size)) return true;
    if (!ring::begin_own_call(page)) return false;
    const bool done = ring::copy_own_memory(ring::own_tid(page), to, address, size);
    ring::end_own_call(page);
    return done;
  }

 private:
  // Word by word; what is left at the end lies in the aligned word, which is on the same page.
  bool load_all(uint8_t* to, uint64_t address, uint32_t size) const {
    constexpr uint32_t kWord = 8;
    for (; size >= kWord; size -= kWord, to += kWord, address += kWord) {
      const abi::SafeWord loaded = load(address);
      if (loaded.is_there == 0) return false;
      __builtin_memcpy(to, &loaded.word, kWord);
    }
    while (size != 0) {
      const auto skipped = static_cast<uint32_t>(address % kWord);
      const uint32_t some = size < kWord - skipped ? size : kWord - skipped;
      abi::SafeWord loaded = load(address - skipped);
      if (loaded.is_there == 0) return false;
      loaded.word >>= 8 * skipped;
      for (uint32_t i = 0; i < some; ++i, loaded.word >>= 8) to[i] = static_cast<uint8_t>(loaded.word);
      size -= some;
      to += some;
      address += some;
    }
    return true;
  }
  abi::SafeWord load(uint64_t address) const { return reinterpret_cast<abi::SafeLoad>(safe_load)(address); }
};

}  // namespace

extern "C" __attribute__((visibility("hidden"))) uint64_t blip_collect_from(uint8_t* control,
                                                                            const uint8_t* table_bytes,
                                                                            uint64_t address, uint64_t length,
                                                                            uint8_t* to) {
  const auto* table = reinterpret_cast<const collect::Table*>(table_bytes);
  const OwnMemory memory{reinterpret_cast<abi::GatePage*>(control - abi::kGatePageSize), table->safe_load};
  const auto* steps = reinterpret_cast<const collect::Step*>(table + 1);
  return collect::Collector(*table, steps, memory, to).run(address, length);
}
