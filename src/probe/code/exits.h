// SPDX-License-Identifier: MIT
// Where control leaves a function for good: what return probes are put on. See docs/design/returns.md.
#pragma once

#include <memory>

#include "elf/symbols.h"
#include "probe/code/function_exits.h"
#include "probe/code/module.h"

namespace blip::probe {

// Finds exits in one module, which must outlive it. What costs time is done on first use and kept. For any
// number of threads.
class ExitFinder {
 public:
  explicit ExitFinder(const Module& module);
  ~ExitFinder();

  // Exits of parts that lie elsewhere (NAME.cold) and of code shared with other functions are exits of the
  // function too: an exit may be one of several functions.
  FunctionExits exits_of(const elf::Function& function) const;

  // What a stripped file shows as a function is a part of one, or nothing that is called: the way back from
  // signal handlers.
  bool is_no_function(const elf::Function& function) const;

 private:
  struct Knowledge;
  std::unique_ptr<Knowledge> knowledge_;
};

}  // namespace blip::probe
