// SPDX-License-Identifier: MIT
// Splits a handler into what the pad does at the hit and what blip does later with the record of it.
//
//     at hit:   b0: v0 = register 7          target:  condition  2 < register 7
//                   v1 = less 2 v0                    outputs    load 4 register 7
//                   branch v1 b1 b2
//               b1: v0 = register 7          rest:    b0: jump b1
//                   v1 = load 4 v0                    b1: v1 = captured 0
//                   tally 0 () v1                         tally 0 () v1
//               b2: return                            b2: return
#pragma once

#include "base/result.h"
#include "script/blocks/blocks.h"

namespace blip::script {

struct Split {
  // A hit at which the condition does not hold needs no record: the handler does nothing then. The outputs are the captured
  // values of `rest`, in order.
  HitProgram target;
  Function rest;  // at blip, with the same blocks
};

inline constexpr uint32_t kMaxCapturedBytes = 2048;  // of the outputs of one hit

// The handler is one `at hit` of a verified program. kUnsupported: it reads the target by what only blip knows, or captures too
// much; the message says where.
Result<Split> split(const Program& program, const Function& handler);

}  // namespace blip::script
