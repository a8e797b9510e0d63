// SPDX-License-Identifier: MIT
#pragma once

#include "jit/assembler.h"
#include "jit/filter.h"

namespace blip::jit {

// Where the values of a call are, with rsi = its abi::ShadowFrame.
struct FilterPlaces {
  int32_t result = -1;  // offset from rsp; -1: there is none, it counts as 0
  bool is_tail = false;
};

inline constexpr uint64_t kMaxFilterNode = 48;  // bytes of code for a node
inline constexpr uint64_t kMaxFilterClock = 48;

// Goes to `fails` if the call does not pass. If the filter looks at the latency, which is in units of the TSC
// then, it takes the time and leaves the latency in the frame instead of the time of entry. Clobbers rax,
// rdx.
void emit_filter(asmjit::x86::Assembler& a, const Filter& filter, const FilterPlaces& places,
                 asmjit::Label fails);

}  // namespace blip::jit
