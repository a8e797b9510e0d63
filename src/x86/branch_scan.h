// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/addr.h"

namespace blip::x86 {

// A direct branch: where its opcode is, and where it leads.
struct Branch {
  TargetAddr opcode;
  TargetAddr target;
};

// Asked about everything that may be a branch, from several threads at once.
using BranchFilter = std::function<bool(const Branch&)>;

// Both scans find every direct branch of `text` (at `base`) that the filter wants. They look at every byte
// offset, so no branch is missed whatever the layout of the text. A place that only looks like a branch is
// dismissed if linear decoding from the nearest known function start (sorted; each the beginning of an
// instruction) comes to the place and finds another instruction there. Without such a start within 64 KiB, or
// with undecodable bytes between, it counts as real.

// call, jmp, jcc, xbegin with rel32. About 1 ns per byte of text. `after_piece` is called after each megabyte,
// from several threads at once.
std::vector<Branch> near_branches(std::span<const uint8_t> text, TargetAddr base,
                                  std::span<const TargetAddr> starts, const BranchFilter& wanted,
                                  const std::function<void()>& after_piece = {});

// jmp, jcc, loop, jrcxz with rel8, whose opcodes lie in `where`.
std::vector<Branch> short_branches(std::span<const uint8_t> text, TargetAddr base,
                                   std::span<const TargetAddr> starts, AddrRange where,
                                   const BranchFilter& wanted);

}  // namespace blip::x86
