// SPDX-License-Identifier: MIT
// Tells what the machine code of a script::HitProgram will need, before any of it is made.
#pragma once

#include <vector>

#include "base/result.h"
#include "jit/program/environment.h"

namespace blip::jit {

// Facts about a node, with all it is made of.
struct NodeFacts {
  bool is_simple = false;  // a value that lies somewhere: can be put into any register, all others stay
  bool is_light = false;   // needs no register but rax
  bool is_near = false;    // an address that is likely to be on the stack: sums of rsp, rbp and constants
  bool may_fault = false;
  bool reads_far = false;    // memory that may not be there
  bool needs_calls = false;  // of the runtime, whatever is known of memory
  bool compares_text = false;
  uint32_t words = 0;      // of the stack, for values in between
  uint64_t code_size = 0;  // bytes at most
};
std::vector<NodeFacts> facts_of(const script::Code& code);

struct HitNeeds {
  uint16_t registers = 0;  // bit n: it changes general register n
  uint32_t words = 0;
  uint64_t code_size = 0;
  bool reads_far = false;
  bool calls = false;
};
// The needs of the condition, wherever it is looked at; nothing if there is none.
HitNeeds condition_needs(const script::HitProgram& hit);
// The needs of the outputs, on top of those of a record: rax, rcx and rdx.
HitNeeds output_needs(const script::HitProgram& hit);

// True if it looks at memory that may not be there.
bool reads_far(const script::HitProgram& hit);
bool mentions(const script::HitProgram& hit, script::Op op);
// True if it collects values whose parts lie in many places.
bool collects(const script::HitProgram& hit);
// True if it may need the kernel's help to read memory, or to find the thread pointer.
bool asks_kernel(const script::HitProgram& hit);
// The latency, in units of the clock, has taken the place of the time of entry when the action begins.
bool has_latency_in_frame(const Action& action);
// True if all outputs can be written in a restartable sequence: they need no calls, and only memory of which
// pads know that it is there.
bool outputs_fit_section(const Action& action, const ProcessEnvironment& env);
// True if they, or the condition, read by the table of valid ranges (docs/design/safe_reads.md).
bool outputs_use_ranges(const Action& action, const ProcessEnvironment& env);
bool condition_uses_ranges(const Action& action, const ProcessEnvironment& env);
// Words of the stack for it, behind those of the action: see RangeReads.
inline constexpr uint32_t kRangeWords = 2;
bool has_dynamic_outputs(const script::HitProgram& hit);

// Checks that the values of a call's entry that it keeps or looks at are kept.
Status check_kept(const Action& action, const ProcessEnvironment& env);
// Checks that there is machine code for it. The program was verified (script/ir/verify.h).
Status check_hit(const Action& action, const ProcessEnvironment& env);

inline constexpr uint32_t kMaxHitWords =
    4;  // and one to count tries: 512 bytes of stack are enough for any pad
inline constexpr size_t kMaxInlineText = 64;  // compared in a section
inline constexpr uint64_t kMaxHitCode = 32768;

}  // namespace blip::jit
