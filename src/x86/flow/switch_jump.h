// SPDX-License-Identifier: MIT
// Which table an indirect jump takes its target from, as compilers write a switch, a computed goto or a call
// of an array's element:
//
//   lea table(%rip), %rdx             lea table(%rip), %rdx          jmp *table(,%rax,8)
//   movslq (%rdx,%rax,4), %rax        jmp *(%rdx,%rax,8)
//   add %rdx, %rax
//   jmp *%rax
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/addr.h"
#include "x86/flow/stack_depth.h"

namespace blip::x86 {

struct JumpSource {
  enum class Kind : uint8_t {
    kUnknown,    // a register that comes from elsewhere, or memory that a register points at
    kFixed,      // jmp *slot(%rip): always the same place
    kDistances,  // 32-bit distances from the table's start
    kPointers,   // 64-bit addresses
    kLabel,      // computed from a label: tables[0]
  };
  Kind kind = Kind::kUnknown;
  std::vector<TargetAddr> tables;  // those it may be; none: not found
  bool notrack = false;            // compilers put this prefix before the jump of a switch
};

// A number in the instruction that may be an absolute address: mov $label, %eax.
std::optional<TargetAddr> immediate_address(const FlowInsn& insn);

// The source of the indirect jump at this index.
JumpSource jump_source(const FunctionCode& code, size_t jump);

}  // namespace blip::x86
