// SPDX-License-Identifier: MIT
// Finds where variables are at a site.
#pragma once

#include <vector>

#include "dwarf/code_location.h"
#include "dwarf/debug_data.h"
#include "dwarf/frames.h"
#include "dwarf/units/code_scopes.h"
#include "script/types/scope.h"

namespace blip::dwarf {

// True if the attribute is a list of locations, and not one location for the whole scope.
bool is_list(Dwarf_Attribute location);

struct Located {
  script::Place place;
  bool is_told = false;   // there is a location, even if not here
  bool is_unset = false;  // it is told for what comes behind the prologue
  // For a structure that is an argument: how it was passed, as far as the location shows it.
  enum class Passed : uint8_t { kNotShown, kAsValue, kAsPointer } passed = Passed::kNotShown;
};

// Answers what expressions may ask at a site. Without a function it answers only what needs no frame.
class VariablePlaces {
 public:
  // `callers`: what they know of the frame; may be null, and must outlive this.
  VariablePlaces(const CodeLocation& site, FrameRules frame, EntryValues* callers = nullptr);

  // `just_begins`: a parameter of the inlined function that begins at the site, and may change it there.
  Located locate(const Dwarf_Die& variable, uint64_t size, bool just_begins = false) const;
  // The same, where a place that is not set yet is none.
  script::Place place(const Dwarf_Die& variable, uint64_t size, bool just_begins = false) const;
  // The value that an expression leaves, such as the bound of an array; nullopt if it is unknown here.
  std::optional<script::Code> value(Dwarf_Attribute expression) const;
  bool base_is_register() const { return frame_.base_is_register(); }

 private:
  ExpressionSurroundings surroundings() const;
  Located by_location(Dwarf_Attribute location, uint64_t size, bool just_begins) const;

  CodeLocation site_;
  FrameRules frame_;
  EntryValues* callers_;
};

// The parameters at the first instruction of `function`: as the caller has put them.
std::vector<script::Place> entry_places(DebugData& debug_data, const VariablePlaces& places,
                                        const Dwarf_Die& function, const std::vector<Dwarf_Die>& parameters);

// The place, by the convention and at its return, of what `function` returns.
script::Place conventional_result(DebugData& debug_data, const Dwarf_Die& function);
// True if the compiler may have left out the result without saying so: result_uses.h.
bool may_lose_result(DebugData& debug_data, const Dwarf_Die& function);
// The place of what `function` returns, at its return, as far as it is certain.
script::Place returned_place(DebugData& debug_data, const Dwarf_Die& function);

}  // namespace blip::dwarf
