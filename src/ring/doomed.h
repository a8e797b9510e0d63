// SPDX-License-Identifier: MIT
// Which memory a system call may make unreadable, by its number and arguments alone. Only private memory is
// ever read without asking the kernel (docs/design/safe_reads.md), so what can happen only to shared memory
// does not count. Freestanding: runs inside the target.
#pragma once

#include "ring/ranges.h"

namespace blip::ring {

// x86-64.
enum SystemCall : uint32_t {
  kMmap = 9,
  kMprotect = 10,
  kMunmap = 11,
  kBrk = 12,
  kMremap = 25,
  kMadvise = 28,
  kShmat = 30,
  kPrctl = 157,
  kSeccomp = 317,
  kUserfaultfd = 323,  // reads of what it watches may wait, or be a SIGBUS
  kPkeyMprotect = 329,
  kProcessMadvise = 440,
};
inline constexpr uint32_t kDooming[] = {kMmap,    kMprotect,    kMunmap,       kBrk,
                                        kMremap,  kMadvise,     kShmat,        kPrctl,
                                        kSeccomp, kUserfaultfd, kPkeyMprotect, kProcessMadvise};
// Those of them that make system calls of pads dangerous.
inline constexpr uint32_t kFiltering[] = {kPrctl, kSeccomp};

struct Doom {
  enum Kind : uint32_t {
    kNothing,
    kMemory,   // what is in one of the two ranges
    kHeap,     // what is above `begin`, up to the end of the heap
    kNewCode,  // as kMemory, and there may be code that blip has not seen
    kAll,      // for good: see close_ranges()
    kFilter,   // as kAll, and pads may make no system calls any more
  } kind = kNothing;
  uint64_t begin = 0, end = 0;
  uint64_t other_begin = 0, other_end = 0;
};

namespace doomed {

inline constexpr uint64_t kPage = 4096;
inline constexpr uint64_t kRead = 1, kExec = 4;  // PROT_

// The pages of [addr, addr + size), however large `size` is.
inline Doom memory(uint64_t addr, uint64_t size, Doom::Kind kind = Doom::kMemory) {
  const uint64_t begin = addr & ~(kPage - 1);
  const uint64_t last = addr + size < addr ? UINT64_MAX : addr + size;
  const uint64_t end = last > UINT64_MAX - kPage ? UINT64_MAX : (last + kPage - 1) & ~(kPage - 1);
  return {.kind = kind, .begin = begin, .end = end};
}

inline Doom by_mmap(const uint64_t* args) {
  constexpr uint64_t kFixed = 0x10, kAnonymous = 0x20;  // MAP_
  const bool code = (args[2] & kExec) != 0;
  if (code && (args[3] & kAnonymous) != 0) return {.kind = Doom::kAll};
  if (code) return memory(0, UINT64_MAX, Doom::kNewCode);
  return (args[3] & kFixed) != 0 ? memory(args[0], args[1]) : Doom{};
}

inline Doom by_mprotect(const uint64_t* args, bool with_key) {
  if ((args[2] & kExec) != 0 || (with_key && static_cast<int32_t>(args[3]) > 0)) return {.kind = Doom::kAll};
  return (args[2] & kRead) == 0 ? memory(args[0], args[1]) : Doom{};
}

inline Doom by_mremap(const uint64_t* args) {
  constexpr uint64_t kFixed = 2;  // MREMAP_
  Doom doom = memory(args[0], args[1]);
  if ((args[3] & kFixed) == 0) return doom;
  const Doom place = memory(args[4], args[2]);
  doom.other_begin = place.begin;
  doom.other_end = place.end;
  return doom;
}

// A call that the kernel refuses takes nothing away.
inline Doom by_munmap(const uint64_t* args) {
  constexpr uint64_t kEndOfUser = uint64_t{1} << 56;
  const bool is_refused =
      args[0] % kPage != 0 || args[1] == 0 || args[0] > kEndOfUser || args[1] > kEndOfUser;
  return is_refused ? Doom{} : memory(args[0], args[1]);
}

// Advice after which private memory can still be read, though other bytes may be there: MADV_NORMAL to
// MADV_DONTNEED, MADV_FREE to MADV_COLLAPSE. Not MADV_GUARD_INSTALL, and none that is not known.
inline bool is_harmless(uint64_t advice) {
  const auto a = static_cast<int32_t>(advice);
  return (a >= 0 && a <= 4) || (a >= 10 && a <= 25) || a == 8;
}

// PR_SET_SECCOMP, PR_SET_SYSCALL_USER_DISPATCH: system calls that the program does not expect may end it.
inline Doom by_prctl(uint32_t option) {
  return option == 22 || option == 59 ? Doom{.kind = Doom::kFilter} : Doom{};
}

}  // namespace doomed

inline Doom doomed_by(uint32_t number, const uint64_t* args) {
  constexpr uint64_t kShmRemap = 040000, kShmExec = 0100000;
  constexpr uint32_t kX32 = 0x4000'0000;  // the same calls
  switch (number & ~kX32) {
    case kMmap:
      return doomed::by_mmap(args);
    case kMprotect:
      return doomed::by_mprotect(args, false);
    case kPkeyMprotect:
      return doomed::by_mprotect(args, true);
    case kMunmap:
      return doomed::by_munmap(args);
    case kBrk:
      return args[0] == 0 ? Doom{} : Doom{.kind = Doom::kHeap, .begin = args[0] & ~(doomed::kPage - 1)};
    case kMremap:
      return doomed::by_mremap(args);
    case kMadvise:
      return doomed::is_harmless(args[2]) ? Doom{} : doomed::memory(args[0], args[1]);
    case kProcessMadvise:  // of any process, maybe this one, at places listed elsewhere
      return doomed::is_harmless(args[3]) ? Doom{} : doomed::memory(0, UINT64_MAX);
    case kShmat:
      if ((args[2] & kShmExec) != 0) return {.kind = Doom::kAll};
      return (args[2] & kShmRemap) != 0 ? doomed::memory(args[1], UINT64_MAX) : Doom{};
    case kUserfaultfd:
      return {.kind = Doom::kAll};
    case kSeccomp:
      return {.kind = Doom::kFilter};
    case kPrctl:
      return doomed::by_prctl(static_cast<uint32_t>(args[0]));
    default:
      return {};
  }
}

// To be called before a system call is made. True: end_unmap() must follow after it.
inline bool begin_call(uint8_t* control, uint32_t number, const uint64_t* args) {
  const Doom doom = doomed_by(number, args);
  if (doom.kind == Doom::kNothing) return false;
  if (doom.kind == Doom::kAll || doom.kind == Doom::kFilter) {
    close_ranges(control);
    if (doom.kind == Doom::kFilter) forbid_own_calls(control);
    return false;
  }
  const Unmapping unmapping = announce_unmap(control);
  if (unmapping.table == nullptr) return false;
  const Taken taken = {doom.begin, doom.kind == Doom::kHeap ? unmapping.table->heap_end : doom.end,
                       doom.other_begin, doom.other_end};
  if (number == kMunmap) forget_readers(*unmapping.ranges, taken.begin, taken.end);
  leave(control, unmapping, taken);
  return true;
}

}  // namespace blip::ring
