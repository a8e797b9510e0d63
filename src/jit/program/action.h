// SPDX-License-Identifier: MIT
// An action says what one event wants a pad to do at a hit. A pad has an ordered list of them for each place:
// those of one event, of several events, or of blip itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "script/ir/ir.h"

namespace blip::jit {

enum class Capture : uint8_t {
  kRegister,       // a general-purpose register, 8 bytes; reg 0..15 in encoding order, rsp as before the pad
  kFlags,          // rflags, 8 bytes
  kConstant,       // `value`, 8 bytes: ip, probe index
  kTid,            // 4 bytes
  kCpu,            // 4 bytes
  kThreadKey,      // 16 bytes reserved, the tid in the first 4: the consumer puts the thread's name there
  kShortConstant,  // `value`, 1 byte
  kLatency,        // of a return: 8 bytes, units of the record's clock since the entry
  kDepth,          // of a return: 2 bytes, how many probed calls of the thread it was in
  kStack,          // 4 bytes: the id of the stack (abi/unwind.h)
  kHitWord,        // `value`, 8 bytes, where nothing is computed at a hit but the record has a hit word
  kNone,           // room for what blip puts in
};

struct Field {
  Capture capture;
  uint8_t reg = 0;
  uint16_t offset = 0;  // in the record
  uint64_t value = 0;
  bool is_result = false;  // what the function returns, which it has not if it is left by a tail jump
};

enum class Effect {
  kRecord,
  kCount,
  kLatency,  // of a return: adds how long the call took to the function's histogram
  kEnter,    // remembers the call, for the actions at its function's exits
  // Only blip itself uses this: the loader has changed the list of libraries; waits until blip has looked.
  kTellLibraries,
};

struct Action {
  Effect effect = Effect::kRecord;
  uint32_t channel = 0;                // where its hits go: of Environment::channels
  uint32_t class_id = 0;               // of the channel; of a record 16 bits
  uint32_t switch_index = UINT32_MAX;  // of the byte that turns it off; UINT32_MAX: none
  uint32_t record_size = 8;            // multiple of 8, header included
  std::vector<Field> fields;
  // The values that are computed at a hit. If it has outputs, the record has a hit word (abi/layout.h),
  // `record_size` is the most it may have, and its bytes of changing length begin at `fixed_size`.
  script::HitProgram hit;
  std::vector<uint16_t> output_offsets;  // by output: of the value in the record; if dynamic, of its length
  uint32_t fixed_size = 0;
  // At an exit of a function: only for a call whose entry was seen, which is over then.
  bool is_return = false;
  bool is_tail = false;         // the exit is a jump to another function
  bool is_conditional = false;  // the exit is a conditional jump: it is one if it jumps
  uint64_t stack_at = 0;  // where the hit is, as blip_backtrace wants to know it; 0: nobody asks for stacks
  uint32_t kept = 0;      // of returns: how many values the entry has kept; of kEnter its outputs are these
  uint32_t frame_id = 0;  // of kEnter and returns: the same for all of one function, the class it counts for
  // For kEnter and returns: those with the same number at one place are of the same call, which is
  // remembered, found and left once for all of them. Their kEnter keep the same values, and have the same
  // frame_id.
  static constexpr size_t kOwnCall = SIZE_MAX;
  size_t call = kOwnCall;
  std::vector<uint32_t> more_switches{};  // of kEnter: it is off only if all are
  bool latency_in_frame = false;          // of returns: taken before all actions of the call
};

// Sets of general registers: bit n is register n.
constexpr uint16_t reg_bit(uint32_t reg) { return static_cast<uint16_t>(1 << reg); }

// The parts of the code's state that actions look at.
struct Recorded {
  uint16_t registers = 0;  // bit n: general register n
  bool flags = false;

  Recorded& operator|=(const Recorded& other) {
    registers |= other.registers;
    flags |= other.flags;
    return *this;
  }
};

inline Recorded recorded_by(const Action& action) {
  Recorded r;
  for (const Field& f : action.fields) {
    if (f.capture == Capture::kRegister) r.registers |= static_cast<uint16_t>(1 << f.reg);
    r.flags |= f.capture == Capture::kFlags;
  }
  for (const script::Node& n : action.hit.code.nodes) {
    if (n.op == script::Op::kRegister) r.registers |= static_cast<uint16_t>(1 << n.value);
    if (n.op == script::Op::kResult) r.registers |= 1;  // rax
    r.flags |= n.op == script::Op::kFlags;
  }
  return r;
}

}  // namespace blip::jit
