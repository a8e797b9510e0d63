// SPDX-License-Identifier: MIT
// Reasons against probing a function as a whole.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "elf/rseq_sections.h"
#include "probe/code/module.h"
#include "probe/code/site.h"

namespace blip::probe {

class FunctionRules {
 public:
  // For these points. The whole code is looked at of functions that are to be probed elsewhere than at their
  // entries.
  FunctionRules(const Module& module, std::span<const Point> points);

  // Why no point of its function, or none but its entry, can be probed; empty: some can.
  std::string refusal_of(const Point& point) const;
  // True if a pad might not find room on the stack, unless the function has made sure of it.
  bool runs_on_little_stack(const elf::Function& f) const;

 private:
  bool holds_rseq_section(const elf::Function& f) const;
  bool may_lack_a_stack(const elf::Function& f) const;

  const Module& module_;
  bool is_go_;
  std::vector<elf::RseqSection> rseq_sections_;
  std::vector<FileAddr> without_stack_;  // functions that calculate with rsp, sorted
};

}  // namespace blip::probe
