// SPDX-License-Identifier: MIT
// The scopes of source code that an instruction is in, and what they declare.
#pragma once

#include <optional>
#include <vector>

#include "base/addr.h"
#include "dwarf/units/die.h"

namespace blip::dwarf {

struct CodeScopes {
  Dwarf_Die function;            // whose frame it is
  std::vector<Dwarf_Die> outer;  // what is around the owner, outermost first: of an inlined one its callers
  // The inlined function, or the function itself, then the blocks in it; never empty.
  std::vector<Dwarf_Die> own;

  const Dwarf_Die& owner() const { return own.front(); }
};

struct ScopeChoice {
  bool into_inlined = true;
  const void* instance = nullptr;  // this inlined function, and none in it
};

CodeScopes code_scopes(const Dwarf_Die& function, FileAddr pc, const ScopeChoice& choice);

// Parameters or variables of one scope, in the order of the source. Those that are left of an abstract entry
// only come as it: nothing became of them here.
enum class Declared { kParameters, kVariables };
std::vector<Dwarf_Die> declared_in(const Dwarf_Die& scope, Declared what);

}  // namespace blip::dwarf
