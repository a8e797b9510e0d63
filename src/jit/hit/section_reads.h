// SPDX-License-Identifier: MIT
// Code that reads memory, twice where that helps: in a section of its own, where the table of valid ranges
// can be used, and as calls of the runtime, for what the table does not have.
#pragma once

#include <functional>
#include <optional>

#include "jit/hit/hit_code.h"

namespace blip::jit {

class SectionReads {
 public:
  // Emits the code of the section, which falls through at its end.
  using Body = std::function<void(HitCode&)>;

  // Without `by_ranges` there are only the calls.
  SectionReads(const Emission& emission, bool by_ranges);

  bool by_ranges() const { return section_.has_value(); }
  void hot(const Body& body);
  void cold(const Body& body);
  // In the cold part, before cold(): leaves the section of the hot one.
  void abandon() { section_->abandon(); }

 private:
  asmjit::x86::Assembler& a_;
  Emission emission_;
  TextPool texts_;
  RangeReads ranges_;
  std::optional<Section> section_;
  asmjit::Label again_, done_, slow_, slow_inside_;
};

}  // namespace blip::jit
