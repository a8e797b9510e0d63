// SPDX-License-Identifier: MIT
// A walk up the stack needs this in the target: tables that blip made of .eh_frame, and the table of the
// stacks seen. Offsets count from the UnwindHeader, which lies first. See docs/design/backtraces.md.
#pragma once

#include <cstdint>

namespace blip::abi {

// ---- unwind tables: only read by the target

// How a frame leads to its caller's. CFA: what rsp is once the function has returned.
struct UnwindRule {
  enum Base : uint8_t {
    kUnknown,      // nothing is told about the code
    kUnsupported,  // what is told needs registers that are not followed
    kOutermost,    // nobody called it
    kRsp,          // CFA = rsp + cfa_offset
    kRbp,          // CFA = rbp + cfa_offset
    kPlt,          // CFA = rsp + cfa_offset, and 8 more from byte cfa_add of a PLT entry on
    kPads,         // blip's own code, which is in no frame that can be told
  };
  enum Saved : uint8_t {  // where the caller's rbp is
    kInRegister,
    kAtCfa,  // at CFA + rbp_offset
    kAtRbp,  // at rbp + rbp_offset
    kAtRsp,
    kLost,
  };
  enum Flags : uint8_t {
    kDeref = 1,   // the CFA is what is there, + cfa_add
    kSignal = 2,  // the way back from a signal handler: rip is at rsp + rip_offset, and is no return address
  };
  int32_t cfa_offset = 0;
  int32_t rbp_offset = 0;
  int16_t cfa_add = 0;
  int16_t rip_offset = 0;
  uint8_t base = kUnknown;
  uint8_t rbp = kInRegister;
  uint8_t flags = 0;
  uint8_t unused = 0;

  bool operator==(const UnwindRule&) const = default;
};
static_assert(sizeof(UnwindRule) == 16);

// One executable segment of a loaded file. Its code is cut into blocks. A row is the low 16 bits of an
// address in the segment, and above them the number of the rule that holds from there on. The index has, for
// each block and for the end, the number of the row that holds at its first byte.
struct UnwindModule {
  uint64_t begin, end;  // addresses in the target
  uint32_t index_offset;
  uint32_t rows_offset;
};
static_assert(sizeof(UnwindModule) == 24);
inline constexpr unsigned kUnwindBlockShift = 9;
inline constexpr uint32_t kUnwindBlock = 1u << kUnwindBlockShift;
inline constexpr unsigned kUnwindRuleShift = 16;
// All modules share them: most frames are like others.
inline constexpr uint32_t kMaxUnwindRules = 1u << 14;

struct UnwindList {
  uint32_t count;
  uint32_t generation;  // another one in each list
  // UnwindModule[count], sorted, not overlapping
};

// Lists and tables are written once and stay; a change of the modules is another list.
struct UnwindHeader {
  uint64_t size;             // of all
  uint32_t list_offset;      // of the list that is good now; stored by blip whenever it likes
  uint32_t may_call_kernel;  // 1: words may be read by process_vm_readv
  uint64_t stacks_addr;      // of the StackTable, in the target
  uint64_t safe_load_addr;   // of a SafeLoad, in the target; 0: there is none
  uint64_t cache_addr;       // of a RuleCache, in the target; 0: there is none
  uint64_t control_addr;     // of the data region, above the gate page; 0: there is none
  // UnwindRule[kMaxUnwindRules]
};
static_assert(sizeof(UnwindHeader) == 48);

// A cache of the latest lookups of all threads, because the same return addresses come again and again. An
// entry has the number of the rule in its low 16 bits, then 13 bits of the list's generation, then the bits
// of the address from the 12th on. Memory that the target writes.
inline constexpr uint32_t kCachedRules = 4096;
struct RuleCache {
  uint64_t entries[kCachedRules];
};
constexpr uint32_t cached_rule_index(uint64_t address) {
  return static_cast<uint32_t>(address ^ address >> 12) & (kCachedRules - 1);
}
constexpr uint64_t cached_rule_key(uint64_t address, uint32_t generation) {
  return address >> 12 << 29 | uint64_t{generation & 0x1fff} << 16;
}

// Loads a word if it is known to be readable without asking the kernel. Called like a C function, but the
// stack may be aligned to 8 bytes only, and vector registers are not to be changed.
struct SafeWord {
  uint64_t word;
  uint64_t is_there;  // 0: it is not known to be
};
using SafeLoad = SafeWord (*)(uint64_t address);

// How a pad says where its hit is: the address of the instruction, and this bit if it is the first one of a
// function, so that the return address is at [rsp].
inline constexpr uint64_t kHitAtEntry = uint64_t{1} << 63;

// ---- stacks

// Why a walk ended.
enum class UnwindEnd : uint8_t {
  kOutermost,    // nobody called the last frame: the stack is whole
  kDepth,        // as deep as was asked for
  kNoModule,     // the last address is in no file that has a table
  kNoRule,       // its file tells nothing about it
  kUnsupported,  // what it tells needs other registers
  kUnreadable,   // the next word is not on the stack
  kNotGrowing,   // the next frame would lie below
  kPads,         // the last address is in blip's own code: a signal came in the middle of a probe
};
inline constexpr uint32_t kUnwindEnds = 8;

inline constexpr uint32_t kMaxStackDepth = 128;

// A frame is the address of the hit, then return addresses. This bit marks what is none of either: where a
// signal came.
inline constexpr uint64_t kInterrupted = uint64_t{1} << 63;

// A stack is known by the slot that it has, which is its id. `hash` is claimed first; `place` is stored when
// the frames are where it says. No slot is ever freed or changed.
struct StackSlot {
  uint64_t hash;   // 0: free
  uint64_t place;  // see make_stack_place; 0: not yet
};
static_assert(sizeof(StackSlot) == 16);

// In front of the slots, which the frames follow: uint64_t frames[frame_capacity].
struct StackTable {
  uint32_t slot_mask;       // number of slots - 1
  uint32_t frame_capacity;  // of all stacks together
  uint32_t depth;           // the most frames of one stack
  uint32_t unused;
  uint64_t next_frame;  // above the capacity: full
  uint64_t refused;     // hits whose stack found no place
  uint8_t pad[32];
};
static_assert(sizeof(StackTable) == 64);

// The id of a hit whose stack found no place.
inline constexpr uint32_t kNoStack = UINT32_MAX;
// How many slots a stack may be in, beginning with the one that its hash says.
inline constexpr uint32_t kStackWays = 16;

constexpr uint64_t make_stack_place(uint64_t first, uint32_t count, UnwindEnd end) {
  return uint64_t{1} << 63 | uint64_t{static_cast<uint8_t>(end)} << 48 | uint64_t{count} << 32 | first;
}
constexpr uint32_t stack_first(uint64_t place) { return static_cast<uint32_t>(place); }
constexpr uint32_t stack_count(uint64_t place) { return static_cast<uint32_t>(place >> 32) & 0xffff; }
constexpr uint32_t stack_end(uint64_t place) { return static_cast<uint32_t>(place >> 48) & 0xff; }
constexpr uint64_t stack_table_size(uint32_t slots, uint32_t frames) {
  return sizeof(StackTable) + uint64_t{slots} * sizeof(StackSlot) + uint64_t{frames} * 8;
}

}  // namespace blip::abi
