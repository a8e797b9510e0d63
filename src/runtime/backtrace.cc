// SPDX-License-Identifier: MIT
// The stack of a hit, as an id; see unwind/walk.h and unwind/intern.h. No data, general registers only; the
// only call out is to the SafeLoad that blip put there.
#include "abi/layout.h"
#include "ring/own_memory.h"
#include "unwind/intern.h"
#include "unwind/walk.h"

namespace {

using namespace blip;

// A piece of the stack that the kernel has copied: frames of most functions are smaller, so that one call
// serves one or more.
struct Piece {
  static constexpr uint64_t kWords = 8;
  uint64_t begin = 0;
  uint64_t count = 0;
  uint64_t words[kWords];
};

// Words from `address` on, as many as its page has. A filter may have come since blip looked: the gate page
// has the last word.
__attribute__((noinline)) void copy_by_kernel(Piece& piece, uint64_t address, abi::GatePage* page) {
  constexpr uint64_t kPage = abi::kPageSize;
  const uint64_t in_page = (kPage - address % kPage) / 8;
  const uint64_t count = in_page < Piece::kWords ? in_page : Piece::kWords;
  piece.begin = address;
  piece.count = 0;
  if (!ring::begin_own_call(page)) return;
  if (ring::copy_own_memory(ring::own_tid(page), piece.words, address, count * 8)) piece.count = count;
  ring::end_own_call(page);
}

// Memory above rsp, on the page that the pad has pushed onto, is there.
struct TargetReader {
  uint64_t low, high;
  const abi::UnwindHeader* header;
  mutable Piece piece{};

  abi::SafeWord read(uint64_t address) const {
    if (address >= low && address <= high - 8) return {unwind::StackWindow::load(address), 1};
    return read_elsewhere(address);
  }

  __attribute__((noinline)) abi::SafeWord read_elsewhere(uint64_t address) const {
    if (header->safe_load_addr != 0) {
      const abi::SafeWord loaded = reinterpret_cast<abi::SafeLoad>(header->safe_load_addr)(address);
      if (loaded.is_there != 0) return loaded;
    }
    if (address % 8 != 0 || address < kBelow) return {0, 0};
    if ((address - piece.begin) / 8 >= piece.count) {
      // rbp is saved below the return address, which is asked for first.
      const bool same_page = address % abi::kPageSize >= kBelow;
      copy_by_kernel(piece, same_page ? address - kBelow : address, gate());
    }
    const uint64_t index = (address - piece.begin) / 8;
    if (index >= piece.count) return {0, 0};
    return {piece.words[index], 1};
  }

 private:
  static constexpr uint64_t kBelow = 16;

  abi::GatePage* gate() const {
    return reinterpret_cast<abi::GatePage*>(header->control_addr - abi::kGatePageSize);
  }
};

// Called once or twice: as little as possible lies on the stack.
struct HitWalk {
  const uint8_t* header;
  uint64_t hit, rsp, rbp;

  __attribute__((noinline)) abi::UnwindEnd operator()(unwind::FrameSum& visit) const {
    constexpr uint64_t kPage = abi::kPageSize;
    const auto* h = reinterpret_cast<const abi::UnwindHeader*>(header);
    const uint32_t depth = reinterpret_cast<const abi::StackTable*>(h->stacks_addr)->depth;
    const TargetReader reader{rsp, ((rsp - 1) | (kPage - 1)) + 1, h};
    const unwind::Registers at{.rip = hit & ~abi::kHitAtEntry, .rsp = rsp, .rbp = rbp};
    return unwind::walk(header, at, (hit & abi::kHitAtEntry) != 0, depth, reader, visit);
  }
};

}  // namespace

extern "C" __attribute__((visibility("hidden"))) uint64_t blip_find_stack(const uint8_t* header, uint64_t hit,
                                                                          uint64_t rsp, uint64_t rbp) {
  auto* stacks = reinterpret_cast<uint8_t*>(reinterpret_cast<const abi::UnwindHeader*>(header)->stacks_addr);
  return unwind::StackInterner(stacks).intern(HitWalk{header, hit, rsp, rbp});
}
