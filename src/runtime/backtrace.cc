// SPDX-License-Identifier: MIT
// The stack of a hit, as an id; see unwind/walk.h and unwind/intern.h. No data, general registers only; the
// only call out is to the SafeLoad that blip put there.
#include "unwind/intern.h"
#include "unwind/walk.h"

namespace {

using namespace blip;

// The page that the thread's stack pointer is in is there: the pad has pushed onto it.
struct TargetReader {
  uint64_t low, high;
  const abi::UnwindHeader* header;

  abi::SafeWord read(uint64_t address) const {
    if (address >= low && address <= high - 8) return {unwind::StackWindow::load(address), 1};
    if (header->safe_load_addr != 0) return reinterpret_cast<abi::SafeLoad>(header->safe_load_addr)(address);
    return header->may_call_kernel != 0 ? read_by_kernel(address) : abi::SafeWord{0, 0};
  }

  // process_vm_readv(getpid(), ...)
  __attribute__((noinline)) static abi::SafeWord read_by_kernel(uint64_t address) {
    uint64_t word = 0;
    constexpr long kGetPid = 39, kReadMemory = 310;
    struct {
      uint64_t address, size;
    } local = {reinterpret_cast<uint64_t>(&word), 8}, remote = {address, 8};
    long pid = kGetPid;
    asm volatile("syscall" : "+a"(pid) : : "rcx", "r11", "memory");
    long result = kReadMemory;
    register const void* r10 asm("r10") = &remote;
    register long r8 asm("r8") = 1;
    register long r9 asm("r9") = 0;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(pid), "S"(&local), "d"(1), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return {word, result == 8 ? uint64_t{1} : uint64_t{0}};
  }
};

// Called once or twice: as little as possible lies on the stack.
struct HitWalk {
  const uint8_t* header;
  uint64_t hit, rsp, rbp;

  __attribute__((noinline)) abi::UnwindEnd operator()(unwind::FrameSum& visit) const {
    constexpr uint64_t kPage = 4096;
    const auto* h = reinterpret_cast<const abi::UnwindHeader*>(header);
    const uint32_t depth = reinterpret_cast<const abi::StackTable*>(h->stacks_addr)->depth;
    const TargetReader reader{rsp, (rsp | (kPage - 1)) + 1, h};
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
