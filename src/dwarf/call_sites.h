// SPDX-License-Identifier: MIT
// Debugging information describes calls (DWARF 5, 3.4; before that as GNU extensions): it gives the values
// that a call passes in terms of what the caller keeps.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "base/addr.h"
#include "dwarf/units/call_index.h"
#include "dwarf/units/die.h"
#include "dwarf/units/unit_index.h"

namespace blip::dwarf {

class DebugData;

struct CallSite {
  Dwarf_Die die;
  Dwarf_Die function;  // the caller, in whose frame its values are
};

// Names one value at the entry of a function: a register, in DWARF's numbers, or a parameter for which the
// function has no place.
struct EntryOperand {
  std::optional<unsigned> in_register;
  std::optional<Dwarf_Die> parameter;
};

// The value that the call passes, an expression.
std::optional<Dwarf_Attribute> passed_value(const CallSite& site, const EntryOperand& what);

// The call sites of one module.
class CallSites {
 public:
  explicit CallSites(DebugData& debug_data) : debug_data_(debug_data) {}

  const CallIndex& index();
  // The call that returns to this address, unless it is known only that there is one.
  std::optional<CallSite> returning_to(FileAddr pc);
  // The function that has the call; of one whose compiler tells no calls (rustc), any that has the code.
  std::optional<Dwarf_Die> caller_at(FileAddr pc);
  // True if the function may jump to itself at its end, directly or by way of others. The call that its
  // frame's return address names need not be the one that passed its arguments then.
  bool may_become_itself(const Dwarf_Die& function);

 private:
  struct Sites {
    std::unordered_map<uint64_t, Dwarf_Die> calls;  // by where they return to
    std::vector<std::optional<FileAddr>> jumps;     // to other functions; none: it is not known where to
  };
  const Sites& of(const Dwarf_Die& function);
  void walk(const Dwarf_Die& parent, Sites& sites, Budget& budget, int depth);
  void add(const Dwarf_Die& call, Sites& sites);
  std::optional<Dwarf_Die> function_around(FileAddr pc);
  bool search_itself(const Dwarf_Die& function);

  DebugData& debug_data_;
  std::optional<CallIndex> index_;
  std::unordered_map<const void*, Sites> known_;  // by the function's entry
  std::unordered_map<const void*, bool> itself_;
};

}  // namespace blip::dwarf
