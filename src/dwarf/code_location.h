// SPDX-License-Identifier: MIT
// What is known of the place whose variables are asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/addr.h"

namespace blip::dwarf {

// The place where a module's code finds a variable that other modules may define too.
struct BoundVariable {
  FileAddr place;  // of the variable, or of a word that holds its address
  bool is_address = false;
};

class DebugInfo;

// A module whose code may call a function of another one, by a word that the loader fills in.
struct CallingModule {
  DebugInfo* info = nullptr;  // must outlive what is made with it
  uint64_t load_bias = 0;
  FileAddr slot;
};

// A place that a probe stands at.
struct CodeLocation {
  FileAddr pc;
  bool is_entry = false;  // the function's first instruction: arguments are where its caller has put them
  bool begins_inlined = false;  // the first instruction of the inlined function that is meant
  uint64_t load_bias = 0;
  // The distance from the beginning of the module's block of thread-local variables up to the thread pointer;
  // nullopt if unknown.
  std::optional<uint64_t> tls_offset;
  // By the name of the symbol; none: the variable is where the module itself has it. May be empty.
  std::function<std::optional<BoundVariable>(const std::string& symbol)> bound = {};
  // Returns the modules that may call the function at this address through words that the loader fills in.
  // May be empty.
  std::function<std::vector<CallingModule>(FileAddr function)> callers = {};
};

}  // namespace blip::dwarf
