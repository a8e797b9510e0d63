// SPDX-License-Identifier: MIT
// Finds how deep the stack is at each instruction of a function, following its flow of control.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/addr.h"
#include "x86/decode.h"
#include "x86/flow/stack_effect.h"

namespace blip::x86 {

// The depth that an unwind table gives at an instruction. It helps where the code itself does not show it.
struct StackHint {
  enum class Base : uint8_t { kNone, kFromRsp, kFromRbp, kOther };
  Base base = Base::kNone;
  int32_t depth = 0;  // of the register: rsp at the entry minus it

  bool operator==(const StackHint&) const = default;
};

struct FlowInsn {
  Insn insn;
  std::span<const uint8_t> bytes;
  StackEffect effect;
  StackHint hint;
};

// The code of a function, which may lie in several places.
struct FunctionCode {
  std::vector<FlowInsn> insns;           // sorted by address
  std::vector<TargetAddr> labels;        // where its jumps through tables may lead, sorted
  std::vector<TargetAddr> landing_pads;  // where exceptions enter it

  // The instruction that begins there.
  std::optional<size_t> index_of(TargetAddr a) const;
};

struct StackDepth {
  bool reached = false;
  bool known = false;
  int32_t bytes = 0;  // rsp at the entry minus rsp

  bool is(int32_t n) const { return known && bytes == n; }
};

// A system call that does not come back: mov $exit, %eax; syscall.
bool ends_the_thread(const FunctionCode& code, size_t insn);

// Says whether the indirect jump at this index, at which the stack has this depth, stays in the function.
using StaysInside = std::function<bool(size_t, const StackDepth&)>;

// The depth before each instruction. Behind a call nothing is reached if the unwind table describes another
// frame there: the called function does not return.
std::vector<StackDepth> stack_depths(const FunctionCode& code, TargetAddr start, const StaysInside& inside);

}  // namespace blip::x86
