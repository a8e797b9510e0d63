// SPDX-License-Identifier: MIT
// Where variables are at a site.
#pragma once

#include <vector>

#include "dwarf/debug_info.h"
#include "dwarf/frames.h"
#include "dwarf/module.h"
#include "dwarf/units/code_scopes.h"
#include "script/types/scope.h"

namespace blip::dwarf {

// Whether an attribute is a list of locations, and not one for the whole scope.
bool is_list(Dwarf_Attribute location);

struct Located {
  script::Place place;
  bool is_told = false;   // there is a location, even if not here
  bool is_unset = false;  // it is told for what comes behind the prologue
  // Of an argument that is a structure: what the location shows about the way it was passed.
  enum class Passed : uint8_t { kNotShown, kAsValue, kAsPointer } passed = Passed::kNotShown;
};

// What expressions may ask for at a site; without a function: what needs no frame.
class VariablePlaces {
 public:
  // `callers`: what they know of the frame; may be null, and must outlive this.
  VariablePlaces(const Site& site, FrameRules frame, EntryValues* callers = nullptr);

  // `just_begins`: a parameter of the inlined function that begins at the site, and may change it there.
  Located locate(const Dwarf_Die& variable, uint64_t size, bool just_begins = false) const;
  // The same, where a place that is not set yet is none.
  script::Place place(const Dwarf_Die& variable, uint64_t size, bool just_begins = false) const;
  // What an expression leaves, such as the bound of an array; none: not known here.
  std::optional<script::Code> value(Dwarf_Attribute expression) const;
  bool base_is_register() const { return frame_.base_is_register(); }

 private:
  ExpressionSurroundings surroundings() const;
  Located by_location(Dwarf_Attribute location, uint64_t size, bool just_begins) const;

  Site site_;
  FrameRules frame_;
  EntryValues* callers_;
};

// The parameters at the first instruction of `function`: as the caller has put them.
std::vector<script::Place> entry_places(Module& module, const VariablePlaces& places,
                                        const Dwarf_Die& function, const std::vector<Dwarf_Die>& parameters);

// What `function` returns by the convention, at its return.
script::Place conventional_result(Module& module, const Dwarf_Die& function);
// Whether the compiler may have left that out, without a word: result_uses.h.
bool may_lose_result(Module& module, const Dwarf_Die& function);
// What `function` returns, at its return, as far as it is certain.
script::Place returned_place(Module& module, const Dwarf_Die& function);

}  // namespace blip::dwarf
