// SPDX-License-Identifier: MIT
// From what a user writes to single instructions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "elf/spec.h"
#include "probe/code/module.h"
#include "probe/code/resolve.h"
#include "probe/code/site.h"

namespace blip::probe {

struct FoundPoint {
  size_t module = 0;  // index into the modules
  Point point;
  std::string name;  // SYMBOL+0xOFF, or SYMBOL if the user wrote no offset
};

// The one instruction that a SPEC means: SYMBOL, SYMBOL+OFFSET, an address of the process, FILE+OFFSET.
// Errors say what is there instead: data, a PLT, the vDSO, nothing, the middle of an instruction, several
// functions.
Result<FoundPoint> find_instruction(const elf::Spec& spec, std::span<const Module> modules,
                                    const ResolveContext& context);

// The instruction at an address of the file's own. The error is the part of a sentence behind the address.
// `starts`: of somebody who asks many times.
Result<Point> point_at(const Module& module, FileAddr address, InstructionStarts* starts = nullptr);

}  // namespace blip::probe
