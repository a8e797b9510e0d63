// SPDX-License-Identifier: MIT
// Where control leaves a function for good: what return probes are put on. See docs/design/returns.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "elf/symbols.h"
#include "probe/code/module.h"

namespace blip::probe {

enum class ExitKind : uint8_t {
  kReturn,    // ret, of any form: rsp is what it was at the entry, rax holds the result
  kTailJump,  // to another function, which returns in its place: rsp as at the entry, no result yet
};

// At each exit rsp is what it was at the entry: it points at the return address.
struct Exit {
  FileAddr at;
  ExitKind kind = ExitKind::kReturn;
  bool conditional = false;  // a jcc: it leaves only when it is taken
  bool to_itself = false;    // a tail jump to the function's own entry, which is entered again
  elf::Function holder;      // the code that holds it: the function, or a part of it that lies elsewhere
};

struct FunctionExits {
  std::vector<Exit> exits;  // sorted by address, each once
  std::string incomplete;   // why there may be others; empty: these are all

  bool complete() const { return incomplete.empty(); }
  bool never_returns() const { return complete() && exits.empty(); }
};

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
