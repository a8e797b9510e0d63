// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "base/addr.h"
#include "probe/code/module.h"
#include "probe/code/module_code.h"
#include "x86/flow/call_numbers.h"

namespace blip::probe {

// Lists the places where code comes into the middle of some functions from elsewhere: cases of switches,
// landing pads, addresses in data, aborts of restartable sequences, other functions that begin there, and
// direct branches of other functions, as those of a cold part back to the hot one.
class FunctionEntries {
 public:
  // `functions`: sorted run-time ranges.
  FunctionEntries(const Module& module, const FunctionRanges& ranges, std::span<const AddrRange> functions);

  // Sorted, without the function's beginning.
  x86::OutsideEntries of(AddrRange function) const;

 private:
  void add_branches(const Module& module, const FunctionRanges& ranges, std::span<const AddrRange> functions);

  std::vector<TargetAddr> certain_, guessed_;
};

}  // namespace blip::probe
