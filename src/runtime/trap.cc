// SPDX-License-Identifier: MIT
// The SIGTRAP handler of a target with traps. A trap of blip's goes on in its pad; anything else gets what
// the target has asked for, as if the kernel had called its handler itself: same arguments, stack, mask,
// restorer. What the target asks for later comes to blip_set_action() instead of rt_sigaction(2). No libc, no
// data; system calls only for what is not blip's.
#include "runtime/trap.h"

#include "abi/traps.h"
#include "machine/instructions.h"

namespace blip::runtime {
namespace {

// Constants of the kernel, whose headers need a libc.
constexpr int kSigkill = 9;
constexpr int kSigstop = 19;
constexpr int kSigtrap = 5;
constexpr uint64_t kSetMask = 2;
constexpr uint64_t kIgnore = 1;
constexpr uint64_t kKnownFlags = 0xdc000807;
constexpr uint64_t kOnStack = 0x08000000;
constexpr uint64_t kRestart = 0x10000000;
constexpr uint64_t kResetHand = 0x80000000;
constexpr uint64_t kRestorer = 0x04000000;
constexpr int32_t kFromKernel = 0x80;  // si_code of int3
constexpr long kBadAddress = -14;
constexpr long kBadArgument = -22;

constexpr uint64_t bit(int signal) { return uint64_t{1} << (signal - 1); }

enum Syscall : long {
  kSigaction = 13,
  kSigprocmask = 14,
  kGetpid = 39,
  kGettid = 186,
  kTgsigqueueinfo = 297,
  kReadMemory = 310,
  kWriteMemory = 311
};

long call(Syscall number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0, uint64_t e = 0,
          uint64_t f = 0) {
  return machine::system_call(number, static_cast<long>(a), static_cast<long>(b), static_cast<long>(c),
                              static_cast<long>(d), static_cast<long>(e), static_cast<long>(f));
}

uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

// Returns the pad of the trap at `addr`; 0 if the trap is not blip's.
uint64_t find_pad(const abi::TrapTable* table, uint64_t addr) {
  const auto* entries = reinterpret_cast<const abi::TrapEntry*>(table->entries_addr);
  uint64_t first = 0, last = table->entry_count;
  while (first < last) {
    const uint64_t middle = first + (last - first) / 2;
    if (entries[middle].addr < addr) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first < table->entry_count && entries[first].addr == addr ? entries[first].pad_addr : 0;
}

// A slot is not used again before all others were; whoever reads that slowly reads again.
uint32_t read_action(const abi::TrapTable* table, abi::SignalAction& action) {
  for (;;) {
    const uint32_t slot = __atomic_load_n(&table->current, __ATOMIC_ACQUIRE) % abi::kActionSlots;
    const abi::SignalAction& from = table->actions[slot];
    action.handler = __atomic_load_n(&from.handler, __ATOMIC_RELAXED);
    action.flags = __atomic_load_n(&from.flags, __ATOMIC_RELAXED);
    action.restorer = __atomic_load_n(&from.restorer, __ATOMIC_RELAXED);
    action.mask = __atomic_load_n(&from.mask, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&table->current, __ATOMIC_RELAXED) == slot) return slot;
  }
}

// The signal comes again as soon as this handler returns, and finds nobody: the process dies of it, with the
// same siginfo.
void die_of_it(SignalInfo* info, UserContext* context) {
  const abi::SignalAction nothing{};
  call(kSigaction, kSigtrap, address(&nothing), 0, sizeof(uint64_t));
  call(kTgsigqueueinfo, static_cast<uint64_t>(call(kGetpid)), static_cast<uint64_t>(call(kGettid)), kSigtrap,
       address(info));
  context->sigmask &= ~bit(kSigtrap);
}

// Does what the kernel does before it calls a handler. Returns the handler's address, or 0 if there is none
// to call.
uint64_t deliver(abi::TrapTable* table, SignalInfo* info, UserContext* context, uint64_t* pretcode) {
  abi::SignalAction action;
  uint32_t slot = read_action(table, action);
  if (action.handler == kIgnore && info->code <= 0) return 0;
  if (action.handler <= kIgnore) {  // a trap cannot be ignored
    die_of_it(info, context);
    return 0;
  }
  if (action.flags & kResetHand)
    __atomic_compare_exchange_n(&table->current, &slot, abi::kDefaultAction, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
  if (action.flags & kRestorer) *pretcode = action.restorer;
  // SIGTRAP stays open, whatever it asked for: the handler may run into a trap of blip's, and the kernel
  // kills whoever traps with SIGTRAP blocked.
  uint64_t mask = (context->sigmask | action.mask) & ~bit(kSigtrap);
  call(kSigprocmask, kSetMask, address(&mask), 0, sizeof mask);
  return action.handler;
}

void store_action(abi::TrapTable* table, const abi::SignalAction& action) {
  const uint32_t n = __atomic_fetch_add(&table->next, 1, __ATOMIC_RELAXED);
  const uint32_t slot = abi::kDefaultAction + 1 + n % (abi::kActionSlots - 1);
  abi::SignalAction& to = table->actions[slot];
  __atomic_store_n(&to.handler, action.handler, __ATOMIC_RELAXED);
  __atomic_store_n(&to.flags, action.flags & kKnownFlags, __ATOMIC_RELAXED);
  __atomic_store_n(&to.restorer, action.restorer, __ATOMIC_RELAXED);
  __atomic_store_n(&to.mask, action.mask & ~(bit(kSigkill) | bit(kSigstop)), __ATOMIC_RELAXED);
  __atomic_store_n(&table->current, slot, __ATOMIC_RELEASE);
  // Which stack the handler runs on is decided before it runs, and what becomes of a system call that is
  // interrupted too.
  abi::SignalAction own = table->own;
  own.flags = (own.flags & ~(kOnStack | kRestart)) | (action.flags & (kOnStack | kRestart));
  call(kSigaction, kSigtrap, address(&own), 0, sizeof(uint64_t));
}

// A pointer of the target's may be bad, which is an error and not a fault.
struct Vector {
  uint64_t addr;
  uint64_t size;
};

bool copy(Syscall direction, uint64_t there, abi::SignalAction* here) {
  const Vector local{address(here), sizeof *here}, remote{there, sizeof *here};
  return call(direction, static_cast<uint64_t>(call(kGetpid)), address(&local), 1, address(&remote), 1, 0) ==
         static_cast<long>(sizeof *here);
}

}  // namespace
}  // namespace blip::runtime

// Returns where to go on with the registers that the kernel set: a handler of the target, or 0: back to what
// was interrupted.
extern "C" __attribute__((visibility("hidden"))) uint64_t blip_handle_trap(
    blip::abi::TrapTable* table, blip::runtime::SignalInfo* info, blip::runtime::UserContext* context,
    uint64_t* pretcode) {
  using namespace blip::runtime;
  if (info->code == kFromKernel) {
    if (const uint64_t pad = find_pad(table, context->rip - 1)) {
      context->rip = pad;
      return 0;
    }
  }
  return deliver(table, info, context, pretcode);
}

// rt_sigaction(SIGTRAP, act, old, set_size). A child that shares its parent's memory (vfork, posix_spawn) has
// actions of its own in the kernel, but not here: it is told what it wants to hear, and keeps the handler
// until it calls exec.
extern "C" __attribute__((visibility("hidden"))) long blip_change_action(blip::abi::TrapTable* table,
                                                                         uint64_t act, uint64_t old,
                                                                         uint64_t set_size) {
  using namespace blip::runtime;
  if (set_size != sizeof(uint64_t)) return kBadArgument;
  blip::abi::SignalAction wanted, before;
  if (act && !copy(kReadMemory, act, &wanted)) return kBadAddress;
  read_action(table, before);
  const int32_t owner = __atomic_load_n(reinterpret_cast<const int32_t*>(table->pid_addr), __ATOMIC_RELAXED);
  if (act && (owner == 0 || call(kGetpid) == owner)) store_action(table, wanted);
  if (old && !copy(kWriteMemory, old, &before)) return kBadAddress;
  return 0;
}
