// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/addr.h"

namespace blip::dwarf {

// Selects inlined functions by name.
struct InlinedName {
  std::string identifier;  // the last part of the name without template arguments, or all of a mangled one;
                           // empty: every function
  std::function<bool(std::string_view)> fits;  // asked with mangled and with whole names
};

struct InlinedInstance {
  FileAddr pc;           // its first instruction
  uint64_t size = 0;     // of all its code
  std::string function;  // the one that was inlined
  std::string caller;    // whose code it became
  uint64_t key = 0;      // for scope_of
};

}  // namespace blip::dwarf
