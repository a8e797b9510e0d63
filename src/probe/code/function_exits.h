// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elf/symbols.h"

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

}  // namespace blip::probe
